"""Which tags each word of a labelled text may have: one where a span says so, several where its set says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from model_store.builtin.training.examples import Example
from model_store.builtin.training.fitting.frozen import Scored
from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import softmax
from service.core.decoding.model_decoding import Decoding, word_logits
from service.core.decoding.tag_scheme import OUTSIDE, Scheme
from service.core.decoding.tokens import word_starts


@dataclass(frozen=True, slots=True, eq=False)
class WordLattice:
    """The words of one text: log-probabilities `[words, tags]`, and the tags that each may have, bool alike."""

    scores: Logits
    allowed: NDArray[np.bool_]


def lattice_of(scored: Scored, scheme: Scheme, decoding: Decoding) -> WordLattice:
    """The words that this decoding makes of a text."""
    offsets, logits = scored.encoding.offsets, scored.logits.astype(np.float32)
    firsts = np.flatnonzero(word_starts(scored.example.text, offsets, compounds=decoding.compounds))
    words = word_logits(logits, firsts, len(offsets), scheme, decoding.first_piece_share)
    stops = np.append(firsts[1:], len(offsets)) - 1
    borders = list(zip(offsets[firsts, 0].tolist(), offsets[stops, 1].tolist(), strict=True)) if len(firsts) else []
    return WordLattice(np.log(softmax(words) + 1e-12), allowed_tags(borders, scored.example, scheme))


def allowed_tags(words: Sequence[tuple[int, int]], example: Example, scheme: Scheme) -> NDArray[np.bool_]:
    """The tags of each word `[start, end)` that agree with the example's spans, bool `[words, tags]`.

    A word belongs to a span if their characters overlap. A span whose label the model does not have may be anything.
    """
    tag_ids = {tag: number for number, tag in enumerate(scheme.labels)}
    opened = np.array([tag == OUTSIDE or tag[2:] not in example.settled for tag in scheme.labels])
    allowed = np.tile(opened, (len(words), 1))
    spans, upcoming, inside = example.spans, 0, None
    for word, (start, end) in enumerate(words):
        while upcoming < len(spans) and spans[upcoming].end <= start:
            upcoming += 1
        span = spans[upcoming] if upcoming < len(spans) and spans[upcoming].start < end else None
        if span is not None:
            tag = tag_ids.get(f"{'I' if span is inside else 'B'}-{span.label}")
            allowed[word] = True if tag is None else np.arange(len(tag_ids)) == tag
        inside = span
    return allowed
