"""Admission to the engine's queue: limits, shares, waiting and deadlines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.tenants import ClientQuota
from service.core.types import Priority, Refusal
from tests.support.budgets import FixedBudget
from tests.support.submissions import scheduler, submission


def test_a_full_queue_refuses_and_says_for_how_long() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", 80), 0.0, 10.0) is None
    refusal = queue.admit(submission("b", 40), 0.0, 10.0)
    assert refusal is not None
    assert refusal.code == "queue_full"
    assert refusal.retry_after_seconds == pytest.approx(2.0)


def test_a_document_over_the_queue_limit_passes_an_empty_queue() -> None:
    queue = scheduler(queue_tokens=100)
    assert queue.admit(submission("a", *[50] * 10), 0.0, None) is None


def test_a_deadline_that_cannot_be_met_is_refused_at_the_door() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, 100.0)
    refusal = queue.admit(submission("b", 400, deadline_seconds=5.0), 0.0, 100.0)
    assert refusal is not None
    assert refusal.code == "deadline_exceeded"
    assert queue.admit(submission("c", 400, deadline_seconds=10.0), 0.0, 100.0) is None


def test_a_short_document_is_not_refused_for_a_long_one_before_it() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[500] * 1000), 0.0, 1000.0)
    assert queue.admit(submission("short", 100, deadline_seconds=1.0), 0.0, 1000.0) is None


def test_a_model_that_fills_the_queue_does_not_shut_the_door_on_the_others() -> None:
    queue = scheduler(queue_tokens=100)
    queue.set_weight("flood", 1.0)
    queue.set_weight("quiet", 1.0)
    assert queue.admit(submission("a", 100, model="flood"), 0.0, 10.0) is None
    assert queue.admit(submission("b", 50, model="quiet"), 0.0, 10.0) is None
    for key, model in (("c", "flood"), ("d", "quiet")):
        refusal = queue.admit(submission(key, 10, model=model), 0.0, 10.0)
        assert refusal is not None
        assert refusal.code == "queue_full"


def test_a_document_that_would_make_others_late_is_refused() -> None:
    queue = scheduler()
    assert queue.admit(submission("promised", 400, deadline_seconds=5.0), 0.0, 100.0) is None
    queue.expire(0.1, 100.0)
    refusal = queue.admit(submission("pusher", 100, deadline_seconds=4.9), 0.1, 100.0)
    assert refusal is not None
    assert "would miss their deadlines" in refusal.detail


SPEED = 1_000.0
LIMIT_SECONDS = 0.5
ENDLESS = 10**9


def limited(*waiting: tuple[str, tuple[int, ...]], seconds: float = LIMIT_SECONDS) -> Scheduler[str]:
    """A queue with these clients' documents, each with the lengths of its sequences."""
    queue: Scheduler[str] = Scheduler(QueueLimits(ENDLESS, seconds))
    for number, (client, lengths) in enumerate(waiting):
        assert queue.admit(submission(str(number), *lengths, client=client), 0.0, None) is None
    return queue


SHORT = ("a", (100,))
BOOK = ("a", (100,) * 500)


@dataclass(frozen=True)
class Case:
    waiting: tuple[tuple[str, tuple[int, ...]], ...]
    client: str = "a"
    lengths: tuple[int, ...] = (100,)
    priority: Priority = Priority.INTERACTIVE
    readmitted: bool = False


ADMITTED = {
    "nothing waits": Case(()),
    "as much waits as the limit": Case((SHORT,) * 5),
    "a long document where little waits": Case((SHORT,), lengths=(100,) * 10_000),
    "a short one beside a book, which takes turns": Case((BOOK,)),
    "a client who has nothing here": Case((SHORT,) * 60, client="b"),
    "what an engine that died had": Case((SHORT,) * 60, readmitted=True),
}
REFUSED = {
    "more waits": Case((SHORT,) * 6),
    "a round of books takes longer": Case((BOOK,) * 6),
    "a client in turn with another": Case((SHORT,) * 60 + (("b", (100,)),) * 3, client="b"),
    "batch work, which has a small share": Case((SHORT,) * 6, priority=Priority.BATCH),
}


def answer(case: Case) -> Refusal | None:
    new = submission("new", *case.lengths, client=case.client, priority=case.priority, readmitted=case.readmitted)
    return limited(*case.waiting).admit(new, 0.0, SPEED)


@pytest.mark.parametrize("case", ADMITTED.values(), ids=ADMITTED)
def test_what_begins_in_time_is_admitted(case: Case) -> None:
    assert answer(case) is None


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_what_would_wait_too_long_is_refused_and_told_when_to_come_again(case: Case) -> None:
    refusal = answer(case)
    assert refusal is not None
    assert refusal.code == "queue_full"
    assert refusal.retry_after_seconds is not None
    assert 0 < refusal.retry_after_seconds < 1


def test_without_a_limit_or_a_known_speed_nobody_is_refused() -> None:
    assert limited(*(SHORT,) * 60, seconds=float("inf")).admit(submission("new", 100), 0.0, SPEED) is None
    assert limited(*(SHORT,) * 60).admit(submission("new", 100), 0.0, None) is None


def test_a_client_of_more_weight_waits_less() -> None:
    heavy = ClientQuota(weight=9.0)
    queue = limited(*(SHORT,) * 60, *(("b", (100,)),) * 2)
    assert queue.admit(submission("heavy", 100, client="b", quota=heavy), 0.0, SPEED) is None
    assert limited(*(SHORT,) * 60, *(("b", (100,)),) * 3).admit(submission("light", 100, client="b"), 0.0, SPEED)


@pytest.mark.parametrize("lengths", [(100,), (100,) * 4], ids=["one sequence", "four"])
def test_at_three_times_the_load_documents_begin_within_the_limit(lengths: tuple[int, ...]) -> None:
    queue, memory = limited(), FixedBudget(200)
    begun: dict[str, float] = {}
    came: dict[str, float] = {}
    now, free_at, refused = 0.0, 0.0, 0
    for number in range(3_000 // len(lengths)):
        now = number * sum(lengths) / SPEED / 3
        while free_at <= now and (batch := queue.next_batch(memory)) is not None:
            start = max(free_at, max(came[each.key] for each in batch.sequences))
            for sequence in batch.sequences:
                begun.setdefault(sequence.key, start)
            free_at = start + batch.tokens / SPEED
            queue.delivered(batch)
        new = submission(str(number), *lengths)
        if queue.admit(new, now, SPEED) is None:
            came[new.key] = now
        else:
            refused += 1
    waits = sorted(begun[key] - came[key] for key in begun)
    assert refused > 0.5 * 3_000 / len(lengths)
    assert 0.5 * LIMIT_SECONDS < waits[int(0.99 * len(waits))] < 1.7 * LIMIT_SECONDS
