"""Exact-span micro-F1 over labelled examples, fine and coarse.

Predicted and gold spans count only if the set annotates their label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import BertForTokenClassification

from model_store.builtin.training.examples import Example
from model_store.builtin.training.labels import Span, coarse, spans_from_tags

WINDOW_TOKENS = 510
OVERLAP_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Score:
    """Counts of spans, and the rates that follow from them."""

    found: int
    gold: int
    right: int

    @property
    def precision(self) -> float:
        """Share of the found spans that are right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Share of the gold spans that were found."""
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.right / max(1, self.found + self.gold)

    def __add__(self, other: Score) -> Score:
        """The sums of both counts."""
        return Score(self.found + other.found, self.gold + other.gold, self.right + other.right)


class Tagging(Protocol):
    """A tagger: finds spans in a text."""

    def tag(self, text: str) -> list[Span]: ...


class Tagger:
    """A model and its tokenizer: text of any length → spans."""

    def __init__(self, model: BertForTokenClassification, tokenizer: Tokenizer) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._begin, self._end = tokenizer.encode("").ids

    @torch.inference_mode()
    def tag(self, text: str) -> list[Span]:
        """The spans of the best tag of each token; overlapping windows are split in the middle of the overlap."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        if not encoding.ids:
            return []
        logits = self._logits(encoding.ids)
        return spans_from_tags(constrained_path(logits), encoding.offsets)

    def _logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        step = WINDOW_TOKENS - OVERLAP_TOKENS
        parts: list[NDArray[np.float32]] = []
        for start in range(0, max(1, len(ids) - OVERLAP_TOKENS), step):
            window = torch.tensor([[self._begin, *ids[start : start + WINDOW_TOKENS], self._end]])
            with torch.autocast("cpu", dtype=torch.bfloat16):
                part = self._model(input_ids=window).logits[0, 1:-1].float().numpy()
            half = OVERLAP_TOKENS // 2
            if parts:
                parts[-1], part = parts[-1][:-half], part[half:]
            parts.append(part)
        return np.concatenate(parts)


def constrained_path(logits: NDArray[np.float32]) -> list[int]:
    """The best path [length] in which an I tag only follows a B or I tag of its label (Viterbi)."""
    count = logits.shape[1]
    allowed = np.zeros((count, count), dtype=np.float32)
    for tag in range(2, count, 2):
        allowed[:, tag] = -np.inf
        allowed[[tag - 1, tag], tag] = 0.0
    score = logits[0].copy()
    score[2::2] = -np.inf
    back = np.zeros(logits.shape, dtype=np.int16)
    for position in range(1, len(logits)):
        steps = score[:, None] + allowed
        back[position] = steps.argmax(axis=0)
        score = steps.max(axis=0) + logits[position]
    path = [int(score.argmax())]
    for position in range(len(logits) - 1, 0, -1):
        path.append(int(back[position, path[-1]]))
    return path[::-1]


def score_examples(tagger: Tagging, examples: Iterable[Example]) -> tuple[Score, Score]:
    """(fine, coarse) over all the examples."""
    pairs = [(tagger.tag(example.text), example) for example in examples]
    return _total(pairs, parents=False), _total(pairs, parents=True)


def score_labels(tagger: Tagging, examples: Iterable[Example], labels: Collection[str]) -> dict[str, Score]:
    """The counts of each of these labels, over the examples that annotate it; labels that nothing has are left out."""
    totals: dict[str, Score] = {}
    for example in examples:
        wanted = example.annotated & set(labels)
        spans = tagger.tag(example.text) if wanted else []
        for label in wanted:
            found = {span for span in spans if span.label == label}
            gold = {span for span in example.spans if span.label == label}
            counts = Score(len(found), len(gold), len(found & gold))
            totals[label] = totals.get(label, Score(0, 0, 0)) + counts
    return {label: totals[label] for label in sorted(totals) if totals[label].found or totals[label].gold}


def _total(pairs: Sequence[tuple[list[Span], Example]], *, parents: bool) -> Score:
    found = gold = right = 0
    for spans, example in pairs:
        predicted = _counted(spans, example, parents=parents)
        marked = _counted(example.spans, example, parents=parents)
        found, gold, right = found + len(predicted), gold + len(marked), right + len(predicted & marked)
    return Score(found, gold, right)


def _counted(spans: Iterable[Span], example: Example, *, parents: bool) -> set[tuple[int, int, str]]:
    annotated = {coarse(label) for label in example.annotated} if parents else example.annotated
    named = ((start, end, coarse(label) if parents else label) for start, end, label in spans if label)
    return {span for span in named if span[2] in annotated}
