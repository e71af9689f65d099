from __future__ import annotations

import pytest

from service.client.requests import CHANCE, FIRST_SECONDS, RetryBudget
from service.core.errors import DeadlineExceeded, GleanerError, InternalError, NotReady, QueueFull, UnreadableDocument

BUDGET = RetryBudget(seconds=60.0, most_tries=5, most_tries_unanswered=3)


@pytest.mark.parametrize(
    ("tries", "spent", "error", "chance", "expected"),
    [
        (1, 0.0, QueueFull("x", retry_after_seconds=7.0), 0.0, 7.0),
        (1, 0.0, QueueFull("x", retry_after_seconds=7.0), 1.0, 7.0 * (1 + CHANCE)),
        (1, 0.0, NotReady("x"), 0.0, FIRST_SECONDS),
        (3, 0.0, NotReady("x"), 0.0, 4 * FIRST_SECONDS),
        (1, 0.0, None, 0.0, FIRST_SECONDS),
        (3, 0.0, None, 0.0, None),
        (5, 0.0, QueueFull("x", retry_after_seconds=1.0), 0.0, None),
        (1, 54.0, QueueFull("x", retry_after_seconds=7.0), 0.0, None),
        (1, 0.0, UnreadableDocument("x"), 0.0, None),
        (1, 0.0, InternalError("x"), 0.0, None),
        (1, 0.0, DeadlineExceeded("x"), 0.0, None),
        (1, 0.0, DeadlineExceeded("x", retry_after_seconds=2.0), 0.0, 2.0),
    ],
)
def test_when_to_try_again(
    tries: int, spent: float, error: GleanerError | None, chance: float, expected: float | None
) -> None:
    assert BUDGET.wait_seconds(tries, spent, error, chance) == expected
