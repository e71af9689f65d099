"""Synthetic days of arrivals with the statistics of recorded ones: diurnal, bursty, spiky. Seeded.

    rate(t) = mean × hour's share × e^(x(t) - variance / 2) × spike(t)

x is an AR(1) process on five-minute steps, spikes are a Poisson process with log-normal heights, and the counts of each
bin are Gamma-Poisson around the rate. The constants were measured on public traces: hours and x on the Numenta Anomaly
Benchmark's Twitter volumes (MIT), the dispersion of counts on Azure's LLM inference trace of 2023 (CC BY 4.0), and the
hours of the bursty day on BurstGPT (CC BY 4.0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from loadtest.arrivals.traces import Trace
from loadtest.errors import BadInput

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
