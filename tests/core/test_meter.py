"""Capacity and demand from events."""

from __future__ import annotations

import pytest

from service.core.meter import Meter


def test_speed_is_unknown_before_the_first_batch() -> None:
    meter = Meter()
    assert meter.tokens_per_second is None
    assert meter.work_ratio(0.0) == 0.0
    assert meter.backlog_seconds(100, 0.0) == 0.0


def test_speed_is_tokens_over_device_seconds() -> None:
    meter = Meter()
    meter.computed(1000, 0.5)
    meter.computed(1000, 0.5)
    assert meter.tokens_per_second == pytest.approx(2000)
    assert meter.busy_seconds == pytest.approx(1.0)


def test_steady_arrivals_give_their_rate() -> None:
    meter = Meter()
    meter.computed(1000, 1.0)
    for tenth in range(3000):
        meter.arrived(50, tenth / 10)
    assert meter.arrived_tokens_per_second(300.0) == pytest.approx(500, rel=0.02)
    assert meter.work_ratio(300.0) == pytest.approx(0.5, rel=0.02)


def test_refused_work_counts_as_backlog_and_is_forgotten() -> None:
    meter = Meter()
    meter.computed(100, 1.0)
    meter.refused(1000, 0.0)
    assert meter.backlog_seconds(500, 0.0) == pytest.approx(15.0)
    assert meter.backlog_seconds(500, 300.0) == pytest.approx(5.0, rel=0.01)
