"""Two scrapes of a service's /metrics → the values that its publisher would send to CloudWatch. Pure.

On machines without a GPU the share of time in which a batch ran stands for GPU utilization: NVML's figure is just that.
"""

from __future__ import annotations

from loadtest.telemetry.exposition import Scrape
from service.signals.catalog import (
    BACKLOG_SECONDS,
    BUSY_RATIO,
    GPU_UTILIZATION,
    MEMORY_SPLITS,
    OLDEST_AGE_SECONDS,
    QUEUE_DEPTH,
    REFUSALS,
    RESTARTS,
    WORK_RATIO,
    Signal,
)

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
PHASE = "gleaner_phase"
BUSY = "gleaner_busy_seconds_total"


def readings(before: Scrape | None, after: Scrape, seconds: float) -> dict[Signal, float]:
    """One value for each signal; counts and shares are of the time between the two.

    A task that starts or drains publishes no share of the work.
    """
    counts = {signal: _added(before, after, name) for signal, name in COUNTS.items()}
    if not after.by(PHASE, "phase").get("ready"):
        return counts
    levels = {signal: after.total(name) or 0.0 for signal, name in LEVELS.items()}
    busy = min(_added(before, after, BUSY) / seconds, 1.0) if seconds > 0 else 0.0
    return {**counts, **levels, BUSY_RATIO: busy, GPU_UTILIZATION: 100 * busy}


def _added(before: Scrape | None, after: Scrape, name: str) -> float:
    """What a counter gained; nothing where it is seen for the first time."""
    was = before.total(name) if before is not None else None
    now = after.total(name)
    return max(now - was, 0.0) if was is not None and now is not None else 0.0
