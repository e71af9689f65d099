"""Condensing: of a finished batch's logits, what each document's worker has asked for.

It runs on the batch's executor, so that the loop's thread goes on, and on all documents of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits, TokenIds
from service.core.decoding.entities import check_finite
from service.core.decoding.model_decoding import PLAIN, Decoding, word_logits
from service.core.decoding.tag_scheme import scheme_of
from service.core.decoding.word_tags import WordTags, search_all
from service.core.errors import GleanerError, ModelError

Outcome = Logits | WordTags | GleanerError


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a sequence: each one's first token, and the token after the last word's last one."""

    firsts: NDArray[np.intp]
    stop: int

    @classmethod
    def marked(cls, tokens: TokenIds, suffix: int) -> Words:
        """Of a sequence whose tokens have ids below 0 but for each word's first, and end with `suffix` special ones."""
        return cls(np.flatnonzero(tokens >= 0), len(tokens) - suffix)


def condense(
    outcomes: Sequence[Logits | GleanerError],
    words: Sequence[Words | None],
    labels: tuple[str, ...],
    decoding: Decoding = PLAIN,
) -> list[Outcome]:
    """The outcomes of a batch's sequences; where `words` is not None, the tags of its words in place of logits.

    A document with a logit that is not finite has a ModelError in its place.
    """
    scheme = scheme_of(labels)
    found: list[Outcome] = list(outcomes)
    rows = {
        index: word_logits(outcome, wanted.firsts, wanted.stop, scheme, decoding.first_piece_share)
        for index, (outcome, wanted) in enumerate(zip(outcomes, words, strict=True))
        if wanted is not None and isinstance(outcome, np.ndarray)
    }
    for index, each in list(rows.items()):
        try:
            check_finite(each)
        except ModelError as error:
            found[index] = error
            del rows[index]
    for index, tags in zip(rows, search_all(list(rows.values()), scheme, decoding.transitions), strict=True):
        found[index] = tags
    return found
