"""Span scorer: compares exact spans under one convention, counts errors, computes rates with intervals over groups.

Conventions, applied to the truth and to the predictions:
- Neighbouring parts of an address (street, postcode, city) are one ADDRESS.
- The currency beside an amount belongs to it.
- Of spans that overlap, the first and longest stays; only labels that a set annotates count.

Intervals draw groups, not documents, with replacement (Efron and Tibshirani, 1993, chapter 8): documents of one company
or template are right or wrong together, and an interval over documents would be far too narrow.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from service.core.fields.roles import AMOUNTS
from service.evaluation.labelled_documents import LabelledSpan

_GAP = re.compile(r"[\s,;·|-]{0,4}(?:[A-Z]{1,3}[\s-]+)?")
"""Text between two parts of an address: marks, and a country's letters before its postcode."""
_BEFORE = re.compile(r"(?<!\w)(?:[€$£]|EUR|USD|GBP) ?$")
_AFTER = re.compile(r" ?(?:[€$£]|(?:EUR|USD|GBP)\b)")
_FARTHEST = 5
"""Characters before an amount that are searched for its currency."""


def conventional(text: str, spans: Iterable[LabelledSpan], labels: Collection[str]) -> list[LabelledSpan]:
    """Reduce spans to these labels, in order and without overlap, by the conventions above."""
    kept: list[LabelledSpan] = []
    for span in sorted((each for each in spans if each.label in labels), key=lambda each: (each.start, -each.end)):
        if kept and span.start < kept[-1].end:
            continue
        if kept and _is_one_address(text, kept[-1], span):
            kept[-1] = kept[-1]._replace(end=span.end, score=(kept[-1].score + span.score) / 2)
        else:
            kept.append(span)
    return [_with_currency(text, span) if span.label in AMOUNTS else span for span in kept]


def exact_spans(text: str, spans: Iterable[LabelledSpan], labels: Collection[str]) -> set[tuple[int, int, str]]:
    """Reduce spans as `conventional` does, to start, end and label: what is compared with the truth."""
    return {span[:3] for span in conventional(text, spans, labels)}


def overlapped(spans: Iterable[LabelledSpan], labels: Collection[str]) -> int:
    """Count the spans of these labels that `conventional` drops, as an earlier or longer one covers their start."""
    count = end = 0
    for span in sorted((each for each in spans if each.label in labels), key=lambda each: (each.start, -each.end)):
        count += span.start < end
        end = end if span.start < end else span.end
    return count


def _is_one_address(text: str, span: LabelledSpan, following: LabelledSpan) -> bool:
    return span.label == following.label == "ADDRESS" and bool(_GAP.fullmatch(text, span.end, following.start))


def _with_currency(text: str, span: LabelledSpan) -> LabelledSpan:
    before = _BEFORE.search(text, max(0, span.start - _FARTHEST), span.start)
    after = _AFTER.match(text, span.end)
    return span._replace(start=before.start() if before else span.start, end=after.end() if after else span.end)


class Outcome(StrEnum):
    """Outcome for an entity of the truth; only `SPURIOUS` is of a found entity where the truth has none."""

    RIGHT = "right"
    SPLIT = "split"
    SHORT = "short"
    LONG = "long"
    WRONG_LABEL = "wrong label"
    LABEL_AND_BORDER = "label and border"
    MISSED = "missed"
    SPURIOUS = "spurious"


def outcomes(truth: Sequence[LabelledSpan], found: Sequence[LabelledSpan]) -> Counter[Outcome]:
    """Count the outcomes; both lists are in order and without overlap."""
    counts = Counter(_outcome(span, overlapping(found, span)) for span in truth)
    counts[Outcome.SPURIOUS] = sum(not overlapping(truth, span) for span in found)
    return counts


def overlapping(spans: Sequence[LabelledSpan], other: LabelledSpan) -> Sequence[LabelledSpan]:
    """Find the `spans`, in order and without overlap, that share a character with another span."""
    first = bisect_left(spans, True, key=lambda span: span.end > other.start)
    stop = bisect_left(spans, True, key=lambda span: span.start >= other.end)
    return spans[first:stop]


def _outcome(span: LabelledSpan, found: Sequence[LabelledSpan]) -> Outcome:
    if not found:
        return Outcome.MISSED
    same = [each for each in found if (each.start, each.end) == (span.start, span.end)]
    if same:
        return Outcome.RIGHT if same[0].label == span.label else Outcome.WRONG_LABEL
    labelled = [each for each in found if each.label == span.label]
    if not labelled:
        return Outcome.LABEL_AND_BORDER
    if len(labelled) > 1:
        return Outcome.SPLIT
    longer = labelled[0].end - labelled[0].start > span.end - span.start
    return Outcome.LONG if longer else Outcome.SHORT


DRAWS = 1_000
LEAST_GROUPS = 5
"""Fewest groups for an interval."""
_SEED = 20931
_AT_ONCE = 1_000_000
"""Most weights drawn at a time."""


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Rates of exact spans; `low` and `high`: the 95 % interval of F1, None with fewer than `LEAST_GROUPS` groups."""

    gold: int
    found: int
    right: int
    groups: int
    low: float | None
    high: float | None

    @property
    def precision(self) -> float:
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        return self.right / max(1, self.gold)

    @property
    def f1(self) -> float:
        return 2 * self.right / max(1, self.gold + self.found)


@dataclass(slots=True)
class Tally:
    """Gold, found and right spans of each group."""

    counts: dict[Hashable, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))

    def add(self, group: Hashable, *, gold: int, found: int, right: int) -> None:
        """Count a document, or a part of it, for its group."""
        of_group = self.counts[group]
        of_group[0] += gold
        of_group[1] += found
        of_group[2] += right

    def score(self) -> SpanScore:
        """Compute the rates over all groups."""
        counts = np.array(list(self.counts.values()), dtype=np.int64).reshape(-1, 3)
        gold, found, right = counts.sum(axis=0).tolist()
        low, high = interval(counts) if len(counts) >= LEAST_GROUPS else (None, None)
        return SpanScore(gold, found, right, len(counts), low, high)


def interval(counts: NDArray[np.int64]) -> tuple[float, float]:
    """Compute the 95 % interval of F1, drawing groups with replacement; `counts`: [groups, 3] as in `Tally`."""
    return _middle(_rates(weights, counts) for weights in _draws(len(counts)))


def difference_interval(first: Tally, second: Tally) -> tuple[float, float] | None:
    """Compute the 95 % interval of how much the second's F1 is higher, over the same documents, drawing groups.

    None with fewer than `LEAST_GROUPS` groups. Both are drawn together, so what makes a group hard for both counts for
    neither.
    """
    groups = [*{**first.counts, **second.counts}]
    if len(groups) < LEAST_GROUPS:
        return None
    ours, theirs = (np.array([each.counts.get(group, [0, 0, 0]) for group in groups]) for each in (first, second))
    return _middle(_rates(weights, theirs) - _rates(weights, ours) for weights in _draws(len(groups)))


def _draws(groups: int) -> Iterator[NDArray[np.int64]]:
    """Weights of the groups, `[draws, groups]`, some draws at a time."""
    random = np.random.default_rng(_SEED)
    draws = max(1, min(DRAWS, _AT_ONCE // groups))
    for _ in range(0, DRAWS, draws):
        yield random.multinomial(groups, np.full(groups, 1 / groups), size=draws)


def _rates(weights: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """F1 of each draw."""
    gold, found, right = (weights @ counts).T
    rates: NDArray[np.float64] = 2 * right / np.maximum(1, gold + found)
    return rates


def _middle(drawn: Iterable[NDArray[np.float64]]) -> tuple[float, float]:
    low, high = np.percentile(np.concatenate([*drawn]), (2.5, 97.5)).tolist()
    return low, high
