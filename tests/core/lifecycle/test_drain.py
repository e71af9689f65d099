"""Not ready → nothing new → finish what was let in → leave."""

from __future__ import annotations

from service.core.lifecycle.drain import WORKER_SILENCE_SECONDS, Drain, WorkerRegistry


def test_a_drain_admits_for_its_grace_and_is_overdue_at_its_end() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=2.0, drain_seconds=10.0)
    assert drain.admitting(101.9)
    assert not drain.admitting(102.0)
    assert not drain.overdue(111.9)
    assert drain.overdue(112.0)
    assert not drain.hopeless(113.9)
    assert drain.hopeless(114.0)


def test_nobody_waits_once_all_workers_know_and_answer_nothing() -> None:
    workers = WorkerRegistry(1)
    assert workers.heard(b"a", 1, False, now=0.0)
    assert not workers.heard(b"a", 1, True, now=1.0)
    assert not workers.all_closed_and_quiet()
    workers.heard(b"b", 0, False, now=1.0)
    workers.heard(b"a", 0, True, now=2.0)
    assert not workers.all_closed_and_quiet()
    workers.heard(b"b", 0, True, now=2.0)
    assert workers.all_closed_and_quiet()


def test_a_silent_worker_is_forgotten_once() -> None:
    workers = WorkerRegistry(1)
    workers.heard(b"a", 3, False, now=0.0)
    workers.heard(b"b", 0, True, now=4.0)
    assert workers.forget_silent(WORKER_SILENCE_SECONDS + 0.1) == [b"a"]
    assert list(workers) == [b"b"]
    assert workers.all_closed_and_quiet()


def test_a_drain_is_done_when_nobody_waits_after_its_grace_or_when_nobody_will_take_an_answer() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=2.0, drain_seconds=10.0)
    workers = WorkerRegistry(1)
    workers.heard(b"a", 0, True, now=100.0)
    assert not drain.is_done(workers, 101.9)
    assert drain.is_done(workers, 102.0)
    workers.heard(b"a", 1, True, now=103.0)
    assert not drain.is_done(workers, 113.9)
    assert drain.is_done(workers, 114.0)


def test_a_drain_waits_for_a_worker_that_has_not_reported_yet_but_not_for_ever() -> None:
    drain = Drain(begun_seconds=100.0, grace_seconds=0.0, drain_seconds=60.0)
    workers = WorkerRegistry(2)
    assert not drain.is_done(workers, 100.0)
    workers.heard(b"a", 0, True, now=100.0)
    assert not drain.is_done(workers, 100.1)
    assert drain.is_done(workers, 100.0 + WORKER_SILENCE_SECONDS)
    workers.heard(b"b", 0, True, now=100.2)
    assert drain.is_done(workers, 100.2)
