"""Earliest deadline first: late and urgent documents, and what was admitted since the last plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.scheduling.deadline_plan import (
    LONGEST_PLAN_SECONDS,
    PLAN_SECONDS,
    PLAN_SHARE,
    DeadlineTracker,
    Waiting,
    make_plan,
)
from tests.support.submissions import submission


def waiting(key: str, deadline: float, tokens: int, admitted: float = 0.0) -> Waiting:
    return Waiting(deadline, key, admitted, tokens)


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


def test_a_plan_grows_old_and_is_made_anew() -> None:
    deadlines = DeadlineTracker()
    assert deadlines.is_old(0.0)
    deadlines.renew((), 0, 5.0, 1.0)
    assert not deadlines.is_old(5.0 + PLAN_SECONDS)
    assert deadlines.is_old(5.0 + LONGEST_PLAN_SECONDS)


def test_the_nearer_a_deadline_the_sooner_the_next_plan() -> None:
    deadlines = DeadlineTracker()
    deadlines.renew([Waiting(5.0, "a", 0.0, 100)], 0, 0.0, 100.0)
    assert not deadlines.is_old(PLAN_SHARE * 5.0 - 0.01)
    assert deadlines.is_old(PLAN_SHARE * 5.0)
    deadlines.add(submission("k", 1, deadline_seconds=0.5), 0.0)
    assert deadlines.is_old(PLAN_SECONDS)


def test_what_was_admitted_since_the_plan_counts_until_the_next_plan() -> None:
    deadlines = DeadlineTracker()
    deadlines.renew([Waiting(10.0, "a", 0.0, 100)], 0, 0.0, 100.0)
    deadlines.add(submission("k", 50, deadline_seconds=8.0), 0.0)
    assert [deadlines.tokens_due_by(at) for at in (7.0, 8.0, 10.0)] == [0, 50, 150]
    deadlines.renew([Waiting(8.0, "k", 0.0, 50), Waiting(10.0, "a", 0.0, 100)], 0, 0.0, 100.0)
    assert [deadlines.tokens_due_by(at) for at in (7.0, 8.0, 10.0)] == [0, 50, 150]


def test_a_document_longer_than_the_slack_after_it_makes_others_late() -> None:
    deadlines = DeadlineTracker()
    deadlines.renew([Waiting(10.0, "a", 0.0, 900)], 0, 0.0, 100.0)
    assert not deadlines.would_miss(submission("k", 100, deadline_seconds=5.0), 100.0)
    assert deadlines.would_miss(submission("k", 101, deadline_seconds=5.0), 100.0)
    assert not deadlines.would_miss(submission("k", 101, deadline_seconds=11.0), 100.0)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 500)), max_size=30), st.integers(-1, 21))
def test_deadlines_in_any_order_count_up_to_the_one_asked_for(admitted: list[tuple[int, int]], asked: int) -> None:
    deadlines = DeadlineTracker()
    for deadline, tokens in admitted:
        deadlines.add(submission("k", tokens, deadline_seconds=float(deadline)), 0.0)
    assert deadlines.tokens_due_by(float(asked)) == sum(tokens for deadline, tokens in admitted if deadline <= asked)
