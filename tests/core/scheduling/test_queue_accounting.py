"""What waits by model, and of the queue's limit by client."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.scheduling.queue_accounting import ClientOccupancy, ModelQueueStats, QueueOccupancy, QueueStats
from service.core.tenants import ClientQuota
from tests.support.submissions import submission


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


def test_a_giant_counts_for_half_of_the_limit_until_less_of_it_waits() -> None:
    occupancy, giant = QueueOccupancy(1_000), submission("k", 5_000)
    occupancy.enter(giant)
    assert occupancy.of("c") == ClientOccupancy(1.0, 1, 5_000, 500)
    occupancy.stop_waiting(giant, 5_000, 600)
    assert occupancy.counted_tokens == 500
    occupancy.stop_waiting(giant, 600, 200)
    assert (occupancy.counted_tokens, occupancy.of("c").waiting_tokens) == (200, 200)
    occupancy.stop_waiting(giant, 200, 0)
    occupancy.leave(giant)
    assert (occupancy.counted_tokens, occupancy.of("c")) == (0, ClientOccupancy())


def test_a_share_is_the_weight_s_part_of_those_who_are_there() -> None:
    occupancy = QueueOccupancy(1_000)
    one, two = submission("a", 10, client="a"), submission("b", 10, client="b", quota=ClientQuota(weight=3.0))
    assert occupancy.share(one) == 1.0
    occupancy.enter(one)
    assert (occupancy.share(one), occupancy.share(two)) == (1.0, 0.75)
    occupancy.enter(two)
    assert (occupancy.share(one), occupancy.share(two)) == (0.25, 0.75)
    assert occupancy.is_within_share(submission("c", 240, client="a"))
    assert not occupancy.is_within_share(submission("c", 241, client="a"))


def test_an_edited_weight_counts_from_the_client_s_next_document_on() -> None:
    occupancy = QueueOccupancy(1_000)
    occupancy.enter(submission("a", 10, client="a"))
    occupancy.enter(submission("a2", 10, client="a", quota=ClientQuota(weight=3.0)))
    assert occupancy.share(submission("b", 10, client="b")) == pytest.approx(0.25)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 3_000), st.floats(0.01, 100.0), st.booleans()),
        min_size=1,
        max_size=40,
    )
)
def test_nothing_is_left_in_the_account_when_all_have_left(
    documents: list[tuple[str, int, float, bool]],
) -> None:
    occupancy, present = QueueOccupancy(1_000), []
    for number, (client, tokens, weight, leaves) in enumerate(documents):
        each = submission(str(number), tokens, client=client, quota=ClientQuota(weight=weight))
        assert 0 < occupancy.share(each) <= 1
        occupancy.enter(each)
        present.append(each)
        if leaves:
            gone = present.pop(0)
            occupancy.stop_waiting(gone, gone.tokens, 0)
            occupancy.leave(gone)
        assert occupancy.counted_tokens == sum(500 if each.tokens > 1_000 else each.tokens for each in present)
    for each in present:
        occupancy.stop_waiting(each, each.tokens, 0)
        occupancy.leave(each)
    assert occupancy.counted_tokens == 0
    assert occupancy.share(submission("last", 1, client="d")) == 1.0
