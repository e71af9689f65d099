"""Word tags replace logits for `constrained`: a document's words' tags, and the probabilities of those in entities.

That is some two bytes a token instead of four for each label. Many documents are searched at once, because one is too
little work for array operations to be worth their calls; what is found in one does not depend on the others.
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
from service.core.decoding.transitions import Labels, Transitions, best_path, unlearned

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


def search(logits: Logits, scheme: Scheme, transitions: Transitions | None = None) -> WordTags:
    """The best valid path over words, whose logits are `[words, labels]`."""
    return search_joined(logits, [0, len(logits)], scheme, transitions)[0]


def search_joined(
    logits: Logits, borders: Sequence[int], scheme: Scheme, transitions: Transitions | None = None
) -> list[WordTags]:
    """The best valid path of each document, whose words' finite logits `[words, labels]` lie end to end.

    With `transitions`, the learned scores of a path's steps count as well.

    Args:
        borders: where each document begins, and where the last one ends.
    """
    path = best_path(transitions or unlearned(scheme), logits, borders)
    inside = np.flatnonzero(scheme.type_of[path] >= 0)
    probabilities = _type_probabilities(logits, path, inside, scheme)
    places = np.searchsorted(inside, borders).tolist()
    parts = zip(pairwise(borders), pairwise(places), strict=True)
    return [WordTags(path[start:stop], probabilities[first:last]) for (start, stop), (first, last) in parts]


def _type_probabilities(logits: Logits, path: Labels, inside: NDArray[np.intp], scheme: Scheme) -> NDArray[np.float64]:
    """The probability of the entity type of each word in `inside`."""
    kind = scheme.type_of[path]
    probabilities = np.empty(len(inside))
    for start in range(0, len(inside), ROWS_AT_ONCE):
        some = inside[start : start + ROWS_AT_ONCE]
        of_type = scheme.type_of == kind[some, None]
        found = np.where(of_type, softmax(logits[some]), 0).sum(axis=1, dtype=np.float64)
        probabilities[start : start + ROWS_AT_ONCE] = found
    return np.minimum(probabilities, 1.0, out=probabilities)
