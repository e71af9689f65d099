"""Places in a text that something stands at."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable


class Places:
    """Spans of a text, none overlapping another."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans = sorted(spans)

    def touch(self, span: tuple[int, int]) -> bool:
        """Whether one of them overlaps a span."""
        place = bisect_left(self._spans, span[1], key=lambda each: each[0]) - 1
        return place >= 0 and self._spans[place][1] > span[0]
