"""Points: the signals' values computed from two snapshots of a task's metrics, one point per signal. Pure.

Levels are the later snapshot's values, counts are the counters' increase between the two, and the distribution of
request seconds is the increase of each histogram bucket, spread evenly over the bucket as Prometheus' quantiles assume.
So an alarm whose threshold is a bucket's bound is exact; only the open last bucket is underestimated.

A work ratio is published without the part that bulk work has in it: that uses what room there is, and adds no tasks.
A starting or draining task publishes no levels: its zeros would lower the average of the tasks that carry the load.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from service.signals.catalog import (
    BACKLOG_SECONDS,
    BULK_BACKLOG_SECONDS,
    BULK_TASKS_WANTED,
    BUSY_RATIO,
    GPU_LOST,
    GPU_MEMORY_UTILIZATION,
    GPU_UTILIZATION,
    MEMORY_SPLITS,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    REFUSALS,
    REQUEST_SECONDS,
    REQUESTS,
    REQUESTS_IN_FLIGHT,
    RESTARTS,
    SERVER_ERRORS,
    SIGNALS,
    STAGES,
    WORK_RATIO,
    Signal,
)
from service.signals.routes import WORK_ROUTES

Series = tuple[str, tuple[tuple[str, str], ...]]
"""A metric's name and its labels, sorted."""

LEVELS = {
    BACKLOG_SECONDS: "gleaner_backlog_seconds",
    BULK_BACKLOG_SECONDS: "gleaner_bulk_backlog_seconds",
    BULK_TASKS_WANTED: "gleaner_bulk_tasks_wanted",
    OLDEST_AGE_SECONDS: "gleaner_queue_oldest_age_seconds",
    QUEUE_DEPTH: "gleaner_queue_documents",
    REQUESTS_IN_FLIGHT: "gleaner_requests_in_flight",
}
STAGE_NAME = "gleaner_stage_work_ratio"
BULK_STAGE_NAME = "gleaner_bulk_stage_work_ratio"
COUNTS = {
    REQUESTS: "gleaner_requests_total",
    SERVER_ERRORS: "gleaner_server_errors_total",
    REFUSALS: "gleaner_refusals_total",
    RESTARTS: "gleaner_engine_starts_total",
    MEMORY_SPLITS: "gleaner_memory_splits_total",
}
CAPACITY_REFUSALS = ("queue_full", "deadline_exceeded", "too_much_at_once")
PHASE_NAME = "gleaner_phase"
GPU_LOST_NAME = "gleaner_gpu_lost"
BUSY_NAME = "gleaner_busy_seconds_total"
UTILIZATION_NAME = "gleaner_gpu_utilization_ratio"
MEMORY_USED_NAME = "gleaner_gpu_memory_used_bytes"
MEMORY_TOTAL_NAME = "gleaner_gpu_memory_total_bytes"
BUCKETS_NAME = "gleaner_request_seconds_bucket"
BUCKET_PARTS = 8
"""Most values that stand for a bucket; CloudWatch takes 150 of all buckets together."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Every series at one moment: on the monotonic clock, which measures durations, and in Unix time, for
    CloudWatch."""

    monotonic_seconds: float
    unix_seconds: float
    values: Mapping[Series, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One signal at one time: its values, each with its count."""

    signal: Signal
    unix_seconds: float
    values: tuple[float, ...]
    counts: tuple[float, ...]


def measure(before: Snapshot, after: Snapshot) -> tuple[Point, ...]:
    """The points of one period: the levels of the later snapshot, and the counts since the earlier one."""
    values = dict(_values(before, after))
    at = after.unix_seconds
    points = [Point(signal, at, (values[signal],), (1.0,)) for signal in SIGNALS if signal in values]
    if counts := _request_seconds(before, after):
        points.append(Point(REQUEST_SECONDS, at, tuple(counts), tuple(counts.values())))
    return tuple(points)


def total(snapshot: Snapshot, name: str, **labels: str) -> float | None:
    """The sum of all finite series with this name and these labels; None without any."""
    found = [
        value
        for (each, described), value in snapshot.values.items()
        if each == name and labels.items() <= dict(described).items() and math.isfinite(value)
    ]
    return sum(found) if found else None


def _values(before: Snapshot, after: Snapshot) -> Iterator[tuple[Signal, float]]:
    yield GPU_LOST, total(after, GPU_LOST_NAME) or 0.0
    yield REQUESTS, sum(_added(before, after, REQUESTS, route=route) for route in WORK_ROUTES)
    yield SERVER_ERRORS, _added(before, after, SERVER_ERRORS)
    yield REFUSALS, sum(_added(before, after, REFUSALS, code=code) for code in CAPACITY_REFUSALS)
    yield RESTARTS, _restarts(after) - _restarts(before)
    yield MEMORY_SPLITS, _added(before, after, MEMORY_SPLITS)
    if total(after, PHASE_NAME, phase="ready"):
        yield from _levels(before, after)
    yield from _gpu_memory(after)


def _levels(before: Snapshot, after: Snapshot) -> Iterator[tuple[Signal, float]]:
    """A ready task's share of the fleet's work."""
    for signal, name in LEVELS.items():
        yield signal, total(after, name) or 0.0
    ratios = {stage: total(after, STAGE_NAME, stage=stage) or 0.0 for stage in STAGES}
    yield from ((STAGES[stage], ratio) for stage, ratio in ratios.items())
    bulk = {stage: total(after, BULK_STAGE_NAME, stage=stage) or 0.0 for stage in STAGES}
    yield WORK_RATIO, max(0.0, *(ratios[stage] - bulk[stage] for stage in STAGES))
    yield BUSY_RATIO, _busy_ratio(before, after)
    if total(after, MEMORY_TOTAL_NAME):  # Without a GPU the gauges exist and stay zero.
        yield GPU_UTILIZATION, 100.0 * (total(after, UTILIZATION_NAME) or 0.0)


def _added(before: Snapshot, after: Snapshot, signal: Signal, **labels: str) -> float:
    return _difference(before, after, COUNTS[signal], **labels)


def _difference(before: Snapshot, after: Snapshot, name: str, **labels: str) -> float:
    """The increase of a counter; zero where it fell, because a process with its own counter has ended."""
    return max((total(after, name, **labels) or 0.0) - (total(before, name, **labels) or 0.0), 0.0)


def _restarts(snapshot: Snapshot) -> float:
    """Engine starts so far, less the first one, which is no restart."""
    return max((total(snapshot, COUNTS[RESTARTS]) or 0.0) - 1.0, 0.0)


def _busy_ratio(before: Snapshot, after: Snapshot) -> float:
    """Busy seconds over the period; at most 1, since a batch that began before the period counts in full at its end."""
    elapsed = after.monotonic_seconds - before.monotonic_seconds
    return min(_difference(before, after, BUSY_NAME) / elapsed, 1.0) if elapsed > 0 else 0.0


def _gpu_memory(after: Snapshot) -> Iterator[tuple[Signal, float]]:
    if total_bytes := total(after, MEMORY_TOTAL_NAME):
        yield GPU_MEMORY_UTILIZATION, 100.0 * (total(after, MEMORY_USED_NAME) or 0.0) / total_bytes


def _request_seconds(before: Snapshot, after: Snapshot) -> dict[float, float]:
    """Seconds → the number of requests for work that ended in the period."""
    bounds = sorted({float(dict(labels)["le"]): dict(labels)["le"] for labels in _buckets(after)}.items())
    routes = sorted({dict(labels)["route"] for labels in _buckets(after)})
    cumulative = [
        sum(_difference(before, after, BUCKETS_NAME, route=route, le=text) for route in routes) for _, text in bounds
    ]
    largest = max((bound for bound, _ in bounds if math.isfinite(bound)), default=0.0)
    edges = pairwise([0.0, *(min(bound, largest) for bound, _ in bounds)])
    counts: defaultdict[float, float] = defaultdict(float)
    for (lower, upper), (below, upto) in zip(edges, pairwise([0.0, *cumulative]), strict=True):
        if upto > below:
            count = int(upto - below)
            parts = min(count, BUCKET_PARTS)
            for part in range(parts):
                middle = lower + (upper - lower) * (part + 0.5) / parts
                counts[middle] += count * (part + 1) // parts - count * part // parts
    return counts


def _buckets(snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], ...]]:
    for name, labels in snapshot.values:
        if name == BUCKETS_NAME and dict(labels).get("route") in WORK_ROUTES:
            yield labels
