"""Traces: arrivals in files of `t_s,count`, one bin a line: recorded ones, scaled, and synthetic days. Seeded.

Synthetic days (diurnal, bursty, spiky) have the statistics of recorded ones:

    rate(t) = mean × hour's share × e^(x(t) - variance / 2) × spike(t)

x is an AR(1) process on five-minute steps, spikes are a Poisson process with log-normal heights, and the counts of
each bin are Gamma-Poisson around the rate. The constants were measured on public traces: hours and x on the Numenta
Anomaly Benchmark's Twitter volumes (MIT), the dispersion of counts on Azure's LLM inference trace of 2023 (CC BY
4.0), and the hours of the bursty day on BurstGPT (CC BY 4.0).
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from random import Random

from loadtest.errors import BadInput

HEAD = ["t_s", "count"]


@dataclass(frozen=True, slots=True)
class Trace:
    """The number of arrivals in each bin of `bin_seconds`."""

    bin_seconds: float
    counts: tuple[int, ...]

    @property
    def seconds(self) -> float:
        return self.bin_seconds * len(self.counts)

    def faster(self, factor: float) -> Trace:
        return replace(self, bin_seconds=self.bin_seconds / factor)

    def scaled(self, factor: float) -> Trace:
        """The trace with its counts multiplied by a factor; the sum up to each bin is rounded to an integer."""
        sums = [round(reached * factor) for reached in accumulate(self.counts, initial=0)]
        return replace(self, counts=tuple(after - before for before, after in pairwise(sums)))

    def first(self, seconds: float) -> Trace:
        """The beginning of the trace, in whole bins."""
        return replace(self, counts=self.counts[: max(1, round(seconds / self.bin_seconds))])


def read_trace(path: Path) -> Trace:
    """The trace in a file.

    Raises:
        BadInput: the file cannot be read, or is in another format.
    """
    try:
        rows = list(csv.reader(path.read_text().splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the trace {path} cannot be read: {error}") from error
    if not rows or rows[0] != HEAD or len(rows) < 3:
        raise BadInput(f"{path} is not a trace: a head line `t_s,count` and at least two bins are needed")
    try:
        times, counts = zip(*((float(time), int(count)) for time, count in rows[1:]), strict=True)
    except ValueError as error:
        raise BadInput(f"{path} is not a trace: {error}") from error
    width = times[1] - times[0]
    if width <= 0 or any(abs(b - a - width) > 1e-6 * width for a, b in pairwise(times)) or min(counts) < 0:
        raise BadInput(f"{path} is not a trace: bins must have one length and counts must not be negative")
    return Trace(width, counts)


def lines(trace: Trace) -> Iterable[str]:
    """The lines of a trace's file."""
    yield ",".join(HEAD)
    for number, count in enumerate(trace.counts):
        yield f"{number * trace.bin_seconds:g},{count}"


DAY_SECONDS = 86_400.0
STEP_SECONDS = 300.0
NORMAL_P90 = 1.2816

OFFICE_HOURS = (
    1.184, 1.083, 1.014, 0.927, 0.782, 0.647, 0.559, 0.565, 0.573, 0.635, 0.664, 0.780,
    0.955, 1.112, 1.181, 1.240, 1.321, 1.345, 1.358, 1.300, 1.269, 1.230, 1.145, 1.131,
)  # fmt: skip
"""Rate of each hour over the mean: people on a public service, minimum at six, peak at 18 h (UTC)."""

BATCH_HOURS = (
    0.963, 0.914, 0.585, 0.525, 0.377, 0.350, 0.198, 0.157, 0.182, 0.426, 0.900, 1.317,
    1.786, 1.537, 1.839, 1.435, 1.511, 1.388, 1.210, 1.605, 1.385, 1.203, 1.156, 1.050,
)  # fmt: skip
"""Rate of each hour over the mean: a GPU service called by other programs, peak to minimum 11.7."""


@dataclass(frozen=True, slots=True)
class Spikes:
    """Frequency, height (a factor of the rate) and length of spikes, by median and 90th percentile."""

    per_day: float
    height_median: float
    height_p90: float
    steps_p90: float


@dataclass(frozen=True, slots=True)
class Day:
    """The constants of one kind of day. `dispersion_per_second`: variance over mean of the counts of seconds."""

    hours: tuple[float, ...]
    persistence: float
    spread: float
    dispersion_per_second: float
    dispersion_per_minute: float
    spikes: Spikes | None = None


DAYS = {
    "diurnal": Day(OFFICE_HOURS, 0.636, 0.375, 1.33, 16.1),
    "bursty": Day(BATCH_HOURS, 0.636, 0.375, 13.2, 164.1),
    "spiky": Day(OFFICE_HOURS, 0.636, 0.375, 1.33, 16.1, Spikes(3.46, 5.4, 21.6, 5.0)),
}


def make_day(kind: str, seed: int, *, mean_rate: float = 10.0, bin_seconds: float = 60.0, days: int = 1) -> Trace:
    """Days of this kind, with `mean_rate` arrivals per second on average.

    Raises:
        BadInput: no such kind.
    """
    day = DAYS.get(kind)
    if day is None:
        raise BadInput(f"{kind!r} is no kind of day; there are {', '.join(DAYS)}")
    draw = Random(f"{kind} {seed}")
    drift = _drift(day, draw, days)
    spikes = _spikes(day.spikes, draw, days)
    dispersion = _dispersion(day, bin_seconds)
    counts = []
    for number in range(round(days * DAY_SECONDS / bin_seconds)):
        elapsed = (number + 0.5) * bin_seconds
        step = int(elapsed / STEP_SECONDS)
        rate = mean_rate * _hour(day.hours, elapsed) * drift[step] * spikes[step]
        counts.append(_gamma_poisson(rate * bin_seconds, dispersion, draw))
    return Trace(bin_seconds, tuple(counts))


def _hour(hours: tuple[float, ...], elapsed: float) -> float:
    """The factor of an hour, interpolated linearly between the middles of hours."""
    position = (elapsed % DAY_SECONDS) / 3600 - 0.5
    before, part = math.floor(position), position - math.floor(position)
    return hours[before % 24] * (1 - part) + hours[(before + 1) % 24] * part


def _drift(day: Day, draw: Random, days: int) -> list[float]:
    """e^(x - variance / 2) for each step; its mean is 1."""
    innovation = day.spread * math.sqrt(1 - day.persistence * day.persistence)
    value, found = draw.gauss(0, day.spread), []
    for _ in range(round(days * DAY_SECONDS / STEP_SECONDS)):
        found.append(math.exp(value - day.spread * day.spread / 2))
        value = day.persistence * value + draw.gauss(0, innovation)
    return found


def _spikes(spikes: Spikes | None, draw: Random, days: int) -> list[float]:
    """The factor of each step's rate."""
    steps = round(days * DAY_SECONDS / STEP_SECONDS)
    factors = [1.0] * steps
    if spikes is None:
        return factors
    sigma = math.log(spikes.height_p90 / spikes.height_median) / NORMAL_P90
    at = 0.0
    while (at := at + draw.expovariate(spikes.per_day)) < days:
        height = max(3.0, draw.lognormvariate(math.log(spikes.height_median), sigma))
        length = round(max(1.0, draw.lognormvariate(0.0, math.log(spikes.steps_p90) / NORMAL_P90)))
        first = int(at * DAY_SECONDS / STEP_SECONDS)
        for step in range(first, min(first + length, steps)):
            factors[step] = max(factors[step], height)
    return factors


def _dispersion(day: Day, bin_seconds: float) -> float:
    """Variance over mean for bins of this length: a power law through the two measured points."""
    power = math.log(day.dispersion_per_minute / day.dispersion_per_second) / math.log(60)
    return max(1.0, day.dispersion_per_second * math.pow(bin_seconds, power))


def _gamma_poisson(mean: float, dispersion: float, draw: Random) -> int:
    if mean <= 0:
        return 0
    rate = draw.gammavariate(mean / (dispersion - 1), dispersion - 1) if dispersion > 1 else mean
    return _poisson(rate, draw)


def _poisson(mean: float, draw: Random) -> int:
    """A Poisson variable: Knuth's method for small means, a rounded normal variable for large ones."""
    if mean > 200:
        return max(0, round(draw.gauss(mean, math.sqrt(mean))))
    limit, reached, count = math.exp(-mean), draw.random(), 0
    while reached > limit:
        reached *= draw.random()
        count += 1
    return count
