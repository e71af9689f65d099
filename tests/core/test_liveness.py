"""Liveness: suspended time, heartbeats, stalls, hung batches, restarts, lost GPUs, and a drain's workers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.drain import WORKER_SILENCE_SECONDS, Drain, WorkerRegistry
from service.core.gpu_reading import GpuReading
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
from service.core.worker_load import IDLE, WorkerLoad


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


def test_all_workers_are_closed_and_idle_only_when_each_is() -> None:
    workers = WorkerRegistry(1)
    assert workers.record_heartbeat(b"a", 1, False, now=0.0)
    assert not workers.record_heartbeat(b"a", 1, True, now=1.0)
    assert not workers.closed_and_idle()
    workers.record_heartbeat(b"b", 0, False, now=1.0)
    workers.record_heartbeat(b"a", 0, True, now=2.0)
    assert not workers.closed_and_idle()
    workers.record_heartbeat(b"b", 0, True, now=2.0)
    assert workers.closed_and_idle()


def test_a_silent_worker_is_forgotten_once() -> None:
    workers = WorkerRegistry(1)
    workers.record_heartbeat(b"a", 3, False, now=0.0)
    workers.record_heartbeat(b"b", 0, True, now=4.0)
    assert workers.forget_silent(WORKER_SILENCE_SECONDS + 0.1) == [b"a"]
    assert list(workers) == [b"b"]
    assert workers.closed_and_idle()


def test_a_revision_is_done_when_unused_and_all_know_of_the_next() -> None:
    workers = WorkerRegistry(2)
    assert workers.done_with("old", version=2), "nobody is there to use it"
    workers.record_heartbeat(b"a", 0, False, now=0.0, version=2, revisions=())
    workers.record_heartbeat(b"b", 1, False, now=0.0, version=2, revisions=("old",))
    assert not workers.done_with("old", version=2)
    workers.record_heartbeat(b"b", 0, False, now=1.0, version=1, revisions=())
    assert not workers.done_with("old", version=2)
    workers.record_heartbeat(b"b", 0, False, now=2.0, version=2, revisions=())
    assert workers.done_with("old", version=2)


def test_the_front_is_as_busy_as_its_workers_on_average() -> None:
    workers = WorkerRegistry(2)
    assert workers.worker_load == IDLE
    workers.record_heartbeat(b"a", 0, False, now=0.0, worker_load=WorkerLoad(0.5, 1.0, 4.0))
    workers.record_heartbeat(b"b", 0, False, now=0.0)
    assert workers.worker_load == WorkerLoad(0.25, 0.5, 2.0)


def test_a_drain_admits_during_its_grace_and_times_out_at_its_end() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=2.0, drain_seconds=10.0)
    assert drain.admitting(101.9)
    assert not drain.admitting(102.0)
    assert not drain.timed_out(111.9)
    assert drain.timed_out(112.0)
    assert not drain.abandoned(113.9)
    assert drain.abandoned(114.0)


def test_a_drain_is_done_when_all_workers_are_idle_or_after_its_time_out() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=2.0, drain_seconds=10.0)
    workers = WorkerRegistry(1)
    workers.record_heartbeat(b"a", 0, True, now=100.0)
    assert not drain.is_done(workers, 101.9)
    assert drain.is_done(workers, 102.0)
    workers.record_heartbeat(b"a", 1, True, now=103.0)
    assert not drain.is_done(workers, 113.9)
    assert drain.is_done(workers, 114.0)


def test_a_drain_waits_for_a_worker_that_has_not_reported_for_a_while() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=0.0, drain_seconds=60.0)
    workers = WorkerRegistry(2)
    assert not drain.is_done(workers, 100.0)
    workers.record_heartbeat(b"a", 0, True, now=100.0)
    assert not drain.is_done(workers, 100.1)
    assert drain.is_done(workers, 100.0 + WORKER_SILENCE_SECONDS)
    workers.record_heartbeat(b"b", 0, True, now=100.2)
    assert drain.is_done(workers, 100.2)


@pytest.mark.parametrize("xid", [46, 62, 79, 95, 109, 119, 120, 136, 140, 143])
def test_after_some_driver_errors_only_a_reset_helps(xid: int) -> None:
    for action in (None, 0):
        fatal = GpuReading(xids=(13, xid), recovery_action=action).fatal
        assert fatal is not None
        assert f"(XID {xid})" in fatal


@pytest.mark.parametrize("xid", [13, 31, 43, 45, 63, 64, 74, 92, 94, 154])
def test_other_driver_errors_are_of_a_process_or_repaired(xid: int) -> None:
    assert GpuReading(xids=(xid,)).fatal is None


@pytest.mark.parametrize(
    ("reading", "fatal"),
    [
        (GpuReading(xids=(48,)), "an uncorrectable memory error (XID 48)"),
        (GpuReading(xids=(48, 94)), None),
        (GpuReading(xids=(48,), recovery_action=0), None),
        (GpuReading(xids=(48, 95), recovery_action=0), "an uncontained memory error (XID 95)"),
        (GpuReading(xids=(48, 154), recovery_action=1), "an uncorrectable memory error (XID 48)"),
    ],
)
def test_a_memory_error_that_the_gpu_contained_costs_a_process_only(reading: GpuReading, fatal: str | None) -> None:
    assert reading.fatal == fatal


@pytest.mark.parametrize("action", [0, 3, 4, 5, None])
def test_what_is_to_be_done_later_does_not_take_the_gpu_away(action: int | None) -> None:
    assert GpuReading(recovery_action=action).fatal is None


@pytest.mark.parametrize("action", [1, 2, 6, 7])
def test_what_is_to_be_done_first_takes_it_away(action: int) -> None:
    assert "the driver asks for a re" in (GpuReading(recovery_action=action).fatal or "")
