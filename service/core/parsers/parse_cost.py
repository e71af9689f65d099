"""The expected seconds of parsing a file, learnt for each format from the files that were parsed. Pure.

The mean is geometric and an observation counts for at most eight times the expectation, so that a few files made to be
slow do not make all others look so.
"""

from __future__ import annotations

import math

FIRST_GUESS_SECONDS_PER_BYTE = 2e-7
JSON = "json"
JSON_SECONDS_PER_BYTE = 1e-8
"""A first guess too: decoding JSON is no matter of pages and fonts."""
BASE_BYTES = 64 * 1024
"""Added to the size of every file, so that what small files take says little of what large ones would."""
_WEIGHT = 0.05
_MOST_STEP = math.log(8.0)


class ParseCost:
    """The seconds per byte of each format, as learnt so far."""

    def __init__(self) -> None:
        self._logarithms: dict[str, float] = {}

    def expected_seconds(self, kind: str, size_bytes: int) -> float:
        """What a file of this format and size is expected to take."""
        return (size_bytes + BASE_BYTES) * math.exp(self._logarithm(kind))

    def observe(self, kind: str, size_bytes: int, seconds: float) -> None:
        """Learn from a file that took this long."""
        known = self._logarithm(kind)
        rate = max(seconds, 1e-6) / (size_bytes + BASE_BYTES)
        step = min(max(math.log(rate) - known, -_MOST_STEP), _MOST_STEP)
        self._logarithms[kind] = known + _WEIGHT * step

    def _logarithm(self, kind: str) -> float:
        guess = JSON_SECONDS_PER_BYTE if kind == JSON else FIRST_GUESS_SECONDS_PER_BYTE
        return self._logarithms.get(kind, math.log(guess))
