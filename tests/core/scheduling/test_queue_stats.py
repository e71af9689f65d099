"""The sums of a queue, and what a weight is worth."""

from __future__ import annotations

import pytest

from service.core.scheduling.queue_stats import ModelQueueStats, QueueStats


def test_sums_are_kept_in_all_and_by_model() -> None:
    stats = QueueStats()
    stats.enter("a", 3, 30)
    stats.enter("b", 1, 5)
    stats.stop_waiting("a", 1, 10)
    assert (stats.of("a"), stats.of("b")) == (ModelQueueStats(1, 2, 20), ModelQueueStats(1, 1, 5))
    assert stats.total == ModelQueueStats(2, 3, 25)
    stats.stop_waiting("a", 2, 20)
    stats.leave("a")
    assert (stats.of("a"), stats.total) == (ModelQueueStats(), ModelQueueStats(1, 1, 5))


@pytest.mark.parametrize(
    ("weights", "share"), [({}, 1.0), ({"a": 1.0}, 1.0), ({"a": 1.0, "b": 3.0}, 0.25), ({"b": 2.0}, 0.5)]
)
def test_a_share_is_the_weight_s_part_of_all_weights(weights: dict[str, float], share: float) -> None:
    stats = QueueStats()
    for model, weight in weights.items():
        stats.set_weight(model, weight)
    assert stats.share("a") == share


def test_a_weight_that_is_forgotten_counts_no_more() -> None:
    stats = QueueStats()
    stats.set_weight("a", 1.0)
    stats.set_weight("b", 3.0)
    stats.set_weight("b", None)
    assert (stats.share("a"), stats.weight("b")) == (1.0, 1.0)
