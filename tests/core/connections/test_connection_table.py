"""Connections of a worker: which are accepted, which are evicted, the bytes they hold, and how they end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.connections.connection_table import (
    ALL_THAT_COMES,
    EVICTION_TRIES,
    IDLE_EVICTION_SECONDS,
    Acceptance,
    ByteBudget,
    ConnectionLimits,
    ConnectionTable,
    Linger,
    connections_within,
)

LIMIT = 4
LATER = IDLE_EVICTION_SECONDS
ALL = frozenset(range(100))


class Worker:
    """A table with its connections, of which some can be evicted; `tried` are those for whom it was attempted."""

    def __init__(self, evictable: frozenset[int] = ALL, limit: int = LIMIT) -> None:
        self.limit = limit
        self.evictable = evictable
        self.tried: list[int] = []
        self.table: ConnectionTable[int] = ConnectionTable(ConnectionLimits(connections=limit), self.evict)

    def evict(self, connection: int) -> bool:
        self.tried.append(connection)
        return connection in self.evictable

    def full(self) -> Worker:
        """It has as many connections as it may, 0 having come first; none has asked for anything."""
        for number in range(self.limit):
            assert self.table.opened(number, number / 1000) is Acceptance.OPEN
        return self


def test_up_to_the_limit_all_come_in_and_one_that_leaves_makes_room() -> None:
    worker = Worker(frozenset()).full()
    assert worker.table.opened(4, LATER) is Acceptance.HEALTH_ONLY
    worker.table.closed(0)
    worker.table.closed(4)
    assert worker.table.opened(5, LATER) is Acceptance.OPEN
    assert sorted(worker.table.all()) == [1, 2, 3, 5]
    assert len(worker.table) == LIMIT


def test_far_beyond_the_limit_it_is_crowded() -> None:
    worker = Worker(frozenset()).full()
    places = [worker.table.opened(LIMIT + number, LATER) for number in range(17)]
    assert places == [Acceptance.HEALTH_ONLY] * 16 + [Acceptance.OVER_LIMIT]


@pytest.mark.parametrize(
    ("seconds", "place", "tried"),
    [
        (LATER - 0.01, Acceptance.HEALTH_ONLY, []),
        (LATER, Acceptance.OPEN, [0]),
    ],
)
def test_the_one_that_was_idle_for_longest_goes_if_it_was_so_for_a_while(
    seconds: float, place: Acceptance, tried: list[int]
) -> None:
    worker = Worker().full()
    assert (worker.table.opened(9, seconds), worker.tried) == (place, tried)


def test_a_connection_whose_request_has_come_is_not_evicted() -> None:
    worker = Worker(frozenset({1})).full()
    assert worker.table.opened(4, LATER + 1) is Acceptance.OPEN
    assert worker.tried == [0, 1]
    worker.tried.clear()
    assert worker.table.opened(5, LATER + 1) is Acceptance.HEALTH_ONLY
    assert worker.tried == [2, 3], "0 has not been idle for long enough again"


def test_those_that_are_busy_stay_until_they_are_idle_again() -> None:
    worker = Worker().full()
    for number in range(LIMIT):
        worker.table.busy(number)
    assert worker.table.opened(4, 100.0) is Acceptance.HEALTH_ONLY
    worker.table.idle(2, 100.0)
    assert worker.table.opened(5, 100.0 + LATER) is Acceptance.OPEN
    assert worker.tried == [2]


def test_only_a_few_are_tried_for_each_newcomer() -> None:
    count = 5 * EVICTION_TRIES
    worker = Worker(frozenset(), limit=count).full()
    assert worker.table.opened(count, 2 * LATER) is Acceptance.HEALTH_ONLY
    assert worker.tried == list(range(EVICTION_TRIES))


def test_where_none_is_idle_a_slow_body_is_evicted() -> None:
    worker = Worker(frozenset({1, 2})).full()
    for number in range(LIMIT):
        worker.table.busy(number)
    worker.table.note_slow(lambda number: number in (1, 3))
    assert worker.table.opened(4, 0.0) is Acceptance.OPEN
    assert worker.tried[-1] == 1
    assert worker.table.opened(5, 0.0) is Acceptance.HEALTH_ONLY, "each of them is tried once"
    worker.table.note_slow(lambda number: number == 2)
    assert worker.table.opened(6, 0.0) is Acceptance.OPEN


def test_while_there_is_room_nobody_is_noted_as_slow() -> None:
    worker = Worker().full()
    worker.table.closed(0)
    worker.table.note_slow(lambda _number: True)
    for number in (1, 2, 3):
        worker.table.busy(number)
    worker.table.opened(4, 0.0)
    worker.table.busy(4)
    assert worker.table.opened(5, 0.0) is Acceptance.HEALTH_ONLY


def test_connections_fit_the_limit_of_open_files() -> None:
    assert connections_within(4_096, 20_000) == 4_096
    assert connections_within(4_096, 1_024) + connections_within(4_096, 1_024) // 4 + 128 <= 1_024
    assert connections_within(4_096, 100) == 16


def test_some_connections_beyond_the_limit_may_say_what_they_want() -> None:
    assert [ConnectionLimits(connections=count).health_only_connections for count in (16, 100, 4_096)] == [
        16,
        25,
        1_024,
    ]


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
