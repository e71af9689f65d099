"""The aggregation strategies of transformers' token-classification pipeline: `simple`, `first`, `average`, `max`.

They follow the pipeline's rules, quirks included, so that a model's answers can be compared with those of its author.
The caller passes the token strings that `subwords` needs; no tokenizer is used here.

The rule: for one model input, labels and offsets are the pipeline's own and scores differ by rounding alone
(`transformers/pipelines/token_classification.py`). In particular

- with a tokenizer that marks continuations (`##`), a token continues a word if its string is longer or shorter than
  its text; with others, if it is not a space and does not follow one; an unknown token never continues a word;
- `B-` begins an entity, every other label continues an entity of the same label; `I-` begins one if none precedes it;
- an entity's name is its first label's part after the first hyphen; an entity named `O` is dropped;
- offsets are the tokens', untrimmed.

Documents of several windows differ from the pipeline's `stride` mode in the overlaps only. There the pipeline decodes
each window by itself and keeps the longer of two overlapping entities, so both halves of an entity that a window's
border cuts may appear. Here each token has the logits of one window (`windows`), and the merged logits are decoded.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from service.core.arrays import Logits
from service.core.decoding.tag_scheme import OUTSIDE
from service.core.decoding.tokens import Span, code_points

Scores = NDArray[np.float32]
"""Probabilities: `[tokens, labels]`, `[words, labels]`, or the best of each row."""


class Aggregation(StrEnum):
    """A way to turn logits into entities; all but `constrained` are the pipeline's strategies."""

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
    """True for tokens that continue a word by the pipeline's rules, bool `[tokens]`.

    `offsets` is `[tokens, 2]` in code points; `continuing_prefix` is True if the tokenizer's model has a non-empty
    `continuing_subword_prefix`; `unk_id` is the id of its unknown token, if it has one.
    """
    if continuing_prefix:
        lengths = np.fromiter(map(len, token_strings), dtype=np.int32, count=len(token_strings))
        continues: NDArray[np.bool_] = lengths != offsets[:, 1] - offsets[:, 0]
    else:
        is_space = np.append(code_points(text) == ord(" "), False)
        start = offsets[:, 0]
        continues = (start > 0) & ~is_space[start - 1] & ~is_space[start]
    return continues if unk_id is None else continues & (ids != unk_id)


def softmax(logits: Logits) -> Scores:
    """Probabilities `[tokens, labels]`, computed in float32 as the pipeline does."""
    probabilities: Scores = logits - logits.max(axis=1, keepdims=True)
    np.exp(probabilities, out=probabilities)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    return probabilities


def aggregate(
    logits: Logits,
    is_subword: NDArray[np.bool_],
    labels: Sequence[str],
    strategy: Aggregation,
    ignored: Collection[str] = (OUTSIDE,),
) -> list[Span]:
    """The entities in logits `[tokens, labels]`, in order, without those whose name is ignored.

    `labels` are the names in the model's configuration. One row of logits at least is needed.
    """
    probabilities = softmax(logits)
    firsts = unit_firsts(is_subword, strategy)
    if strategy is not Aggregation.SIMPLE:
        probabilities = _of_words(probabilities, firsts, strategy)
    best = probabilities.argmax(axis=1)
    scores = probabilities[np.arange(len(best)), best]
    return _group(best, scores, np.append(firsts, len(logits)), labels, ignored)


def unit_firsts(is_subword: NDArray[np.bool_], strategy: Aggregation) -> NDArray[np.intp]:
    """The first tokens of what a strategy puts together to entities: of words, or with `simple` every token."""
    if strategy is Aggregation.SIMPLE:
        return np.arange(len(is_subword))
    return np.flatnonzero(np.append(True, ~is_subword[1:]))


def best_labels(logits: Logits, labels: Sequence[str], ignored: Collection[str] = (OUTSIDE,)) -> list[Span]:
    """The pipeline's `none`: each token with its best label, without those whose label is ignored."""
    probabilities = softmax(logits)
    best = probabilities.argmax(axis=1)
    scores = probabilities[np.arange(len(best)), best]
    found = enumerate(zip(best.tolist(), scores.tolist(), strict=True))
    return [Span(labels[i], at, at + 1, score) for at, (i, score) in found if labels[i] not in ignored]


def _of_words(probabilities: Scores, firsts: NDArray[np.intp], strategy: Aggregation) -> Scores:
    """The probabilities of words, `[words, labels]`; word w's tokens run from `firsts[w]` to `firsts[w + 1]`."""
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


def _group(
    best: NDArray[np.intp], scores: Scores, firsts: NDArray[np.intp], labels: Sequence[str], ignored: Collection[str]
) -> list[Span]:
    """Join neighbouring words (or tokens) of one entity; `firsts` is each word's first token, then the end."""
    begins = np.array([label.startswith("B-") for label in labels])
    tags = [label[2:] if label.startswith(("B-", "I-")) else label for label in labels]
    tag = np.array([tags.index(tag) for tag in tags])[best]
    starts = np.flatnonzero(np.append(True, (tag[1:] != tag[:-1]) | begins[best[1:]]))
    stops = np.append(starts[1:], len(best))
    means = np.add.reduceat(scores, starts, dtype=np.float64) / (stops - starts)
    names = [label.split("-", 1)[-1] for label in labels]
    kept = np.array([name not in ignored for name in names])[best[starts]]
    columns = (best[starts], firsts[starts], firsts[stops], means)
    return [
        Span(names[label], start, stop, score)
        for label, start, stop, score in zip(*(column[kept].tolist() for column in columns), strict=True)
    ]
