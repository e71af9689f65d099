"""Batches of what waits: within the budget, without gaps, suspects alone, and right sums."""

from __future__ import annotations

from service.core.types import Shape
from tests.support.budgets import FixedBudget
from tests.support.submissions import keys, scheduler, submission


def test_a_lone_document_runs_at_once() -> None:
    queue = scheduler()
    assert queue.admit(submission("a", 10, 20), 0.0, None) is None
    batch = queue.next_batch(FixedBudget(512))
    assert batch is not None
    assert [(s.key, s.index, s.tokens) for s in batch.sequences] == [("a", 0, 10), ("a", 1, 20)]
    assert batch.tokens == 30


def test_nothing_waits_then_no_batch() -> None:
    assert scheduler().next_batch(FixedBudget(512)) is None


class FewSequences(FixedBudget):
    """Admits a batch only while its sequences are few."""

    def admits(self, model: str, shape: Shape) -> bool:
        return shape.sequences <= 2


def test_a_batch_is_never_of_a_shape_that_the_memory_model_does_not_admit() -> None:
    queue = scheduler()
    queue.admit(submission("a", *[10] * 5), 0.0, None)
    shapes = [batch.shape if (batch := queue.next_batch(FewSequences(1_000))) else None for _ in range(4)]
    assert shapes == [Shape(20, 10, 2), Shape(20, 10, 2), Shape(10, 10, 1), None]


def test_a_cancelled_document_is_not_run() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None, "payload of a")
    queue.admit(submission("b", 10), 0.0, None)
    assert queue.cancel("a") == "payload of a"
    assert queue.cancel("a") is None
    assert keys(queue.next_batch(FixedBudget(512))) == ["b"]


def test_cancelling_what_runs_leaves_the_count_right() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, 500), 0.0, None)
    batch = queue.next_batch(FixedBudget(100))
    assert batch is not None
    queue.cancel("a")
    queue.delivered(batch)
    assert queue.load(0.0).running_tokens == 0
    assert queue.load(0.0).tokens == 0
    assert len(queue) == 0


def test_the_same_key_twice_counts_once() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    assert queue.admit(submission("a", 10), 0.0, None) is None
    assert queue.load(0.0).tokens == 10


def test_a_long_document_does_not_block_a_short_one() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    queue.admit(submission("long", *[512] * 100), 0.0, None)
    queue.next_batch(FixedBudget(2048))
    queue.admit(submission("short", 50), 0.0, None)
    assert "short" in keys(queue.next_batch(FixedBudget(2048)))


def test_short_documents_fill_the_gap_that_a_long_one_leaves() -> None:
    queue = scheduler()
    queue.admit(submission("a", 400), 0.0, None)
    queue.admit(submission("b", 400), 0.0, None)
    queue.admit(submission("c", 100), 0.0, None)
    assert keys(queue.next_batch(FixedBudget(512))) == ["a", "c"]
    assert keys(queue.next_batch(FixedBudget(512))) == ["b"]


def test_a_suspect_runs_alone() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10), 0.0, None)
    queue.admit(submission("suspect", 10, 10, attempt=1), 0.0, None)
    queue.admit(submission("b", 10), 0.0, None)
    assert [keys(queue.next_batch(FixedBudget(512))) for _ in range(2)] == [["a", "b"], ["suspect", "suspect"]]


def test_load_says_what_waits_and_for_how_long() -> None:
    queue = scheduler()
    queue.admit(submission("a", 10, 20), 1.0, None)
    queue.admit(submission("b", 30), 2.0, None)
    load = queue.load(5.0)
    assert (load.documents, load.sequences, load.tokens, load.oldest_age_seconds) == (2, 3, 60, 4.0)


def test_whose_a_document_is_is_known_until_it_is_answered() -> None:
    queue = scheduler()
    sent = submission("a", 10)
    queue.admit(sent, 0.0, None)
    assert queue.client("a") == sent.client
    queue.cancel("a")
    assert queue.client("a") is None
