"""When each request is due: evenly spaced, Poisson, bursty (Gamma-Poisson), or as a trace counted them.

Random arrivals are made on a clock of unit rate and mapped back through `rate.when` (time rescaling), so they follow
any rate exactly. All are iterators of seconds, ascending, and the same for the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, takewhile
from random import Random

from loadtest.arrivals.pacer import total
from loadtest.arrivals.rates import Rate
from loadtest.arrivals.traces import Trace

BURST_SECONDS = 1.0
"""Within one such bin a bursty rate keeps its multiplier."""


def evenly(rate: Rate) -> Iterator[float]:
    """At equal distances, on the clock of the rate."""
    return (rate.when(number) for number in range(total(rate)))


def poisson(rate: Rate, draw: Random) -> Iterator[float]:
    """Independent of one another: exponential distances on the clock of the rate."""

    def clock() -> Iterator[float]:
        reached = 0.0
        for _ in count():
            reached += draw.expovariate(1.0)
            yield rate.when(reached)

    return takewhile(lambda moment: moment < rate.seconds, clock())


def bursty(rate: Rate, index_of_dispersion: float, draw: Random, bin_seconds: float = BURST_SECONDS) -> Iterator[float]:
    """Gamma-Poisson: each bin's rate is multiplied by a Gamma variable of mean 1.

    A bin with mean count m and Gamma shape k has variance m + m² / k; k = m / (d - 1) makes that d times the mean, for
    the index of dispersion d.
    """
    bins = range(int(-(-rate.seconds // bin_seconds)))
    for number in bins:
        begin, end = number * bin_seconds, min((number + 1) * bin_seconds, rate.seconds)
        first, mean = rate.count(begin), rate.count(end) - rate.count(begin)
        for place in _places(mean, index_of_dispersion, draw):
            yield min(max(rate.when(first + place), begin), end)


def replay(trace: Trace, draw: Random) -> Iterator[float]:
    """A trace's own counts, exactly as many in each bin; inside a bin as Poisson arrivals that came to that count."""
    for number, arrivals in enumerate(trace.counts):
        begin = number * trace.bin_seconds
        for place in sorted(draw.random() for _ in range(arrivals)):
            yield begin + place * trace.bin_seconds


def _places(mean: float, index_of_dispersion: float, draw: Random) -> Iterator[float]:
    """Arrivals of one bin on the clock of the rate, where the bin is `mean` long."""
    if mean <= 0:
        return
    spread = index_of_dispersion - 1
    factor = draw.gammavariate(mean / spread, spread / mean) if spread > 0 else 1.0
    reached = draw.expovariate(1.0) / factor if factor > 0 else mean
    while reached < mean:
        yield reached
        reached += draw.expovariate(1.0) / factor
