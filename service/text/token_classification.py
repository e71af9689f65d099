"""Entities in the spelling of transformers' token-classification pipeline, for clients that expect exactly that.

The rules:
- `word` is what the pipeline's own decoding makes of the tokens, which is not always the text's slice; a folder
  without a decoder has the text's slice, where transformers would show tokens and their marks ("▁Jan e").
- Labels that are to be ignored are dropped after tokens were put together (`TokenClassificationPipeline.postprocess`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation, aggregate, best_labels, unit_firsts
from service.core.decoding.entities import check_finite
from service.core.decoding.tokens import Span
from service.text.pipeline import Prepared
from service.text.tokenizer import TextTokenizer


@dataclass(frozen=True, slots=True)
class TokenGroup:
    """A token, or tokens put together. `index`: of its first token in the sequence, special tokens counted."""

    label: str
    score: float
    word: str
    start: int
    end: int
    index: int


def classify(
    tokenizer: TextTokenizer,
    prepared: Prepared,
    logits: Logits,
    labels: tuple[str, ...],
    strategy: Aggregation | None,
    ignored: Collection[str],
) -> list[TokenGroup]:
    """What the pipeline finds in a text with these logits `[tokens, labels]`; without a strategy, its `none`.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    if not len(logits):
        return []
    check_finite(logits)
    if strategy is None:
        spans, units = best_labels(logits, labels, ignored), np.arange(len(logits))
    else:
        encoding = tokenizer.encoding(prepared.text, prepared.tokens, with_subwords=strategy is not Aggregation.SIMPLE)
        spans = aggregate(logits, encoding.is_subword, labels, strategy, ignored)
        units = unit_firsts(encoding.is_subword, strategy)
    whole_words = strategy not in (None, Aggregation.SIMPLE)
    offsets = prepared.tokens.offsets
    return [
        TokenGroup(
            span.label,
            span.score,
            _word(tokenizer, prepared, span, units if whole_words else None, joined=strategy is not None),
            int(offsets[span.start_token, 0]),
            int(offsets[span.stop_token - 1, 1]),
            len(tokenizer.prefix) + span.start_token,
        )
        for span in spans
    ]


def _word(
    tokenizer: TextTokenizer, prepared: Prepared, span: Span, units: NDArray[np.intp] | None, *, joined: bool
) -> str:
    """A span's spelling; where `units` are words, the pipeline joins each one's tokens, and then the words."""
    tokens = tokenizer.spellings(prepared.text, prepared.tokens, span.start_token, span.stop_token)
    if not joined:
        return tokens[0]
    if not tokenizer.has_decoder:
        (start, _), (_, end) = prepared.tokens.offsets[[span.start_token, span.stop_token - 1]]
        return prepared.text[start:end]
    if units is None:
        return tokenizer.joined(tokens)
    low, high = np.searchsorted(units, (span.start_token, span.stop_token))
    borders = [*(units[low:high] - span.start_token).tolist(), len(tokens)]
    words = [tokenizer.joined(tokens[a:b]) for a, b in pairwise(borders)]
    return tokenizer.joined(words)
