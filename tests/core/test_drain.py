"""The registry of API workers, and a drain that waits for them."""

from __future__ import annotations

from service.core.drain import WORKER_SILENCE_SECONDS, Drain, WorkerRegistry
from service.core.worker_load import IDLE, WorkerLoad


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
