"""The values of a rehearsal's tasks are those that the service's publisher would send for the same metrics."""

from __future__ import annotations

import pytest

from loadtest.scaling.local_fleet import published_values
from loadtest.telemetry.sampler import parse_metrics
from service.signals.catalog import (
    BUSY_RATIO,
    GPU_UTILIZATION,
    MEMORY_SPLITS,
    REFUSALS,
    REQUEST_SECONDS,
    RESTARTS,
    WORK_RATIO,
    Kind,
    Signal,
)
from service.signals.points import Snapshot, measure

READY = 'gleaner_phase{phase="ready"} 1\n'
STARTING = 'gleaner_phase{phase="ready"} 0\ngleaner_phase{phase="loading"} 1\n'
BEFORE = """gleaner_busy_seconds_total 3
gleaner_memory_splits_total 1
gleaner_engine_starts_total 0
gleaner_refusals_total{code="queue_full"} 5
gleaner_refusals_total{code="not_ready"} 7
gleaner_request_seconds_bucket{route="/extract",le="1.0"} 4
gleaner_request_seconds_bucket{route="/extract",le="+Inf"} 4
"""
AFTER = """gleaner_busy_seconds_total 7
gleaner_memory_splits_total 3
gleaner_engine_starts_total 1
gleaner_refusals_total{code="queue_full"} 7
gleaner_refusals_total{code="deadline_exceeded"} 1
gleaner_refusals_total{code="not_ready"} 90
gleaner_refusals_total{code="too_large"} 12
gleaner_work_ratio 0.75
gleaner_request_seconds_bucket{route="/extract",le="1.0"} 6
gleaner_request_seconds_bucket{route="/extract",le="+Inf"} 9
"""
GPU = "gleaner_gpu_utilization_ratio 0.9\ngleaner_gpu_memory_total_bytes 8e9\ngleaner_gpu_memory_used_bytes 2e9\n"


def snapshot(text: str, at: float) -> Snapshot:
    found = parse_metrics(text)
    assert found is not None
    return Snapshot(at, at, found.values)


def values(before: str, after: str) -> dict[Signal, float]:
    return published_values(snapshot(before, 0.0), snapshot(after, 10.0))


def test_refusals_are_only_those_for_lack_of_capacity() -> None:
    assert values(READY + BEFORE, READY + AFTER)[REFUSALS] == 3


def test_the_first_start_of_an_engine_is_no_restart_and_later_ones_are() -> None:
    assert values(READY + BEFORE, READY + AFTER)[RESTARTS] == 0
    later = AFTER.replace("engine_starts_total 1", "engine_starts_total 4")
    assert values(READY + AFTER, READY + later)[RESTARTS] == 3


def test_values_are_the_publishers_but_for_its_distributions() -> None:
    before, after = snapshot(READY + BEFORE + GPU, 0.0), snapshot(READY + AFTER + GPU, 10.0)
    published = {point.signal: point.values for point in measure(before, after)}
    assert REQUEST_SECONDS in published
    expected = {signal: found[0] for signal, found in published.items() if signal.kind is not Kind.DISTRIBUTION}
    assert published_values(before, after) == expected
    assert expected[GPU_UTILIZATION] == 90.0


def test_without_a_gpu_the_busy_ratio_stands_for_its_utilization() -> None:
    found = values(READY + BEFORE, READY + AFTER)
    assert found[BUSY_RATIO] == pytest.approx(0.4)
    assert found[GPU_UTILIZATION] == pytest.approx(40)
    assert (found[WORK_RATIO], found[MEMORY_SPLITS]) == (0.75, 2)


def test_a_task_that_starts_publishes_counts_and_no_levels() -> None:
    assert {signal.name for signal in values(STARTING, STARTING + AFTER)} == {
        "GpuLost",
        "Refusals",
        "Restarts",
        "MemorySplits",
    }
