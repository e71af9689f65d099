"""What waits to be sent: nothing is lost but old rounds, and only for want of room."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.publisher.outbox import Outbox, Round, SendOutcome
from service.signals.catalog import WORK_RATIO
from service.signals.points import Point


def round_of(number: int, points: int = 2) -> Round:
    return (Point(WORK_RATIO, float(number), (0.0,), (1.0,)),) * points


def numbers(points: Iterable[Point]) -> list[int]:
    """Which rounds these points are of, in order."""
    return list(dict.fromkeys(int(point.unix_seconds) for point in points))


def filled(rounds: int, **limits: int) -> Outbox:
    outbox = Outbox(**limits)
    for number in range(rounds):
        outbox.put(round_of(number))
    return outbox


def test_there_is_only_one_call_at_a_time() -> None:
    outbox = filled(3)
    assert outbox.take()
    assert outbox.take() == ()
    assert len(outbox) == 3


def test_a_call_takes_only_whole_rounds_and_no_more_than_it_may() -> None:
    outbox = filled(3, most_points=5)
    assert numbers(outbox.take()) == [0, 1]
    outbox.conclude(SendOutcome.SENT)
    assert numbers(outbox.take()) == [2]


def test_what_failed_is_sent_again_before_what_is_newer() -> None:
    outbox = filled(2)
    outbox.take()
    outbox.put(round_of(2))
    assert outbox.conclude(SendOutcome.FAILED) == 0
    assert numbers(outbox.take()) == [0, 1, 2]


def test_what_was_refused_never_holds_up_the_others() -> None:
    outbox = filled(2)
    outbox.take()
    outbox.put(round_of(2))
    assert outbox.conclude(SendOutcome.REFUSED) == 2
    assert numbers(outbox.take()) == [2]


def test_without_room_the_oldest_are_given_up() -> None:
    outbox = filled(3, most_rounds=3)
    assert outbox.put(round_of(3)) == 1
    assert numbers(outbox.take()) == [1, 2, 3]


def test_a_failed_call_gives_up_its_oldest_when_newer_rounds_took_the_room() -> None:
    outbox = filled(3, most_rounds=3)
    outbox.take()
    outbox.put(round_of(3))
    outbox.put(round_of(4))
    assert outbox.conclude(SendOutcome.FAILED) == 2
    assert numbers(outbox.take()) == [2, 3, 4]


@pytest.mark.parametrize("limit", [1, 3])
@given(actions=st.lists(st.sampled_from(["put", "take", *SendOutcome]), max_size=60))
def test_any_history_keeps_order_and_bound_and_accounts_for_every_round(
    limit: int, actions: list[str | SendOutcome]
) -> None:
    outbox, put, sent, given_up, leaving = Outbox(limit), 0, 0, 0, 0
    last_sent = -1
    flying: list[int] = []
    for action in [*actions, SendOutcome.FAILED]:
        if action == "put":
            given_up += outbox.put(round_of(put))
            put += 1
        elif action == "take":
            flying = numbers(outbox.take()) or flying
            leaving = len(flying)
        elif isinstance(action, SendOutcome):
            given_up += outbox.conclude(action)
            if action is SendOutcome.SENT and flying:
                assert flying[0] > last_sent
                sent, last_sent = sent + leaving, flying[-1]
            flying, leaving = [], 0
        assert len(outbox) <= limit + leaving
    assert put == sent + given_up + len(outbox)
