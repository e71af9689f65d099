"""Demand: documents that come each second, of named shapes or as they were recorded. Seeded.

    steady   one rate
    wave     a day: few at night, twice the mean at noon
    step     five times for half of the time
    flash    ten times within a minute, then half as much every ten minutes
    zero     a day whose night has none
    long     documents become eight times longer for a third of the time
    trend    four times as many at the end

A shape's rate is the mean of its quiet time (`step`, `flash`) or of all of it. Counts are Poisson around a rate that
wanders from minute to minute, as measured services' do (`scenario/traces`).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from loadtest.errors import BadInput
from loadtest.scenario.traces import DAYS, HEAD, read_trace

Floats = npt.NDArray[np.float64]
HOUR, DAY = 3600.0, 86_400.0
OFFICE = DAYS["diurnal"]
LONGER = 8.0
STEP = 5.0
FLASH = 10.0
FLASH_RISE_SECONDS = 60.0
FLASH_HALF_SECONDS = 600.0
GROWTH = 4.0


@dataclass(frozen=True, slots=True)
class Demand:
    """Each second's documents, `counts[seconds]`, and their mean length over the usual one, `lengths[seconds]`."""

    name: str
    counts: Floats
    lengths: Floats

    @property
    def seconds(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True)
class RecordedDocuments:
    """Recorded documents, in order: `times[n]` in seconds from the beginning, `tokens[n]`."""

    times: Floats
    tokens: Floats


def _steady(at: Floats, whole: float) -> Floats:
    return np.ones_like(at)


def _wave(at: Floats, whole: float) -> Floats:
    return 1.0 - np.cos(2 * np.pi * at / DAY) * 0.9


def _step(at: Floats, whole: float) -> Floats:
    return np.where((at >= whole / 4) & (at < whole * 3 / 4), STEP, 1.0)


def _flash(at: Floats, whole: float) -> Floats:
    since = at - whole / 4
    rise = np.clip(since / FLASH_RISE_SECONDS, 0.0, 1.0)
    fall = np.power(0.5, np.maximum(since - FLASH_RISE_SECONDS, 0.0) / FLASH_HALF_SECONDS)
    return 1.0 + (FLASH - 1.0) * rise * fall


def _zero(at: Floats, whole: float) -> Floats:
    hour = at % DAY / HOUR
    return np.where((hour >= 6) & (hour < 22), np.sin((hour - 6) / 16 * np.pi) * np.pi / 2 * 1.5, 0.0)


def _trend(at: Floats, whole: float) -> Floats:
    factor = 1.0 + (GROWTH - 1.0) * at / whole
    return factor / ((1 + GROWTH) / 2)


def _longer(at: Floats, whole: float) -> Floats:
    return np.where((at >= whole / 3) & (at < whole * 2 / 3), LONGER, 1.0)


@dataclass(frozen=True, slots=True)
class Shape:
    """The course of rate and document length over time; it lasts `seconds` unless another time is asked for."""

    seconds: float
    rate: Callable[[Floats, float], Floats] = _steady
    lengths: Callable[[Floats, float], Floats] = _steady


SHAPES = {
    "steady": Shape(6 * HOUR),
    "wave": Shape(DAY, _wave),
    "step": Shape(2 * HOUR, _step),
    "flash": Shape(3 * HOUR, _flash),
    "zero": Shape(DAY, _zero),
    "long": Shape(3 * HOUR, _steady, _longer),
    "trend": Shape(2 * DAY, _trend),
}


def peak(name: str) -> float:
    """The most work a second of a named shape, over that of its rate with documents of the usual length."""
    shape = SHAPES[name]
    at = np.arange(0.5, shape.seconds, 60.0)
    return float((shape.rate(at, shape.seconds) * shape.lengths(at, shape.seconds)).max())


def make_demand(name: str, rate: float, seed: int, seconds: float | None = None) -> Demand:
    """A named shape at `rate` documents a second.

    Raises:
        BadInput: there is no such shape.
    """
    shape = SHAPES.get(name)
    if shape is None:
        raise BadInput(f"{name!r} is no shape; there are {', '.join(SHAPES)}")
    whole = float(max(round(seconds or shape.seconds), 1))
    at = np.arange(0.5, whole, dtype=np.float64)
    draw = np.random.default_rng([seed, *name.encode()])
    return Demand(name, _counts(shape.rate(at, whole) * rate, draw), shape.lengths(at, whole))


def _counts(rate: Floats, draw: np.random.Generator) -> Floats:
    """Gamma-Poisson: seconds and minutes have the dispersion of a measured service."""
    minutes = -(-len(rate) // 60)
    mean = np.maximum(np.add.reduceat(rate, np.arange(0, len(rate), 60)), 1e-9)
    spread = np.maximum((OFFICE.dispersion_per_minute - OFFICE.dispersion_per_second) / mean, 1e-12)
    factor: Floats = np.repeat(draw.gamma(1 / spread, spread, minutes), 60)[: len(rate)]
    mean_now = rate * factor
    within = OFFICE.dispersion_per_second - 1
    noisy = np.where(mean_now > 0, draw.gamma(np.maximum(mean_now, 1e-9) / within, within), 0.0)
    counts: Floats = draw.poisson(noisy).astype(np.float64)
    return counts


def read_demand(path: Path, usual_tokens: float, seed: int, rate: float | None = None) -> Demand:
    """A trace of `t_s,count`, or recorded documents by their times and tokens (`read_recorded`).

    Args:
        rate: mean documents a second, instead of the trace's. Bins are scaled before arrivals are drawn, so that a
            larger service is a smoother one; recorded documents are as many times more at their own seconds.

    Raises:
        BadInput: it is neither.
    """
    try:
        first = path.read_text().split("\n", 1)[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"the trace {path} cannot be read: {error}") from error
    if first.split(",") == HEAD:
        trace = read_trace(path)
        means = (
            np.repeat(np.array(trace.counts, dtype=np.float64), max(round(trace.bin_seconds), 1)) / trace.bin_seconds
        )
        means *= rate / means.mean() if rate else 1.0
        counts = np.random.default_rng(seed).poisson(means).astype(np.float64)
        return Demand(path.stem, counts, np.ones_like(counts))
    recorded = read_recorded(path)
    second = recorded.times.astype(np.int64)
    counts = np.bincount(second).astype(np.float64)
    tokens = np.bincount(second, weights=recorded.tokens)
    lengths = np.where(counts > 0, tokens / np.maximum(counts, 1) / usual_tokens, 1.0)
    return Demand(path.stem, counts * (rate / counts.mean() if rate else 1.0), lengths)


def read_recorded(path: Path) -> RecordedDocuments:
    """Documents of a CSV with the head `t_s,tokens`, or of JSON lines with these two keys, in order of time.

    Raises:
        BadInput: a line cannot be read, or a time or length cannot be.
    """
    lines = path.read_text().splitlines()
    try:
        if lines and lines[0].lstrip().startswith("{"):
            rows = [json.loads(line) for line in lines if line.strip()]
        else:
            rows = list(csv.DictReader(lines))
        pairs = sorted((float(row["t_s"]), float(row["tokens"])) for row in rows)
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is no record of documents (`t_s` and `tokens` of each): {error!r}") from error
    if not pairs or pairs[0][0] < 0 or any(tokens < 1 or not math.isfinite(at) for at, tokens in pairs):
        raise BadInput(f"{path}: times are not negative, and a document has a token at least")
    times, tokens = np.array(pairs).T
    return RecordedDocuments(times, tokens)
