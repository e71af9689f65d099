"""Transfers: a pace, a budget of bytes, and what is dropped at an end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.core.connections.transfers import (
    ALL_THAT_COMES,
    JUDGED_SECONDS,
    LEAST_BYTES_PER_SECOND,
    ByteBudget,
    Linger,
    Pace,
)


def test_a_pace_is_judged_by_whole_windows() -> None:
    pace = Pace(10.0, 0.0)
    assert not pace.is_too_slow(9.9)
    pace.moved(10 * LEAST_BYTES_PER_SECOND)
    assert not pace.is_too_slow(10.0)
    pace.moved(10 * LEAST_BYTES_PER_SECOND - 1)
    assert not pace.is_too_slow(19.9)
    assert pace.is_too_slow(20.0)
    pace.restart(100.0)
    assert not pace.is_too_slow(109.0)


def test_within_a_window_it_is_judged_once_some_of_it_has_passed() -> None:
    pace = Pace(60.0, 0.0)
    assert not pace.is_slow_so_far(JUDGED_SECONDS - 0.1)
    assert pace.is_slow_so_far(JUDGED_SECONDS)
    pace.moved(int(JUDGED_SECONDS * LEAST_BYTES_PER_SECOND))
    assert not pace.is_slow_so_far(JUDGED_SECONDS)
    assert pace.is_slow_so_far(2 * JUDGED_SECONDS)


def test_the_largest_unfinished_transfer_is_given_up() -> None:
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
def test_a_budget_holds_at_most_its_limit_once_the_victim_is_released(
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


def test_it_is_over_when_its_time_has_passed() -> None:
    linger = Linger(10, until=5.0)
    assert [linger.is_over(now) for now in (4.9, 5.0, 5.1)] == [False, False, True]


def test_so_many_bytes_are_dropped_and_no_more() -> None:
    linger = Linger(10, until=5.0)
    linger.drop(10)
    assert not linger.is_exceeded
    linger.drop(1)
    assert linger.is_exceeded


def test_of_a_declared_body_all_is_dropped_that_comes_in_time() -> None:
    linger = Linger(ALL_THAT_COMES, until=5.0)
    linger.drop(2**40)
    assert not linger.is_exceeded
