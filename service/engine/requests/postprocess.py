"""Postprocessing of a finished batch: reduces its logits to word tags or candidate spans, as asked for.

It runs on the batch's executor, so that the loop's thread goes on, and on all documents of a batch at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits, TokenIds
from service.core.decoding.entities import check_finite
from service.core.decoding.model_decoding import PLAIN, Decoding, join_pieces
from service.core.decoding.spans import CandidateFinder
from service.core.decoding.tag_scheme import Scheme, scheme_of
from service.core.decoding.word_tags import WordTags, search_joined
from service.core.errors import GleanerError, ModelError

Outcome = Logits | WordTags | GleanerError

TOGETHER = 4
"""Most documents whose logits are copied end to end: fewer calls, and few enough for a core's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words of a sequence: the first token of each, and the token after the last word."""

    firsts: NDArray[np.intp]
    stop: int

    @property
    def stops(self) -> NDArray[np.intp]:
        """The token after each word."""
        return np.append(self.firsts, self.stop)[1:]

    @classmethod
    def from_marked_ids(cls, tokens: TokenIds, special_tokens_at_end: int) -> Words:
        """Find the words by ids: only a word's first token has an id of 0 or above; special tokens end the sequence."""
        return cls((tokens >= 0).nonzero()[0], len(tokens) - special_tokens_at_end)


def reduce_logits(
    outcomes: Sequence[Logits | GleanerError],
    words: Sequence[Words | None],
    labels: tuple[str, ...],
    decoding: Decoding = PLAIN,
) -> list[Outcome]:
    """Reduce a batch's outcomes to tags of words where `words` is not None; others stay logits.

    A document with a logit that is not finite becomes a ModelError.
    """
    found: list[Outcome] = list(outcomes)
    tagged = {
        index: (outcome, wanted)
        for index, (outcome, wanted) in enumerate(zip(outcomes, words, strict=True))
        if wanted is not None and isinstance(outcome, np.ndarray)
    }
    if tagged:
        tags = _tags(list(tagged.values()), scheme_of(labels), decoding)
        for index, each in zip(tagged, tags, strict=True):
            found[index] = each
    return found


def reduce_to_candidates(
    outcomes: Sequence[Logits | GleanerError], limits: Sequence[float | None], find: CandidateFinder
) -> list[Outcome]:
    """Reduce the scores of each sequence with a limit to its candidates of at least that; others stay as they are.

    A sequence with a score that is not finite becomes a ModelError.
    """
    found: list[Outcome] = list(outcomes)
    for index, (outcome, limit) in enumerate(zip(outcomes, limits, strict=True)):
        if isinstance(outcome, np.ndarray) and limit is not None:
            try:
                check_finite(outcome)
                found[index] = find(outcome, limit)
            except ModelError as error:
                found[index] = error
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
