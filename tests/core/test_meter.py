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
    assert meter.computed(1000, 10.0, 10.5) == pytest.approx(0.5)
    assert meter.computed(1000, 20.0, 20.5) == pytest.approx(0.5)
    assert meter.tokens_per_second == pytest.approx(2000)
    assert meter.busy_seconds == pytest.approx(1.0)


def test_time_that_two_batches_share_counts_once() -> None:
    meter = Meter()
    meter.computed(1000, 0.0, 1.0)
    assert meter.computed(1000, 0.4, 1.8) == pytest.approx(0.8)
    assert meter.computed(10, 0.5, 1.7) == 0.0
    assert meter.busy_seconds == pytest.approx(1.8)


def test_steady_arrivals_give_their_rate() -> None:
    meter = Meter()
    meter.computed(1000, 0.0, 1.0)
    for tenth in range(3000):
        meter.arrived(50, tenth / 10)
    assert meter.arrived_tokens_per_second(300.0) == pytest.approx(500, rel=0.02)
    assert meter.work_ratio(300.0) == pytest.approx(0.5, rel=0.02)


def test_refused_work_counts_as_backlog_and_is_forgotten() -> None:
    meter = Meter()
    meter.computed(100, 0.0, 1.0)
    meter.refused(1000, 0.0)
    assert meter.backlog_seconds(500, 0.0) == pytest.approx(15.0)
    assert meter.backlog_seconds(500, 300.0) == pytest.approx(5.0, rel=0.01)
