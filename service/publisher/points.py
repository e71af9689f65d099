"""What is published, from two looks at the metrics: one point for each signal, zeros when nothing happened. Pure.

A task that starts or drains leaves its share of the work out: its zeros would halve the average of those that carry it.

Levels are the later look's values, counts are what was added in between, and the distribution of request seconds is
the histogram's buckets with what was added to each. A bucket is told by its upper bound, so an alarm whose threshold
is a bucket's bound is exact, and any other errs on the slow side. Only the open last bucket is told too small.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from service.signals import (
    BACKLOG_SECONDS,
    BUSY_RATIO,
    GPU_LOST,
    GPU_MEMORY_UTILIZATION,
    GPU_UTILIZATION,
    MEMORY_SPLITS,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    REFUSALS,
    REQUEST_SECONDS,
    RESTARTS,
    SIGNALS,
    WORK_RATIO,
    Signal,
)

Series = tuple[str, tuple[tuple[str, str], ...]]
"""A metric's name and its labels, sorted."""

LEVELS = {
    WORK_RATIO: "gleaner_work_ratio",
    BACKLOG_SECONDS: "gleaner_backlog_seconds",
    OLDEST_AGE_SECONDS: "gleaner_queue_oldest_age_seconds",
    QUEUE_DEPTH: "gleaner_queue_documents",
}
COUNTS = {
    REFUSALS: "gleaner_refusals_total",
    RESTARTS: "gleaner_engine_starts_total",
    MEMORY_SPLITS: "gleaner_memory_splits_total",
}
CAPACITY_REFUSALS = ("queue_full", "deadline_exceeded")
PHASE_NAME = "gleaner_phase"
GPU_LOST_NAME = "gleaner_gpu_lost"
BUSY_NAME = "gleaner_busy_seconds_total"
UTILIZATION_NAME = "gleaner_gpu_utilization_ratio"
MEMORY_USED_NAME = "gleaner_gpu_memory_used_bytes"
MEMORY_TOTAL_NAME = "gleaner_gpu_memory_total_bytes"
BUCKETS_NAME = "gleaner_request_seconds_bucket"
WORK_ROUTE = "/extract"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every series at one moment, told by both clocks: one to measure spans with, one to tell the world."""

    monotonic_seconds: float
    unix_seconds: float
    values: Mapping[Series, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One signal at one time: its values, and how often each of them was seen."""

    signal: Signal
    unix_seconds: float
    values: tuple[float, ...]
    counts: tuple[float, ...]


def measure(before: Snapshot, after: Snapshot) -> tuple[Point, ...]:
    """One round of points: what the later look shows, and what has happened since the earlier one."""
    seen = dict(_values(before, after))
    at = after.unix_seconds
    points = [Point(signal, at, (seen[signal],), (1.0,)) for signal in SIGNALS if signal in seen]
    if spread := _request_seconds(before, after):
        points.append(Point(REQUEST_SECONDS, at, tuple(spread), tuple(spread.values())))
    return tuple(points)


def total(snapshot: Snapshot, name: str, **labels: str) -> float | None:
    """The sum of all series of this name that carry these labels; None when there is none."""
    found = [
        value
        for (each, described), value in snapshot.values.items()
        if each == name and labels.items() <= dict(described).items() and math.isfinite(value)
    ]
    return sum(found) if found else None


def _values(before: Snapshot, after: Snapshot) -> Iterator[tuple[Signal, float]]:
    yield GPU_LOST, total(after, GPU_LOST_NAME) or 0.0
    yield REFUSALS, sum(_added(before, after, REFUSALS, code=code) for code in CAPACITY_REFUSALS)
    yield RESTARTS, _restarts(after) - _restarts(before)
    yield MEMORY_SPLITS, _added(before, after, MEMORY_SPLITS)
    if total(after, PHASE_NAME, phase="ready"):
        yield from _share(before, after)
    yield from _memory(after)


def _share(before: Snapshot, after: Snapshot) -> Iterator[tuple[Signal, float]]:
    """A task's share of the fleet's work, for averages over the tasks that take part in it."""
    for signal, name in LEVELS.items():
        yield signal, total(after, name) or 0.0
    yield BUSY_RATIO, _busy_ratio(before, after)
    if total(after, MEMORY_TOTAL_NAME):  # Without a device the gauges are there and stay at zero.
        yield GPU_UTILIZATION, 100.0 * (total(after, UTILIZATION_NAME) or 0.0)


def _added(before: Snapshot, after: Snapshot, signal: Signal, **labels: str) -> float:
    return _difference(before, after, COUNTS[signal], **labels)


def _difference(before: Snapshot, after: Snapshot, name: str, **labels: str) -> float:
    """Never negative: a sum that shrank has lost a process, not its work."""
    return max((total(after, name, **labels) or 0.0) - (total(before, name, **labels) or 0.0), 0.0)


def _restarts(snapshot: Snapshot) -> float:
    """The first start of an engine is none."""
    return max((total(snapshot, COUNTS[RESTARTS]) or 0.0) - 1.0, 0.0)


def _busy_ratio(before: Snapshot, after: Snapshot) -> float:
    """Batches count when they end, so one that began earlier may claim more than the period had."""
    elapsed = after.monotonic_seconds - before.monotonic_seconds
    return min(_difference(before, after, BUSY_NAME) / elapsed, 1.0) if elapsed > 0 else 0.0


def _memory(after: Snapshot) -> Iterator[tuple[Signal, float]]:
    if room := total(after, MEMORY_TOTAL_NAME):
        yield GPU_MEMORY_UTILIZATION, 100.0 * (total(after, MEMORY_USED_NAME) or 0.0) / room


def _request_seconds(before: Snapshot, after: Snapshot) -> dict[float, float]:
    """Each bucket's upper bound with how many requests were added to it."""
    bounds = sorted({float(dict(labels)["le"]): dict(labels)["le"] for labels in _buckets(after)}.items())
    reached = [_difference(before, after, BUCKETS_NAME, route=WORK_ROUTE, le=text) for _, text in bounds]
    largest = max((bound for bound, _ in bounds if math.isfinite(bound)), default=0.0)
    spread: defaultdict[float, float] = defaultdict(float)
    for (bound, _), (below, upto) in zip(bounds, pairwise([0.0, *reached]), strict=True):
        if upto > below:
            spread[min(bound, largest)] += upto - below
    return spread


def _buckets(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], ...]]:
    for name, labels in snapshot.values:
        if name == BUCKETS_NAME and dict(labels).get("route") == WORK_ROUTE:
            yield labels
