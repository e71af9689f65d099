"""Deadline tracker: tokens due by a moment, by the last plan and by what was admitted since."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.scheduling.deadline_plan import (
    LONGEST_PLAN_SECONDS,
    PLAN_SECONDS,
    PLAN_SHARE,
    DeadlineTracker,
    Waiting,
)
from service.core.types import Priority, Submission


def submission(tokens: int, deadline: float) -> Submission:
    return Submission(
        key="k",
        model="m",
        lengths=(tokens,),
        client="c",
        priority=Priority.INTERACTIVE,
        deadline_seconds=deadline,
        attempt=0,
    )


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
    deadlines.add(submission(1, deadline=0.5), 0.0)
    assert deadlines.is_old(PLAN_SECONDS)


def test_what_was_admitted_since_the_plan_counts_until_the_next_one_knows_it() -> None:
    deadlines = DeadlineTracker()
    deadlines.renew([Waiting(10.0, "a", 0.0, 100)], 0, 0.0, 100.0)
    deadlines.add(submission(50, deadline=8.0), 0.0)
    assert [deadlines.tokens_due_by(at) for at in (7.0, 8.0, 10.0)] == [0, 50, 150]
    deadlines.renew([Waiting(8.0, "k", 0.0, 50), Waiting(10.0, "a", 0.0, 100)], 0, 0.0, 100.0)
    assert [deadlines.tokens_due_by(at) for at in (7.0, 8.0, 10.0)] == [0, 50, 150]


def test_a_document_longer_than_the_slack_after_it_makes_others_late() -> None:
    deadlines = DeadlineTracker()
    deadlines.renew([Waiting(10.0, "a", 0.0, 900)], 0, 0.0, 100.0)
    assert not deadlines.would_miss(submission(100, deadline=5.0), 100.0)
    assert deadlines.would_miss(submission(101, deadline=5.0), 100.0)
    assert not deadlines.would_miss(submission(101, deadline=11.0), 100.0)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 500)), max_size=30), st.integers(-1, 21))
def test_deadlines_in_any_order_count_up_to_the_one_asked_for(admitted: list[tuple[int, int]], asked: int) -> None:
    deadlines = DeadlineTracker()
    for deadline, tokens in admitted:
        deadlines.add(submission(tokens, float(deadline)), 0.0)
    assert deadlines.tokens_due_by(float(asked)) == sum(tokens for deadline, tokens in admitted if deadline <= asked)
