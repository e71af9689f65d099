"""Which ranges of a text go: the entities that were found, and the other places where the same words stand.

Ranges never overlap: what overlaps goes as one, under the label of its longest part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.core.redaction.repeats import Repeats


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """One range that goes, in code points. `score` is None where it was not found but repeats what was."""

    label: str
    start: int
    end: int
    score: float | None

    @property
    def is_repeat(self) -> bool:
        """Whether the model did not find it."""
        return self.score is None


def spans_to_redact(text: str, found: Sequence[RedactedSpan], *, repeats: bool) -> list[RedactedSpan]:
    """The ranges of a text that go, in order; `repeats`: also those that say again what was found."""
    spans = list(found)
    if repeats:
        labels = {_folded(text[span.start : span.end]): span.label for span in reversed(found)}
        places = Repeats(text[span.start : span.end] for span in found).find(text)
        spans += [RedactedSpan(labels.get(_folded(text[a:b]), ""), a, b, None) for a, b in places]
    return _merged(span for span in spans if span.start < span.end)


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _merged(spans: Iterable[RedactedSpan]) -> list[RedactedSpan]:
    merged: list[RedactedSpan] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end, each.is_repeat)):
        if merged and span.start < merged[-1].end:
            merged[-1] = _union(merged[-1], span)
        else:
            merged.append(span)
    return merged


def _union(first: RedactedSpan, second: RedactedSpan) -> RedactedSpan:
    scores = [each.score for each in (first, second) if each.score is not None]
    longest = max(first, second, key=lambda each: (bool(each.label), each.end - each.start))
    end = max(first.end, second.end)
    return RedactedSpan(longest.label, first.start, end, max(scores, default=None))
