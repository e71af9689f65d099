"""What the rehearsal takes for published is what the publisher publishes."""

from __future__ import annotations

import pytest

from loadtest.scaling import readings
from loadtest.telemetry.exposition import read
from service.signals import points
from service.signals.catalog import BUSY_RATIO, GPU_UTILIZATION, WORK_RATIO
from service.signals.points import Series, Snapshot, measure

READY = 'gleaner_phase{phase="ready"} 1\n'
BEFORE = READY + "gleaner_busy_seconds_total 3\ngleaner_memory_splits_total 1\n"
AFTER = READY + "gleaner_busy_seconds_total 7\ngleaner_memory_splits_total 3\ngleaner_work_ratio 0.75\n"


def test_names_are_the_publishers() -> None:
    assert readings.LEVELS == points.LEVELS
    assert readings.COUNTS == points.COUNTS
    assert (readings.BUSY, readings.PHASE) == (points.BUSY_NAME, points.PHASE_NAME)


def test_values_are_the_publishers() -> None:
    ours = readings.readings(read(BEFORE), read(AFTER), 10.0)
    theirs = measure(_snapshot(0.0, BEFORE), _snapshot(10.0, AFTER))
    published = {point.signal: point.values[0] for point in theirs}
    assert {signal: ours[signal] for signal in ours if signal in published} == {
        signal: published[signal] for signal in published if signal in ours
    }
    assert ours[WORK_RATIO] == 0.75
    assert ours[GPU_UTILIZATION] == 100 * ours[BUSY_RATIO] == pytest.approx(40)


def test_a_task_that_starts_has_no_share_of_the_work() -> None:
    starting = AFTER.replace(READY, 'gleaner_phase{phase="ready"} 0\n')
    assert WORK_RATIO not in readings.readings(read(BEFORE), read(starting), 10.0)


def _snapshot(at: float, text: str) -> Snapshot:
    values: dict[Series, float] = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        labels = {"phase": "ready"} if "{" in name else {}
        values[name.partition("{")[0], tuple(labels.items())] = float(value)
    return Snapshot(at, at, values)
