"""Capacity and demand from events."""

from __future__ import annotations

import pytest

from service.core.scheduling.batch_latency import TimedBatch
from service.core.scheduling.throughput import ThroughputMeter
from tests.support.submissions import scheduler, submission


def test_speed_is_unknown_before_the_first_batch() -> None:
    meter = ThroughputMeter()
    assert meter.tokens_per_second is None
    assert meter.work_ratio(0.0) == 0.0
    assert meter.backlog_seconds(100, 0.0) == 0.0


def test_speed_is_tokens_over_device_seconds() -> None:
    meter = ThroughputMeter()
    assert meter.computed(1000, 10.0, 10.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.computed(1000, 20.0, 20.5, full_tokens=1000) == pytest.approx(0.5)
    assert meter.tokens_per_second == pytest.approx(2000)
    assert meter.busy_seconds == pytest.approx(1.0)


def test_a_batch_of_the_warm_up_shows_the_speed_and_is_no_work() -> None:
    meter = ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.02), full_tokens=2048)
    assert meter.tokens_per_second == pytest.approx(25_600)
    assert meter.busy_seconds == 0.0
    assert meter.arrived_tokens_per_second(0.0) == 0.0


def test_where_a_full_batch_holds_nothing_there_is_no_speed() -> None:
    meter = ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.02), full_tokens=0)
    meter.warmed(TimedBatch(128, 0.02), full_tokens=0)
    assert meter.tokens_per_second is None


def test_after_one_tiny_document_a_warm_engine_still_lets_in_a_very_long_one() -> None:
    """Ten tokens in 20 ms are 500 a second: 160,000 would take longer than the 300 s that a request has by default."""
    meter, cold = ThroughputMeter(), ThroughputMeter()
    meter.warmed(TimedBatch(512, 0.04), full_tokens=2048)
    for each in (meter, cold):
        each.computed(10, 1.0, 1.02, full_tokens=2048)
    book = submission("book", *[500] * 320, deadline_seconds=302.0)
    refusal = scheduler().admit(book, 2.0, cold.tokens_per_second)
    assert refusal is not None
    assert refusal.code == "deadline_exceeded"
    assert scheduler().admit(book, 2.0, meter.tokens_per_second) is None


def test_time_that_two_batches_share_counts_once() -> None:
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    assert meter.computed(1000, 0.4, 1.8, full_tokens=1000) == pytest.approx(0.8)
    assert meter.computed(10, 0.5, 1.7, full_tokens=1000) == 0.0
    assert meter.busy_seconds == pytest.approx(1.8)


def test_steady_arrivals_give_their_rate() -> None:
    meter = ThroughputMeter()
    meter.computed(1000, 0.0, 1.0, full_tokens=1000)
    for tenth in range(3000):
        meter.arrived(50, tenth / 10)
    assert meter.arrived_tokens_per_second(300.0) == pytest.approx(500, rel=0.02)
    assert meter.work_ratio(300.0) == pytest.approx(0.5, rel=0.02)


def test_refused_work_counts_as_backlog_and_is_forgotten() -> None:
    meter = ThroughputMeter()
    meter.computed(100, 0.0, 1.0, full_tokens=1000)
    meter.refused(1000, 0.0)
    assert meter.backlog_seconds(500, 0.0) == pytest.approx(15.0)
    assert meter.backlog_seconds(500, 300.0) == pytest.approx(5.0, rel=0.01)


def test_small_batches_predict_the_throughput_of_full_ones() -> None:
    meter = ThroughputMeter()
    for number in range(300):
        tokens = (40, 120, 250)[number % 3]
        meter.arrived(tokens, number / 10)
        meter.computed(tokens, number / 10, number / 10 + 0.008 + 2.5e-5 * tokens, full_tokens=1000)
    capacity = 1000 / (0.008 + 2.5e-5 * 1000)
    assert meter.tokens_per_second == pytest.approx(capacity, rel=0.05)
    assert meter.work_ratio(30.0) == pytest.approx(410 / 0.3 / capacity, rel=0.2)
    assert meter.backlog_seconds(10_000, 30.0) == pytest.approx(10_000 / capacity, rel=0.05)
