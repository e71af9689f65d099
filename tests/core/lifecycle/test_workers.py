"""Worker registry: heartbeats, silence, and when all workers are closed and idle."""

from __future__ import annotations

from service.core.lifecycle.workers import WORKER_SILENCE_SECONDS, WorkerRegistry
from service.core.parsers.front_load import IDLE, FrontLoad


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


def test_a_revision_is_done_with_when_nobody_uses_it_and_all_know_of_the_next() -> None:
    workers = WorkerRegistry(2)
    assert workers.done_with("old", version=2), "nobody is there to use it"
    workers.record_heartbeat(b"a", 0, False, now=0.0, version=2, revisions=())
    workers.record_heartbeat(b"b", 1, False, now=0.0, version=2, revisions=("old",))
    assert not workers.done_with("old", version=2)
    workers.record_heartbeat(b"b", 0, False, now=1.0, version=1, revisions=())
    assert not workers.done_with("old", version=2)
    workers.record_heartbeat(b"b", 0, False, now=2.0, version=2, revisions=())
    assert workers.done_with("old", version=2)


def test_workers_are_idle_and_complete_by_what_they_reported() -> None:
    workers = WorkerRegistry(2)
    workers.record_heartbeat(b"a", 0, False, now=0.0)
    assert workers.idle()
    assert not workers.all_reported()
    workers.record_heartbeat(b"b", 1, False, now=0.0)
    assert workers.all_reported()
    assert not workers.idle()


def test_the_front_is_as_busy_as_its_workers_on_average() -> None:
    workers = WorkerRegistry(2)
    assert workers.front == IDLE
    workers.record_heartbeat(b"a", 0, False, now=0.0, front=FrontLoad(0.5, 1.0, 4.0))
    workers.record_heartbeat(b"b", 0, False, now=0.0)
    assert workers.front == FrontLoad(0.25, 0.5, 2.0)
