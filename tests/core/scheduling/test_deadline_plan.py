from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.scheduling.deadline_plan import Waiting, make_plan


def waiting(key: str, deadline: float, tokens: int, admitted: float = 0.0) -> Waiting:
    return Waiting(deadline, key, admitted, tokens)


def test_with_nothing_waiting_everything_is_possible() -> None:
    plan = make_plan([], 50, 0.0, 10.0)
    assert plan.tokens_due_by(1e9) == 0
    assert plan.slack_after(0.0) == float("inf")


def test_sums_and_slacks_by_hand() -> None:
    """10 tokens a second, 10 of them running: the first is through at 3 s, the second at 6 s, the third at 7 s."""
    plan = make_plan([waiting("c", 50, 10), waiting("a", 5, 20), waiting("b", 20, 30)], 10, 0.0, 10.0)
    assert list(plan.deadlines) == [5, 20, 50]
    assert [plan.tokens_due_by(deadline) for deadline in (4.9, 5, 20, 99)] == [0, 20, 50, 60]
    assert [plan.slack_after(deadline) for deadline in (0, 5, 20)] == pytest.approx([2.0, 14.0, 43.0])
    assert plan.slack_after(50) == float("inf")
    assert not plan.late
    assert not plan.urgent


def test_who_cannot_be_in_time_is_late_and_costs_the_others_nothing() -> None:
    plan = make_plan([waiting("a", 1, 100), waiting("b", 2, 10)], 0, 0.0, 10.0)
    assert plan.late == ("a",)
    assert plan.deadlines == (2,)


def test_all_before_one_that_must_hurry_must_hurry_too() -> None:
    plan = make_plan([waiting("a", 10, 10), waiting("b", 11, 89), waiting("c", 90, 10)], 0, 0.0, 10.0)
    assert plan.urgent == ("a", "b")


@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(1, 500)), max_size=30),
    st.integers(0, 500),
    st.floats(1, 100),
)
def test_in_the_order_of_deadlines_all_that_are_not_late_are_in_time(
    documents: list[tuple[float, int]], running: int, speed: float
) -> None:
    every = [waiting(str(number), deadline, tokens) for number, (deadline, tokens) in enumerate(documents)]
    plan = make_plan(every, running, 0.0, speed)
    reached = float(running)
    for document in sorted(each for each in every if each.key not in plan.late):
        reached += document.tokens
        assert reached / speed <= document.deadline_seconds + 1e-6
