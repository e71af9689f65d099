"""Deadlines of what waits: who is too late expires, who was let in is in time, also in overload."""

from __future__ import annotations

import pytest

from service.core.types import Batch
from tests.support.budgets import FixedBudget
from tests.support.submissions import keys, scheduler, submission


def test_who_waited_too_long_expires() -> None:
    queue = scheduler()
    queue.admit(submission("a", 100, deadline_seconds=5.0), 0.0, None)
    assert queue.expire(4.9, None) == []
    assert [refusal.key for refusal, _ in queue.expire(5.1, None)] == ["a"]
    assert queue.next_batch(FixedBudget(512)) is None
    assert "a" not in set(queue)


def test_expiry_looks_ahead_by_the_time_that_is_still_needed() -> None:
    queue = scheduler()
    queue.admit(submission("a", 100, deadline_seconds=5.0), 0.0, 100.0)
    assert [refusal.code for refusal, _ in queue.expire(4.1, 100.0)] == ["deadline_exceeded"]


def test_what_an_idle_engine_could_not_finish_either_is_too_long() -> None:
    """The device turned out to be slower than when the document was admitted."""
    codes = {}
    for allowed in (5.0, 2.0):
        queue = scheduler()
        queue.admit(submission("a", 100, deadline_seconds=2.0, allowed_seconds=allowed), 0.0, 100.0)
        queue.admit(submission("b", 4), 0.0, 100.0)
        codes[allowed] = [(each.code, each.retry_after_seconds) for each, _ in queue.expire(0.1, 40.0, lambda _: 40.0)]
    assert codes == {5.0: [("deadline_exceeded", 0.1)], 2.0: [("too_long_for_deadline", None)]}


@pytest.mark.parametrize(("others", "now", "late"), [(0, 0.9, False), (0, 1.1, True), (1, 0.9, True)])
def test_a_bad_moment_ends_no_document_that_is_alone(others: int, now: float, late: bool) -> None:
    """The device has a tenth of the speed that the document was admitted by; who waits beside it needs its place."""
    queue = scheduler()
    queue.admit(submission("a", 100, deadline_seconds=2.0), 0.0, 100.0)
    for number in range(others):
        queue.admit(submission(str(number), 1), 0.0, 100.0)
    assert [refusal.key for refusal, _ in queue.expire(now, 10.0, lambda _: 10.0)] == ["a"] * late


class Device:
    """1,000 tokens a second in batches of 400, on a clock of its own; `slower`: what it really does of that."""

    SPEED = 1_000.0

    def __init__(self, slower: float = 1.0) -> None:
        self.queue = scheduler(queue_tokens=1_000_000)
        self.slower = slower
        self.free_at = 0.0
        self.batch: Batch | None = None
        self.left: dict[str, tuple[int, float]] = {}
        self.kept = self.broken = 0

    def arrive(self, number: int, lengths: tuple[int, ...], now: float) -> None:
        new = submission(str(number), *lengths, deadline_seconds=now + 4.0)
        if self.queue.admit(new, now, self.SPEED) is None:
            self.left[new.key] = (len(lengths), now + 4.0)

    def step(self, now: float) -> None:
        for refusal, _ in self.queue.expire(now, self.SPEED):
            del self.left[refusal.key]
            self.broken += 1
        if now >= self.free_at:
            if self.batch is not None:
                self.queue.delivered(self.batch)
                for key in keys(self.batch):
                    self.note(key, now)
            self.batch = self.queue.next_batch(FixedBudget(400))
            self.free_at = now + self.batch.tokens / (self.SPEED * self.slower) if self.batch else now

    def note(self, key: str, now: float) -> None:
        if key in self.left:
            sequences, deadline = self.left.pop(key)
            if sequences > 1:
                self.left[key] = (sequences - 1, deadline)
            else:
                self.kept += now <= deadline
                self.broken += now > deadline

    def run(self, lengths: tuple[int, ...], seconds: float, times: float) -> float:
        """Ask for so many times of what it can; the share of its work that went into answers in time."""
        now = next_arrival = 0.0
        number = 0
        while now < seconds:
            if now >= next_arrival:
                self.arrive(number, lengths, now)
                number, next_arrival = number + 1, now + sum(lengths) / self.SPEED / times
            self.step(now)
            now = min(next_arrival, self.free_at) if self.batch else next_arrival
        return self.kept * sum(lengths) / (seconds * self.SPEED * self.slower)


@pytest.mark.parametrize("lengths", [(200,), (200,) * 5, (390,) * 3], ids=str)
@pytest.mark.parametrize("times", [1.5, 10.0])
def test_in_overload_all_that_is_let_in_keeps_its_deadline(lengths: tuple[int, ...], times: float) -> None:
    """Also long documents: fair sharing alone lets them advance side by side until all of them are late."""
    device = Device()
    goodput = device.run(lengths, 120.0, times)
    assert device.broken == 0
    assert goodput > 0.9


def test_a_slower_device_still_answers_the_kept_documents_in_time() -> None:
    """Some must be given up; they are given up early, and the work goes to those that can be in time."""
    assert Device(slower=0.8).run((200,) * 5, 120.0, 10.0) > 0.7


def test_an_urgent_document_goes_first_within_its_client_only() -> None:
    queue = scheduler()
    queue.admit(submission("later", 100, deadline_seconds=100.0), 0.0, 100.0)
    queue.admit(submission("hurried", 100, deadline_seconds=10.0), 1.0, 100.0)
    queue.admit(submission("other", 100, client="d"), 1.0, 100.0)
    queue.expire(8.5, 100.0)
    assert keys(queue.next_batch(FixedBudget(200))) == ["hurried", "other"]
