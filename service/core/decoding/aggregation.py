"""Entities as transformers' token-classification pipeline finds them: `simple`, `first`, `average`, `max`.

Owns the pipeline's rules, quirks included, so that a model's answers can be compared with those its author saw. Knows
no tokenizer: the caller brings the token strings for `subwords`.

The rule: for one model input, labels and offsets are the pipeline's own and scores differ by rounding alone
(`transformers/pipelines/token_classification.py`). In particular

- a token whose string is not as long as its text continues a word where the tokenizer marks continuations (`##`);
  elsewhere one does that neither is nor follows a space; an unknown token never does;
- `B-` begins an entity, every other label continues an equal one; `I-` also begins one where nothing goes before;
- an entity is named after its first label, without what goes before the first hyphen; one named `O` is dropped;
- offsets are the tokens', untrimmed.

Documents of several windows differ from the pipeline's `stride` mode in the overlaps only: there the pipeline decodes
each window by itself and of two overlapping entities keeps the longer (so of an entity cut by a window's border both
halves may appear), while here each token is judged once, in the window that shows it the most context, and entities
are found after the windows are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.tag_scheme import OUTSIDE
from service.core.decoding.tokens import Span, code_points

Scores = NDArray[np.float32]


class Aggregation(StrEnum):
    """How rows of scores become entities; all but `constrained` are the pipeline's strategies."""

    CONSTRAINED = "constrained"
    SIMPLE = "simple"
    FIRST = "first"
    AVERAGE = "average"
    MAX = "max"


def subwords(
    token_strings: Sequence[str],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int32],
    text: str,
    *,
    continuing_prefix: bool,
    unk_id: int | None,
) -> NDArray[np.bool_]:
    """Which tokens continue a word in the pipeline's eyes, bool `[tokens]`.

    `offsets` is `[tokens, 2]` in code points; `continuing_prefix` says whether the tokenizer's model has a
    (non-empty) `continuing_subword_prefix`; `unk_id` is the id of the tokenizer's unknown token, if it has one.
    """
    if continuing_prefix:
        lengths = np.fromiter(map(len, token_strings), dtype=np.int32, count=len(token_strings))
        continues: NDArray[np.bool_] = lengths != offsets[:, 1] - offsets[:, 0]
    else:
        is_space = np.append(code_points(text) == ord(" "), False)
        start = offsets[:, 0]
        continues = (start > 0) & ~is_space[start - 1] & ~is_space[start]
    return continues if unk_id is None else continues & (ids != unk_id)


def softmax(rows: Scores) -> Scores:
    """Probabilities `[tokens, labels]` from logits of that shape, in float32 as the pipeline computes them."""
    probabilities: Scores = np.exp(rows - rows.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


def aggregate(rows: Scores, is_subword: NDArray[np.bool_], labels: Sequence[str], strategy: Aggregation) -> list[Span]:
    """The entities in logits `[tokens, labels]`, in order; `labels` are the names in the model's configuration."""
    probabilities = softmax(rows)
    if strategy is Aggregation.SIMPLE:
        firsts = np.arange(len(rows))
    else:
        firsts = np.flatnonzero(np.append(True, ~is_subword[1:]))
        probabilities = _of_words(probabilities, firsts, strategy)
    best = probabilities.argmax(axis=1)
    return _group(best, probabilities[np.arange(len(best)), best], np.append(firsts, len(rows)), labels)


def _of_words(probabilities: Scores, firsts: NDArray[np.intp], strategy: Aggregation) -> Scores:
    """One row for each word, `[words, labels]`; word w's tokens run from `firsts[w]` to the next word's first."""
    if strategy is Aggregation.FIRST:
        return probabilities[firsts]
    if strategy is Aggregation.AVERAGE:
        counts = np.diff(firsts, append=len(probabilities)).astype(np.float32)
        sums: Scores = np.add.reduceat(probabilities, firsts, axis=0)
        return sums / counts[:, None]
    assert strategy is Aggregation.MAX, f"{strategy} is not one of the pipeline's"
    peak = probabilities.max(axis=1)
    word_of = np.repeat(np.arange(len(firsts)), np.diff(firsts, append=len(probabilities)))
    peaking = np.flatnonzero(peak == np.maximum.reduceat(peak, firsts)[word_of])
    _, first_of_word = np.unique(word_of[peaking], return_index=True)
    return probabilities[peaking[first_of_word]]


def _group(best: NDArray[np.intp], scores: Scores, firsts: NDArray[np.intp], labels: Sequence[str]) -> list[Span]:
    """Join neighbouring words (or tokens) of one entity; `firsts` are the words' first tokens and then the end."""
    begins = np.array([label.startswith("B-") for label in labels])
    tags = [label[2:] if label.startswith(("B-", "I-")) else label for label in labels]
    tag = np.array([tags.index(tag) for tag in tags])[best]
    starts = np.flatnonzero(np.append(True, (tag[1:] != tag[:-1]) | begins[best[1:]]))
    stops = np.append(starts[1:], len(best))
    means = np.add.reduceat(scores, starts, dtype=np.float64) / (stops - starts)
    names = [label.split("-", 1)[-1] for label in labels]
    kept = np.array([name != OUTSIDE for name in names])[best[starts]]
    columns = (best[starts], firsts[starts], firsts[stops], means)
    return [
        Span(names[label], start, stop, score)
        for label, start, stop, score in zip(*(column[kept].tolist() for column in columns), strict=True)
    ]
