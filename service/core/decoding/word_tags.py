"""What `constrained` needs of a document's logits: its words' tags, and the probabilities of those in entities.

Where the words' best labels are a valid path, they are its best path, and all that decoding reads beside them is one
probability for each word in an entity: some two bytes a token instead of four for each label. Where they are not, the
search needs all logits of the words (`viterbi`). Many documents are tagged at once, because a document is too little
work for an array operation to be worth its call; what is computed of one does not depend on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import softmax
from service.core.decoding.tag_scheme import Scheme
from service.core.decoding.viterbi import Labels, best_path

ROWS_AT_ONCE = 8_192
"""Rows whose probabilities are computed at a time, so that a long document takes little more than its logits."""


@dataclass(frozen=True, slots=True, eq=False)
class WordTags:
    """A valid tag path over words.

    Attributes:
        labels: label ids, `[words]`.
        probabilities: of the types of the words in entities, float64 `[words in entities]`.
    """

    labels: Labels
    probabilities: NDArray[np.float64]


def search(logits: Logits, scheme: Scheme) -> WordTags:
    """The best valid path over words, whose logits are `[words, labels]`."""
    path = best_path(logits, scheme)
    return WordTags(path, _type_probabilities(logits, path, scheme))


def tag_at_once(documents: Sequence[Logits], scheme: Scheme) -> list[WordTags | Logits]:
    """What `search` finds of each document where its words' best labels are a valid path; else the document's logits.

    Each document has at least one word.
    """
    if not documents:
        return []
    logits = np.concatenate(documents)
    borders = np.cumsum([0, *map(len, documents)])
    path = logits.argmax(axis=1)
    wrong = np.zeros(len(path), dtype=np.bool_)
    wrong[1:] = ~scheme.allowed[path[:-1], path[1:]]
    wrong[borders[:-1]] = ~scheme.may_begin[path[borders[:-1]]]
    wrong[borders[1:] - 1] |= ~scheme.may_end[path[borders[1:] - 1]]
    broken = np.logical_or.reduceat(wrong, borders[:-1]).tolist()
    inside = np.add.reduceat(scheme.type_of[path] >= 0, borders[:-1], dtype=np.intp)
    ends = np.cumsum([0, *inside]).tolist()
    probabilities = _type_probabilities(logits, path, scheme)
    parts = zip(pairwise(borders.tolist()), pairwise(ends), strict=True)
    tags = (WordTags(path[a:b], probabilities[c:d]) for (a, b), (c, d) in parts)
    return [rows if is_broken else found for rows, found, is_broken in zip(documents, tags, broken, strict=True)]


def _type_probabilities(logits: Logits, path: Labels, scheme: Scheme) -> NDArray[np.float64]:
    """The probability of the entity type of each word that is in one, `[words in entities]`."""
    kind = scheme.type_of[path]
    inside = np.flatnonzero(kind >= 0)
    probabilities = np.empty(len(inside))
    for start in range(0, len(inside), ROWS_AT_ONCE):
        some = inside[start : start + ROWS_AT_ONCE]
        of_type = scheme.type_of == kind[some, None]
        found = np.where(of_type, softmax(logits[some]), 0).sum(axis=1, dtype=np.float64)
        probabilities[start : start + ROWS_AT_ONCE] = found
    return np.minimum(probabilities, 1.0, out=probabilities)
