"""What kind of error each entity is: of the truth, found right or how not; of what was found, what is there in vain."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from service.evaluation.records import LabelledSpan


class Outcome(StrEnum):
    """Of an entity of the truth; `SPURIOUS` alone is of one that was found where the truth has none."""

    RIGHT = "right"
    SPLIT = "split"
    SHORT = "short"
    LONG = "long"
    WRONG_LABEL = "wrong label"
    LABEL_AND_BORDER = "label and border"
    MISSED = "missed"
    SPURIOUS = "spurious"


def outcomes(truth: Sequence[LabelledSpan], found: Sequence[LabelledSpan]) -> Counter[Outcome]:
    """How often each happened; both in order and without overlap."""
    counts = Counter(_outcome(span, overlapping(found, span)) for span in truth)
    counts[Outcome.SPURIOUS] = sum(not overlapping(truth, span) for span in found)
    return counts


def overlapping(spans: Sequence[LabelledSpan], other: LabelledSpan) -> Sequence[LabelledSpan]:
    """Those of `spans`, which are in order and without overlap, that share a character with another span."""
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
