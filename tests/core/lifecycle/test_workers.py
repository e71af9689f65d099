"""Worker registry: heartbeats, silence, and when all workers are closed and idle."""

from __future__ import annotations

from service.core.lifecycle.workers import WORKER_SILENCE_SECONDS, WorkerRegistry


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
