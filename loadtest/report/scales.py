"""Axes: from values to places, and the round numbers that stand beside them. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` on places from `first` to `last` (pixels); logarithmic if asked."""

    low: float
    high: float
    first: float
    last: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value; values outside are put on the edge."""
        value = min(max(value, self.low), self.high)
        if self.is_log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.first + part * (self.last - self.first)

    def ticks(self, about: int = 6) -> list[float]:
        """Round values along the axis."""
        return _log_ticks(self.low, self.high) if self.is_log else linear_ticks(self.low, self.high, about)


def linear(values: list[float], first: float, last: float) -> Scale:
    """From zero to a round number above the largest value."""
    high = max(values, default=1.0) or 1.0
    step = _step(high, 6)
    return Scale(0.0, math.ceil(high * 1.02 / step) * step, first, last)


def exact(low: float, high: float, first: float, last: float) -> Scale:
    """From one value to another, as for time."""
    return Scale(low, high if high > low else low + 1.0, first, last)


def logarithmic(values: list[float], first: float, last: float) -> Scale:
    """From a half decade below the smallest value to one above the largest."""
    known = [value for value in values if value > 0] or [1.0]
    low, high = _decade(min(known) / 1.1, up=False), _decade(max(known) * 1.1, up=True)
    return Scale(low, high, first, last, is_log=True)


def linear_ticks(low: float, high: float, about: int) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about so many."""
    step = _step(high - low, about)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def label(value: float) -> str:
    """A number as people write it."""
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.3g} M"
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _step(length: float, about: int) -> float:
    rough = max(length, 1e-12) / about
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * each for each in (1, 2, 5, 10) if power * each >= rough * 0.999)


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    sparse = math.log10(high / low) > 2.5
    steps = (1.0,) if math.log10(high / low) > 5 else (1.0, 3.0) if sparse else (1.0, 2.0, 5.0)
    every = [each * 10.0**power for power in powers for each in steps]
    return [tick for tick in every if low * 0.999 <= tick <= high * 1.001]


def _decade(value: float, *, up: bool) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    steps = [power * each for each in (1, 2, 5, 10)]
    return next(each for each in steps if each >= value) if up else next(e for e in reversed(steps) if e <= value)
