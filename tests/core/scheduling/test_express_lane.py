"""Batches of those who have little waiting: whose documents are in them, and what they may cost."""

from __future__ import annotations

import pytest

from service.core.scheduling.express_lane import (
    BESIDE_SECONDS,
    LEAST_COST,
    LEAST_SAVED_SECONDS,
    MOST_SECONDS,
    SHARE,
    ExpressLane,
)
from service.core.types import Priority
from tests.support.budgets import FixedBudget
from tests.support.submissions import keys, scheduler, submission

BUDGET = FixedBudget(1_000)
BASE = 0.005


def test_express_batches_cost_their_share_of_the_device_at_most() -> None:
    lane, added = ExpressLane(), 0
    for _ in range(1_000):
        lane.earn(0.01)
        if (cost := lane.cost(BASE, 0.1)) is not None:
            lane.spend(cost)
            added += 1
    assert added * BASE == pytest.approx(SHARE * 10.0, rel=0.01)


def test_what_is_not_used_is_saved_up_to_a_limit() -> None:
    lane = ExpressLane()
    assert lane.cost(BASE, 0.1) is None
    lane.earn(1e6)
    assert lane.cost(MOST_SECONDS, 0.1) == MOST_SECONDS
    assert lane.cost(MOST_SECONDS + 0.001, 0.1) is None


def test_nothing_is_added_for_a_wait_that_nobody_notices() -> None:
    lane = ExpressLane()
    lane.earn(10.0)
    assert lane.cost(BASE, LEAST_SAVED_SECONDS) == BASE
    assert lane.cost(BASE, LEAST_SAVED_SECONDS / 2) is None


def test_what_makes_another_batch_longer_must_save_more() -> None:
    lane = ExpressLane()
    lane.earn(10.0)
    assert lane.cost(BASE, BESIDE_SECONDS, is_beside=True) == BASE
    assert lane.cost(BASE, LEAST_SAVED_SECONDS, is_beside=True) is None


def test_a_batch_costs_something_also_where_its_base_is_not_known() -> None:
    lane = ExpressLane()
    assert lane.cost(0.0, 0.1) is None
    lane.earn(1.0)
    assert lane.cost(0.0, 0.1) == pytest.approx(LEAST_COST * 0.1)


def test_a_light_batch_holds_all_documents_of_those_who_have_little_and_none_of_others() -> None:
    queue = scheduler()
    for number in range(9):
        queue.admit(submission(f"flood{number}", 200, client="flood"), 0.0, None)
    queue.admit(submission("one", 20, 10, client="one"), 0.0, None)
    queue.admit(submission("two", 50, client="two"), 0.0, None)
    queue.admit(submission("nightly", 10, client="two", priority=Priority.BATCH), 0.0, None)
    batch = queue.light_batch_of("m", BUDGET, ())
    assert batch is not None
    assert keys(batch) == ["one", "one", "two"]
    assert queue.load(0.0).running_tokens == batch.tokens == 80
    assert queue.light_batch_of("m", BUDGET, ()) is None
    queue.delivered(batch)
    assert "one" not in queue
    assert len(keys(queue.next_batch(BUDGET))) > 1


def test_many_who_have_little_make_an_ordinary_batch() -> None:
    queue = scheduler()
    for number in range(6):
        queue.admit(submission(f"k{number}", 100, client=f"c{number}"), 0.0, None)
    assert queue.light_batch_of("m", BUDGET, ()) is None
    assert len(keys(queue.next_batch(BUDGET))) == 6


def test_what_an_engine_died_on_is_in_no_light_batch() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 20, client="a", attempt=1), 0.0, None)
    queue.admit(submission("other", 20, client="b"), 0.0, None)
    assert keys(queue.light_batch_of("m", BUDGET, ())) == ["other"]


def test_a_light_batch_fits_the_memory_that_there_is() -> None:
    queue = scheduler()
    for number in range(3):
        queue.admit(submission(f"k{number}", 40, client=f"c{number}"), 0.0, None)

    class Short(FixedBudget):
        def admits(self, model: str, shape: object) -> bool:
            return super().admits(model, shape) and shape.tokens <= 80  # type: ignore[attr-defined, arg-type]

    assert keys(queue.light_batch_of("m", Short(1_000), ())) == ["k0", "k1"]


def test_who_is_being_served_is_in_no_light_batch() -> None:
    """A client that floods with single documents may have little waiting at a time; to part them would gain nobody."""
    queue = scheduler()
    queue.admit(submission("a0", 40, client="a"), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("a1", 40, client="a"), 0.0, None)
    assert queue.light_batch_of("m", BUDGET, [running]) is None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert keys(queue.light_batch_of("m", BUDGET, [running])) == ["b"]
    queue.cancel("a0")
    assert keys(queue.light_batch_of("m", BUDGET, [running])) == ["a1"], "nothing of it runs that anybody waits for"


def test_nobody_runs_beside_what_an_engine_died_on() -> None:
    queue = scheduler()
    queue.admit(submission("suspect", 40, client="a", attempt=1), 0.0, None)
    running = queue.next_batch(BUDGET)
    assert running is not None
    queue.admit(submission("b", 40, client="b"), 0.0, None)
    assert queue.light_batch_of("m", BUDGET, [running]) is None
