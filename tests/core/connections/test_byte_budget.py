"""Of the transfers that hold too much together the largest one is given up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.connections.transfers import ByteBudget


def test_the_largest_unfinished_transfer_is_given_up_and_finished_ones_are_not() -> None:
    budget: ByteBudget[str] = ByteBudget(100)
    assert budget.hold("large", 60) is None
    assert budget.hold("small", 10) is None
    assert budget.hold("small", 31) == "large"
    budget.finish("large")
    assert budget.hold("small", 0) == "small"
    budget.release("large")
    assert budget.hold("small", 0) is None
    assert budget.held_bytes == 41
    assert budget.hold("small", 500) is None, "alone it takes nobody's room"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50), st.sampled_from("hfr"))))
def test_a_budget_never_holds_more_than_its_limit_once_the_victim_is_released(
    steps: list[tuple[int, int, str]],
) -> None:
    budget: ByteBudget[int] = ByteBudget(100)
    finished: set[int] = set()
    for holder, count, do in steps:
        if do == "h" and holder not in finished:
            victim = budget.hold(holder, count)
            if victim is not None:
                budget.release(victim)
        elif do == "f":
            budget.finish(holder)
            finished.add(holder)
        elif do == "r":
            budget.release(holder)
            finished.discard(holder)
        assert budget.held_bytes >= 0
        assert budget.held_bytes <= 100 or len(budget._held) == 1
