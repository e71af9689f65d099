"""How far ahead of the device a client's texts are prepared, and which are refused before they are."""

from __future__ import annotations

import math
import random

import pytest

from service.core.admission.pacing import (
    AHEAD_SECONDS,
    FEW_TOKENS,
    LONGEST_PAUSE_SECONDS,
    TIMES_THE_DEVICE,
    PacingPolicy,
    PacingTicket,
)
from service.core.admission.policy import QueueState
from service.core.errors import DeadlineExceeded, QueueFull

SPEED = 1_000.0
ENGINE = QueueState(SPEED, limit_tokens=1_000_000)
FAR = 1e9
TOKENS = 100
CHARACTERS = int(TOKENS / FEW_TOKENS)
AT_ONCE = int(AHEAD_SECONDS * SPEED / TOKENS) + 1
"""Texts that begin as they come."""


def bring(
    pace: PacingPolicy, count: int, client: str = "c", left: float = FAR, characters: int = CHARACTERS
) -> list[PacingTicket]:
    return [pace.enter(client, characters, left, ENGINE, 0.0) for _ in range(count)]


def test_what_the_device_has_within_a_second_is_prepared_as_it_comes() -> None:
    tickets = bring(PacingPolicy(), 3 * AT_ONCE)
    assert [ticket.may_begin for ticket in tickets] == [True] * AT_ONCE + [False] * 2 * AT_ONCE


def test_the_rest_begins_at_twice_the_pace_of_the_device_in_order() -> None:
    pace = PacingPolicy()
    waiting = [ticket for ticket in bring(pace, 200) if not ticket.may_begin]
    begun: list[tuple[float, PacingTicket]] = []
    now = 0.0
    while (due := pace.next_seconds()) is not None:
        now = max(now, due)
        begun += [(now, ticket) for ticket in pace.begin(SPEED, now)]
    assert [ticket for _, ticket in begun] == waiting
    assert begun[-1][0] == pytest.approx((len(waiting) - 1) * TOKENS / (TIMES_THE_DEVICE * SPEED))


def test_those_that_wait_begin_once_the_device_has_little_left() -> None:
    pace = PacingPolicy()
    tickets = bring(pace, AT_ONCE + 2)
    assert len(list(pace.begin(SPEED, 0.0))) == 1
    assert list(pace.begin(SPEED, 0.0)) == []
    for ticket in tickets[:3]:
        pace.leave(ticket)
    assert list(pace.begin(SPEED, 0.0)) == [tickets[-1]]


def test_neither_another_client_nor_a_request_s_only_text_waits() -> None:
    pace = PacingPolicy()
    bring(pace, 50)
    assert pace.enter("other", CHARACTERS, FAR, ENGINE, 0.0).may_begin
    assert pace.enter("c", CHARACTERS, FAR, ENGINE, 0.0, paced=False).may_begin


def test_where_the_speed_is_unknown_all_begin_and_the_engine_judges() -> None:
    pace = PacingPolicy()
    unknown = QueueState(math.inf, limit_tokens=100)
    assert all(pace.enter("c", CHARACTERS, 0.1, unknown, 0.0).may_begin for _ in range(50))
    assert all(pace.enter("d", CHARACTERS, 0.1, ENGINE, 0.0, paced=False).may_begin for _ in range(50))


def test_a_text_that_would_be_late_behind_its_client_s_others_is_refused() -> None:
    pace = PacingPolicy()
    bring(pace, 100)
    with pytest.raises(DeadlineExceeded) as refused:
        bring(pace, 1, left=10.0)
    assert refused.value.retry_after_seconds == pytest.approx(100 * TOKENS / SPEED - AHEAD_SECONDS)
    assert bring(pace, 1, left=20.0)
    assert bring(pace, 1, client="other", left=1.0)


def test_a_short_text_is_not_late_behind_one_long_one() -> None:
    """They take turns at the device."""
    pace = PacingPolicy()
    pace.enter("c", 1_000 * CHARACTERS, FAR, ENGINE, 0.0)
    assert pace.enter("c", CHARACTERS, 1.0, ENGINE, 0.0)
    with pytest.raises(DeadlineExceeded):
        pace.enter("c", 1_000 * CHARACTERS, 1.0, ENGINE, 0.0)


def test_a_text_beyond_the_queue_is_refused_but_not_after_a_larger_one() -> None:
    small = QueueState(SPEED, limit_tokens=20 * TOKENS)
    pace = PacingPolicy()
    for _ in range(AT_ONCE + 19):
        pace.enter("c", CHARACTERS, FAR, small, 0.0)
    with pytest.raises(QueueFull) as refused:
        pace.enter("c", CHARACTERS, FAR, small, 0.0)
    assert refused.value.retry_after_seconds == pytest.approx(TOKENS / SPEED)
    pace.enter("giant", 30 * CHARACTERS, FAR, small, 0.0)
    assert pace.enter("giant", CHARACTERS, FAR, small, 0.0)


def test_the_earliest_deadline_is_next_after_a_short_pause() -> None:
    pace = PacingPolicy()
    long = bring(pace, 4, characters=100 * CHARACTERS)
    assert [ticket.may_begin for ticket in long] == [True, False, False, False]
    assert list(pace.begin(SPEED, 0.0)) == [long[1]]
    urgent = pace.enter("c", CHARACTERS, 3.0, ENGINE, 0.0)
    due = pace.next_seconds()
    assert due is not None
    assert due <= LONGEST_PAUSE_SECONDS
    assert list(pace.begin(SPEED, due)) == [urgent]


def test_texts_that_are_due_begin_together_when_a_timer_is_late() -> None:
    pace = PacingPolicy()
    bring(pace, 1, characters=100 * CHARACTERS)
    bring(pace, 100, characters=5)
    assert len(list(pace.begin(SPEED, 10.0))) > 50


def test_a_file_says_nothing_of_the_tokens_of_a_text() -> None:
    pace = PacingPolicy()
    (file, _) = bring(pace, 1, characters=0) + bring(pace, 1)
    pace.count(file, 100_000)
    assert pace.estimate("c", CHARACTERS) == TOKENS


def test_a_lone_text_is_never_refused_however_long_it_is() -> None:
    assert PacingPolicy().enter("c", 10**9, 0.1, ENGINE, 0.0).may_begin


def test_tokens_are_estimated_by_those_of_the_client_s_earlier_texts() -> None:
    pace = PacingPolicy()
    (first,) = bring(pace, 1)
    pace.count(first, 5 * TOKENS)
    assert first.tokens == 5 * TOKENS
    (second,) = bring(pace, 1)
    assert second.tokens == 5 * TOKENS
    assert bring(pace, 1, client="other")[0].tokens == TOKENS


def test_whatever_comes_and_goes_nothing_is_left() -> None:
    chance = random.Random("texts")
    pace, here, begun, now = PacingPolicy(), list[PacingTicket](), set[PacingTicket](), 0.0
    for _ in range(5_000):
        now += chance.random() * 0.2
        if chance.random() < 0.6:
            here += bring(pace, 1, client=chance.choice("abc"))
            if here[-1].may_begin:
                begun.add(here[-1])
        elif here:
            ticket = here.pop(chance.randrange(len(here)))
            if ticket in begun and chance.random() < 0.9:
                pace.count(ticket, chance.randrange(300))
            pace.leave(ticket)
        for ticket in pace.begin(SPEED, now):
            assert ticket not in begun
            assert not ticket.is_over
            begun.add(ticket)
    for ticket in here:
        pace.leave(ticket)
    assert (len(pace), pace.next_seconds()) == (0, None)


def test_what_waits_is_told_until_it_begins_or_is_given_up() -> None:
    pace = PacingPolicy()
    tickets = bring(pace, AT_ONCE + 4)
    assert pace.held_tokens == 4 * TOKENS
    pace.leave(tickets[-1])
    assert pace.held_tokens == 3 * TOKENS
    assert list(pace.begin(SPEED, 0.0)) == [tickets[-4]]
    assert pace.held_tokens == 2 * TOKENS


def test_a_text_that_was_given_up_is_passed_over() -> None:
    pace = PacingPolicy()
    tickets = bring(pace, AT_ONCE + 2)
    pace.leave(tickets[-2])
    assert list(pace.begin(SPEED, 0.0)) == [tickets[-1]]


def test_all_begin_once_nothing_is_known_of_the_device_any_more() -> None:
    """A new engine has not computed anything yet."""
    pace = PacingPolicy()
    tickets = bring(pace, AT_ONCE + 9)
    assert list(pace.begin(math.inf, 0.0)) == tickets[-9:]
    assert (pace.held_tokens, pace.next_seconds()) == (0.0, None)


def test_a_text_that_seems_too_long_alone_is_counted_before_it_is_judged() -> None:
    """And takes nothing from its client's other texts meanwhile, of which none is late or paced for it."""
    pace = PacingPolicy()
    giants = [pace.enter("c", 1_000 * CHARACTERS, 10.0, ENGINE, 0.0, most_tokens=10 * SPEED) for _ in range(100)]
    assert all(ticket.may_begin for ticket in giants)
    assert pace.held_tokens == 0
    assert [ticket.may_begin for ticket in bring(pace, AT_ONCE, left=10.0)] == [True] * AT_ONCE
    pace.count(giants[0], int(2 * SPEED))
    assert not bring(pace, 1, left=10.0)[0].may_begin
