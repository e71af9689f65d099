"""Batches of clients with a small backlog: whose documents are in them."""

from __future__ import annotations

from service.core.types import Priority
from tests.support.budgets import FixedBudget
from tests.support.submissions import keys, scheduler, submission

BUDGET = FixedBudget(1_000)


def test_it_holds_all_documents_of_small_clients_and_none_of_others() -> None:
    queue = scheduler()
    for number in range(9):
        queue.admit(submission(f"flood{number}", 200, client="flood"), 0.0, None)
    queue.admit(submission("one", 20, 10, client="one"), 0.0, None)
    queue.admit(submission("two", 50, client="two"), 0.0, None)
    queue.admit(submission("nightly", 10, client="two", priority=Priority.BATCH), 0.0, None)
    batch = queue.small_backlog_batch_of("m", BUDGET, ())
    assert batch is not None
    assert keys(batch) == ["one", "one", "two"]
    assert queue.load(0.0).running_tokens == batch.tokens == 80
    assert queue.small_backlog_batch_of("m", BUDGET, ()) is None
    queue.delivered(batch)
    assert "one" not in queue
    assert len(keys(queue.next_batch(BUDGET))) > 1


def test_many_small_clients_make_a_regular_batch() -> None:
    queue = scheduler()
    for number in range(6):
        queue.admit(submission(f"k{number}", 100, client=f"c{number}"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, ()) is None
    assert len(keys(queue.next_batch(BUDGET))) == 6


def test_what_an_engine_died_on_is_in_none() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 20, client="a", attempt=1), 0.0, None)
    queue.admit(submission("other", 20, client="b"), 0.0, None)
    assert keys(queue.small_backlog_batch_of("m", BUDGET, ())) == ["other"]


def test_it_fits_the_memory_that_there_is() -> None:
    queue = scheduler()
    for number in range(3):
        queue.admit(submission(f"k{number}", 40, client=f"c{number}"), 0.0, None)

    class Short(FixedBudget):
        def admits(self, model: str, shape: object) -> bool:
            return super().admits(model, shape) and shape.tokens <= 80  # type: ignore[attr-defined, arg-type]

    assert keys(queue.small_backlog_batch_of("m", Short(1_000), ())) == ["k0", "k1"]


def test_a_client_that_is_being_served_is_in_none() -> None:
    """A client that floods with single documents may have little waiting at a time; to part them would gain nobody."""
    queue = scheduler()
    queue.admit(submission("a0", 40, client="a"), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("a1", 40, client="a"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, [running]) is None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert keys(queue.small_backlog_batch_of("m", BUDGET, [running])) == ["b"]
    queue.cancel("a0")
    assert keys(queue.small_backlog_batch_of("m", BUDGET, [running])) == ["a1"]


def test_there_is_none_while_a_document_runs_that_an_engine_died_on() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 40, client="a", attempt=1), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert queue.small_backlog_batch_of("m", BUDGET, [running]) is None
