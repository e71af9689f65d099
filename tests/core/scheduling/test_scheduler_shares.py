"""Whose turn it is: clients, priorities and models share the device, and nobody is starved."""

from __future__ import annotations

from collections import Counter

from service.core.types import Priority
from tests.support.budgets import FixedBudget
from tests.support.submissions import keys, scheduler, submission


def test_clients_share_however_many_documents_they_bring() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(50):
        queue.admit(submission(f"greedy{number}", 100, client="greedy"), 0.0, None)
    for number in range(5):
        queue.admit(submission(f"modest{number}", 100, client="modest"), 0.0, None)
    first = Counter(key[:6] for _ in range(2) for key in keys(queue.next_batch(FixedBudget(512))))
    assert first == {"greedy": 5, "modest": 5}


def test_batch_work_yields_to_interactive_work_and_is_not_starved() -> None:
    queue = scheduler(queue_tokens=1_000_000)
    for number in range(100):
        queue.admit(submission(f"b{number}", 100, priority=Priority.BATCH), 0.0, None)
        queue.admit(submission(f"i{number}", 100), 0.0, None)
    first = Counter(key[0] for _ in range(17) for key in keys(queue.next_batch(FixedBudget(400))))
    assert first["i"] > 55
    assert first["b"] >= 2


def test_models_are_not_mixed_and_take_turns() -> None:
    queue = scheduler()
    for number in range(4):
        queue.admit(submission(f"x{number}", 100, model="x"), 0.0, None)
        queue.admit(submission(f"y{number}", 100, model="y"), 0.0, None)
    batches = [queue.next_batch(FixedBudget(200)) for _ in range(4)]
    assert [batch.model for batch in batches if batch] == ["x", "y", "x", "y"]
    assert all(key.startswith(batch.model) for batch in batches if batch for key in keys(batch))


def test_a_model_with_a_greater_weight_gets_more_of_the_device() -> None:
    queue = scheduler()
    queue.set_weight("heavy", 3.0)
    queue.set_weight("light", 1.0)
    for model in ("light", "heavy"):
        queue.admit(submission(model, *[10] * 100, model=model), 0.0, None)
    batches = [queue.next_batch(FixedBudget(50)) for _ in range(16)]
    assert Counter(batch.model for batch in batches if batch) == {"heavy": 12, "light": 4}


def test_models_that_wait_are_named_the_most_deserving_first() -> None:
    queue = scheduler()
    for model in ("x", "y"):
        queue.admit(submission(model, 10, 10, model=model), 0.0, None)
    assert queue.models() == ["x", "y"]
    assert keys(queue.next_batch_of("x", FixedBudget(10))) == ["x"]
    assert queue.models() == ["y", "x"]
    assert queue.next_batch_of("nobody", FixedBudget(10)) is None
    assert (queue.stats("x").documents, queue.stats("x").waiting_tokens) == (1, 10)
