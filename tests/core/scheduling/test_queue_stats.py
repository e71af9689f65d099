"""The sums of a queue, and what a weight is worth."""

from __future__ import annotations

import pytest

from service.core.scheduling.queue_stats import ModelQueueStats, QueueStats


def test_sums_are_kept_in_all_and_by_model() -> None:
    books = QueueStats()
    books.enter("a", 3, 30)
    books.enter("b", 1, 5)
    books.stop_waiting("a", 1, 10)
    assert (books.of("a"), books.of("b")) == (ModelQueueStats(1, 2, 20), ModelQueueStats(1, 1, 5))
    assert books.total == ModelQueueStats(2, 3, 25)
    books.stop_waiting("a", 2, 20)
    books.leave("a")
    assert (books.of("a"), books.total) == (ModelQueueStats(), ModelQueueStats(1, 1, 5))


@pytest.mark.parametrize(
    ("weights", "share"), [({}, 1.0), ({"a": 1.0}, 1.0), ({"a": 1.0, "b": 3.0}, 0.25), ({"b": 2.0}, 0.5)]
)
def test_a_share_is_the_weight_s_part_of_all_weights(weights: dict[str, float], share: float) -> None:
    books = QueueStats()
    for model, weight in weights.items():
        books.weigh(model, weight)
    assert books.share("a") == share


def test_a_weight_that_is_forgotten_counts_no_more() -> None:
    books = QueueStats()
    books.weigh("a", 1.0)
    books.weigh("b", 3.0)
    books.weigh("b", None)
    assert (books.share("a"), books.weight("b")) == (1.0, 1.0)
