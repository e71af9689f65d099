"""Drain: grace, admission closed, admitted work finished, exit."""

from __future__ import annotations

from service.core.lifecycle.drain import Drain
from service.core.lifecycle.workers import WORKER_SILENCE_SECONDS, WorkerRegistry


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
