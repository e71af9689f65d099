"""Reduction of a batch's logits to the tags of words, for the documents that ask for those alone.

It runs on the batch's executor, so that the loop's thread goes on, and on all documents of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits, ids_in
from service.core.decoding.entities import check_finite
from service.core.decoding.model_decoding import Decoding, join_pieces
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.word_tags import WordTags, search_joined
from service.core.errors import GleanerError, ModelError
from service.core.types import ResponseKind
from service.families.processor import AtEngine, ReducedOutcome

TOGETHER = 4
"""Most documents whose logits are copied end to end: fewer calls, and few enough for a core's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words of a sequence: the first token of each, and the token after the last word."""

    firsts: NDArray[np.intp]
    stop: int

    @property
    def stops(self) -> NDArray[np.intp]:
        return np.append(self.firsts, self.stop)[1:]

    @classmethod
    def of(cls, document: AtEngine) -> Words | None:
        """The words whose tags a document's worker wants; None if it wants all logits.

        Its tokens have ids below 0 but for each word's first, and end with special tokens.
        """
        submission = document.submission
        if submission.response_kind is not ResponseKind.WORD_TAGS:
            return None
        return cls((ids_in(document.tokens) >= 0).nonzero()[0], len(document.tokens) - submission.special_tokens_at_end)


def reduce_to_tags(
    decoding: Decoding,
    outcomes: Sequence[Logits | GleanerError],
    documents: Sequence[AtEngine],
    labels: tuple[str, ...],
) -> list[ReducedOutcome]:
    """The outcomes of a batch's sequences, with tags in place of logits where the document asks for those.

    A document with a logit that is not finite becomes a ModelError.
    """
    found: list[ReducedOutcome] = list(outcomes)
    tagged = {
        index: (outcome, words)
        for index, (outcome, document) in enumerate(zip(outcomes, documents, strict=True))
        if isinstance(outcome, np.ndarray) and (words := Words.of(document)) is not None
    }
    if tagged:
        scheme = scheme_of(labels, inside_begins=bool(decoding.inside_begins))
        tags = _tags(list(tagged.values()), scheme, decoding)
        for index, each in zip(tagged, tags, strict=True):
            found[index] = each
    return found


def _tags(documents: Sequence[tuple[Logits, Words]], scheme: Scheme, decoding: Decoding) -> list[WordTags | ModelError]:
    """Search the tags of all documents' words together; one by one where a logit is not finite."""
    firsts = range(0, len(documents), TOGETHER)
    parts = [_word_logits(documents[first : first + TOGETHER], scheme, decoding) for first in firsts]
    logits = np.concatenate(parts) if len(parts) > 1 else parts[0]
    try:
        check_finite(logits)
    except ModelError as error:
        if len(documents) == 1:
            return [error]
        return [tags for each in documents for tags in _tags([each], scheme, decoding)]
    borders = [0, *accumulate(len(words.firsts) for _, words in documents)]
    return [*search_joined(logits, borders, scheme, decoding.transitions)]


def _word_logits(documents: Sequence[tuple[Logits, Words]], scheme: Scheme, decoding: Decoding) -> Logits:
    """Join the logits of all words of a few documents, end to end."""
    starts = [0, *accumulate(len(logits) for logits, _ in documents)]
    firsts = np.concatenate([words.firsts + start for start, (_, words) in zip(starts, documents, strict=False)])
    stops = np.concatenate([words.stops + start for start, (_, words) in zip(starts, documents, strict=False)])
    logits = np.concatenate([each for each, _ in documents]) if len(documents) > 1 else documents[0][0]
    return join_pieces(logits, firsts, stops, scheme, decoding.first_piece_share)
