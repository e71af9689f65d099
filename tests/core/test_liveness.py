"""Liveness: suspended time, heartbeats, stalls, hung batches, restarts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.liveness import (
    FLOOR_SECONDS,
    MOST_GAP_SECONDS,
    MOST_SECONDS,
    MULTIPLE,
    BatchWatchdog,
    HeartbeatTimeout,
    RestartLimit,
    StallDetector,
    SuspendAwareClock,
)


def test_time_counts_while_the_process_ticks_and_a_pause_counts_as_one_gap() -> None:
    clock = SuspendAwareClock()
    assert [clock.tick(now) for now in (100.0, 100.5, 101.5)] == [0.0, 0.5, 1.5]
    assert clock.resumed_seconds < 0
    assert clock.tick(3_701.5) == 1.5 + MOST_GAP_SECONDS
    assert clock.resumed_seconds == 3_701.5
    assert clock.tick(3_702.0) == 2.0 + MOST_GAP_SECONDS


@given(st.lists(st.floats(0, 1e6)))
def test_it_never_runs_backwards_nor_faster_than_time(times: list[float]) -> None:
    clock = SuspendAwareClock()
    counted = [clock.tick(now) for now in times]
    assert counted == sorted(counted)
    assert not times or counted[-1] <= max(times) - min(times) + 1e-9 or times != sorted(times)


def test_silence_grows_until_something_is_heard() -> None:
    silence = HeartbeatTimeout()
    assert [silence.tick(now) for now in (10.0, 11.0, 12.0)] == [0.0, 1.0, 2.0]
    silence.heard()
    assert silence.seconds == 0.0
    assert silence.tick(12.5) == 0.5


def test_a_pause_of_the_listener_is_no_silence_of_the_other() -> None:
    silence = HeartbeatTimeout()
    silence.tick(10.0)
    assert silence.tick(10_000.0) == MOST_GAP_SECONDS


def test_a_mark_that_changes_never_stands_still() -> None:
    standstill = StallDetector()
    assert [standstill.seconds(mark, mark * 10.0) for mark in range(4)] == [0.0] * 4


def test_a_mark_stands_still_since_it_was_first_seen() -> None:
    standstill = StallDetector()
    assert [standstill.seconds(7, awake) for awake in (5.0, 6.0, 25.0)] == [0.0, 1.0, 20.0]
    assert [standstill.seconds(8, awake) for awake in (26.0, 27.0)] == [0.0, 1.0]


def test_before_the_first_mark_nothing_stands_still() -> None:
    standstill = StallDetector()
    assert [standstill.seconds(None, awake) for awake in (0.0, 1_000.0)] == [0.0, 0.0]
    assert standstill.seconds(1, 1_001.0) == 0.0
    assert standstill.seconds(None, 2_000.0) == 0.0


def test_a_batch_without_progress_hangs_after_the_limit() -> None:
    watch = BatchWatchdog()
    assert not watch.hung_seconds((1, 1), 0.0)
    assert not watch.hung_seconds((1, 1), FLOOR_SECONDS)
    assert not watch.hung_seconds((2, 1), FLOOR_SECONDS + 1)
    assert not watch.hung_seconds(None, 2 * FLOOR_SECONDS + 2)
    assert not watch.hung_seconds((3, 1), 1_000.0)
    assert watch.hung_seconds((3, 1), 1_000.0 + FLOOR_SECONDS + 0.1)


def test_the_limit_is_a_multiple_of_the_longest_batch_within_bounds() -> None:
    watch = BatchWatchdog()
    for seconds, limit in ((0.2, FLOOR_SECONDS), (20.0, 20 * MULTIPLE), (3.0, 20 * MULTIPLE), (1e4, MOST_SECONDS)):
        watch.measured(seconds)
        assert watch.limit_seconds == limit


def test_each_further_try_of_a_split_batch_is_progress() -> None:
    watch = BatchWatchdog()
    assert not any(watch.hung_seconds((1, attempts), attempts * FLOOR_SECONDS) for attempts in range(1, 50))


def test_a_batch_that_has_not_begun_waits_for_other_work_of_the_device() -> None:
    watch = BatchWatchdog()
    assert not watch.hung_seconds((1, 0), 0.0)
    assert not watch.hung_seconds((1, 0), MOST_SECONDS)
    assert watch.hung_seconds((1, 0), MOST_SECONDS + 0.1)


def test_two_deaths_are_forgiven_and_the_third_within_a_minute_is_not() -> None:
    limit = RestartLimit()
    assert [limit.allows(now) for now in (0.0, 20.0, 59.0)] == [True, True, False]


def test_deaths_far_apart_are_always_forgiven() -> None:
    limit = RestartLimit()
    assert all(limit.allows(now * 40.0) for now in range(10))


def test_a_limit_for_several_processes_counts_them_together() -> None:
    limit = RestartLimit(most_deaths=6)
    assert [limit.allows(float(now)) for now in range(7)] == [True] * 5 + [False] * 2
    assert limit.allows(100.0)
