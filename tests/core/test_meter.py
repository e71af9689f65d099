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
    assert meter.computed(1000, 10.0, 10.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.computed(1000, 20.0, 20.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.tokens_per_second == pytest.approx(2000)
    assert meter.busy_seconds == pytest.approx(1.0)


def test_time_that_two_batches_share_counts_once() -> None:
    meter = Meter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    assert meter.computed(1000, 0.4, 1.8, full_tokens=1000) == pytest.approx(0.8)
    assert meter.computed(10, 0.5, 1.7, full_tokens=1000) == 0.0
    assert meter.busy_seconds == pytest.approx(1.8)


def test_steady_arrivals_give_their_rate() -> None:
    meter = Meter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    for tenth in range(3000):
        meter.arrived(50, tenth / 10)
    assert meter.arrived_tokens_per_second(300.0) == pytest.approx(500, rel=0.02)
    assert meter.work_ratio(300.0) == pytest.approx(0.5, rel=0.02)


def test_refused_work_counts_as_backlog_and_is_forgotten() -> None:
    meter = Meter()
    meter.computed(100, 0.0, 1.0, full_tokens=1000)
    meter.refused(1000, 0.0)
    assert meter.backlog_seconds(500, 0.0) == pytest.approx(15.0)
    assert meter.backlog_seconds(500, 300.0) == pytest.approx(5.0, rel=0.01)


def test_light_load_of_small_batches_is_measured_against_what_full_ones_would_do() -> None:
    meter = Meter()
    for number in range(300):
        tokens = (40, 120, 250)[number % 3]
        meter.arrived(tokens, number / 10)
        meter.computed(tokens, number / 10, number / 10 + 0.008 + 2.5e-5 * tokens, full_tokens=1000)
    capacity = 1000 / (0.008 + 2.5e-5 * 1000)
    assert meter.tokens_per_second == pytest.approx(capacity, rel=0.05)
    assert meter.work_ratio(30.0) == pytest.approx(410 / 0.3 / capacity, rel=0.2)
    assert meter.backlog_seconds(10_000, 30.0) == pytest.approx(10_000 / capacity, rel=0.05)
