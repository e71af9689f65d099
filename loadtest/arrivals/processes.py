"""Arrival processes: the times of requests, evenly spaced, Poisson, bursty (Gamma-Poisson), or replayed from a trace.

Random arrivals are drawn at unit rate and mapped through `rate.when` (time rescaling), so they follow any rate exactly.
Each process is an ascending iterator of seconds, and the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, takewhile
from random import Random

from loadtest.arrivals.pacer import total
from loadtest.arrivals.rates import Rate
from loadtest.arrivals.traces import Trace

BURST_SECONDS = 1.0
"""The length of a bin in which a bursty rate keeps its multiplier."""


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


def bursty(rate: Rate, index_of_dispersion: float, draw: Random, bin_seconds: float = BURST_SECONDS) -> Iterator[float]:
    """Gamma-Poisson arrivals: each bin's rate is multiplied by a Gamma variable of mean 1.

    A bin with mean count m and Gamma shape k has variance m + m² / k; with k = m / (d - 1) that is d times the mean,
    where d is the index of dispersion.
    """
    bins = range(int(-(-rate.seconds // bin_seconds)))
    for number in bins:
        begin, end = number * bin_seconds, min((number + 1) * bin_seconds, rate.seconds)
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
