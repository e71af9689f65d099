"""Arrivals: rates over time, and the processes that draw times of requests from them. Pure.

Each rate has a closed form of the number of requests due by a time: `count(t)` is the integral of the rate from 0 to t;
`when(n)` is its inverse, the time at which n requests are due, infinite if that never happens.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, count, takewhile
from random import Random
from typing import Protocol

from loadtest.scenario.traces import Trace

TOLERANCE_SECONDS = 1e-9


class Rate(Protocol):
    """Requests per second as a function of time, for `seconds`."""

    @property
    def seconds(self) -> float: ...

    def at(self, elapsed: float) -> float:
        """Requests per second at this moment."""
        ...

    def count(self, elapsed: float) -> float:
        """Requests due by this moment."""
        ...

    def when(self, number: float) -> float:
        """The time at which `number` requests are due."""
        ...


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant rate."""

    rate: float
    seconds: float

    def at(self, elapsed: float) -> float:
        return self.rate

    def count(self, elapsed: float) -> float:
        return self.rate * elapsed

    def when(self, number: float) -> float:
        return number / self.rate if self.rate else _zero_or_never(number)


@dataclass(frozen=True, slots=True)
class Sine:
    """A sine wave around a mean: rate(t) = mean - amplitude cos(2 pi t / period); it begins at its minimum."""

    mean: float
    amplitude: float
    period_seconds: float
    seconds: float

    def __post_init__(self) -> None:
        if not 0 <= self.amplitude <= self.mean:
            raise ValueError("a sine's amplitude lies between 0 and its mean: a rate cannot be negative")

    def at(self, elapsed: float) -> float:
        return self.mean - self.amplitude * math.cos(2 * math.pi * elapsed / self.period_seconds)

    def count(self, elapsed: float) -> float:
        frequency = 2 * math.pi / self.period_seconds
        return self.mean * elapsed - self.amplitude / frequency * math.sin(frequency * elapsed)

    def when(self, number: float) -> float:
        """Bisect, since the inverse has no closed form, within one amplitude of the mean rate's time."""
        if not self.mean:
            return _zero_or_never(number)
        swing = self.amplitude * self.period_seconds / (2 * math.pi * self.mean)
        low, high = max(number / self.mean - swing, 0.0), number / self.mean + swing
        while high - low > TOLERANCE_SECONDS * max(1.0, high):
            middle = (low + high) / 2
            low, high = (middle, high) if self.count(middle) < number else (low, middle)
        return high


class Chain:
    """Rates one after another."""

    def __init__(self, parts: tuple[Rate, ...]) -> None:
        self.parts = parts
        self.starts = tuple(accumulate((part.seconds for part in parts), initial=0.0))
        self._counts = tuple(accumulate((part.count(part.seconds) for part in parts), initial=0.0))

    @property
    def seconds(self) -> float:
        return self.starts[-1]

    def at(self, elapsed: float) -> float:
        index = self.part_at(elapsed)
        return self.parts[index].at(elapsed - self.starts[index])

    def count(self, elapsed: float) -> float:
        index = self.part_at(elapsed)
        return self._counts[index] + self.parts[index].count(elapsed - self.starts[index])

    def when(self, number: float) -> float:
        index = min(max(bisect_right(self._counts, number) - 1, 0), len(self.parts) - 1)
        return self.starts[index] + self.parts[index].when(number - self._counts[index])

    def part_at(self, elapsed: float) -> int:
        """The index of the part at this time; the last part at and after the end."""
        return min(max(bisect_right(self.starts, elapsed) - 1, 0), len(self.parts) - 1)


def _zero_or_never(number: float) -> float:
    return 0.0 if number <= 0 else math.inf


COUNT_TOLERANCE = 1e-6
"""Rounding error of a closed form for a whole number."""


def total(rate: Rate) -> int:
    """The number of requests of an even schedule at this rate."""
    return math.ceil(rate.count(rate.seconds) - COUNT_TOLERANCE)


BURST_SECONDS = 1.0
"""Seconds for which a bursty rate keeps its multiplier."""


def evenly(rate: Rate) -> Iterator[float]:
    """Arrivals at equal distances on the rate's clock."""
    return (rate.when(number) for number in range(total(rate)))


def poisson(rate: Rate, draw: Random) -> Iterator[float]:
    """Independent arrivals: exponential distances on the rate's clock."""

    def clock() -> Iterator[float]:
        reached = 0.0
        for _ in count():
            reached += draw.expovariate(1.0)
            yield rate.when(reached)

    return takewhile(lambda moment: moment < rate.seconds, clock())


def bursty(rate: Rate, index_of_dispersion: float, draw: Random) -> Iterator[float]:
    """Gamma-Poisson arrivals: each bin's rate is multiplied by a Gamma variable of mean 1.

    A bin with mean count m and Gamma shape k has variance m + m² / k; with k = m / (d - 1) that is d times the mean,
    where d is the index of dispersion.
    """
    for number in range(int(-(-rate.seconds // BURST_SECONDS))):
        begin, end = number * BURST_SECONDS, min((number + 1) * BURST_SECONDS, rate.seconds)
        first, mean = rate.count(begin), rate.count(end) - rate.count(begin)
        for position in _positions(mean, index_of_dispersion, draw):
            yield min(max(rate.when(first + position), begin), end)


def replay(trace: Trace, draw: Random) -> Iterator[float]:
    """A trace's exact count in each bin; within a bin, uniform arrivals (Poisson arrivals, given their count)."""
    for number, arrivals in enumerate(trace.counts):
        begin = number * trace.bin_seconds
        for position in sorted(draw.random() for _ in range(arrivals)):
            yield begin + position * trace.bin_seconds


def _positions(mean: float, index_of_dispersion: float, draw: Random) -> Iterator[float]:
    """Arrivals in one bin on the rate's clock, on which the bin is `mean` long."""
    if mean <= 0:
        return
    spread = index_of_dispersion - 1
    factor = draw.gammavariate(mean / spread, spread / mean) if spread > 0 else 1.0
    reached = draw.expovariate(1.0) / factor if factor > 0 else mean
    while reached < mean:
        yield reached
        reached += draw.expovariate(1.0) / factor
