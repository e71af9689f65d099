"""Overload control: what is taken on is answered in time, at any load; only what was refused for load has a limit."""

from __future__ import annotations

import pytest

from service.core.admission.head import (
    FORGET_SECONDS,
    LEAST,
    MOST_KINDS,
    OK,
    OVER_LIMIT,
    SOCKET_LATE,
    AdmittedRequest,
    ConcurrencyLimiter,
    StartQueue,
    engine_decision,
)
from service.core.admission.policy import ADMIT, WAIT
from service.core.tenants import UNLIMITED_RATES, RateLimits
from service.core.types import Phase
from tests.support.overload_simulation import Machine, Simulation

LATE = SOCKET_LATE.code


@pytest.fixture(scope="module")
def peak() -> float:
    """The highest goodput at any rate."""
    return max(Simulation(rate).run(15.0).goodput for rate in (190.0, 210.0, 230.0))


@pytest.mark.parametrize(("times", "share"), [(1.5, 0.95), (3.0, 0.9), (7.5, 0.7)])
def test_goodput_stays_near_its_peak_and_nothing_is_late(peak: float, times: float, share: float) -> None:
    """At three times the peak nearly all answers were late: the requests had waited in their sockets."""
    outcome = Simulation(times * peak).run(20.0)
    assert outcome.goodput >= share * peak
    assert (outcome.late, outcome.refused_slowly) == (0, 0)
    assert outcome.refused_by_engine < 0.05 * outcome.refused, "prepared in vain"


@pytest.mark.parametrize("times", [4.0, 16.0])
def test_it_holds_on_slower_machines(times: float) -> None:
    """At a twelfth of a second for each document, sixteen in flight would all be late."""
    slow = Machine().slower(times)
    peak = max(Simulation(rate / times, machine=slow).run(25.0).goodput for rate in (190.0, 210.0))
    outcome = Simulation(3 * peak, machine=slow).run(30.0)
    assert outcome.goodput >= 0.9 * peak
    assert outcome.late <= 0.02 * outcome.in_time


def burst(control: ConcurrencyLimiter, count: int, *, client: int = 1, deadline: float = 1.0) -> list[AdmittedRequest]:
    found = [control.admit(client, deadline, 0.0, 0.0) for _ in range(count)]
    return [each for each in found if isinstance(each, AdmittedRequest)]


def test_a_burst_is_taken_on_while_nothing_was_refused() -> None:
    control = ConcurrencyLimiter()
    assert len(burst(control, 3_000)) == 3_000
    assert control.in_flight == 3_000


def test_requests_with_long_deadlines_are_not_limited_by_others() -> None:
    control = ConcurrencyLimiter()
    for admitted in burst(control, 100):
        control.finished(admitted, LATE, 0.9)
    assert control.limit < 100
    assert len(burst(control, 500, deadline=300.0)) == 500
    assert len(burst(control, 500, client=2)) == 500, "nor are another client's"


@pytest.mark.parametrize("code", [OK, "too_long_for_deadline", "rate_limited", "unreadable_document", ""])
def test_without_a_refusal_for_load_there_is_no_limit(code: str) -> None:
    """However late an answer came: the engine admitted it, and knows better."""
    control = ConcurrencyLimiter()
    for admitted in burst(control, 100):
        control.finished(admitted, code, 0.99)
    assert control.in_flight == 0
    assert len(burst(control, 100)) == 100


def test_a_request_whose_deadline_passed_in_its_socket_is_refused_as_late() -> None:
    control = ConcurrencyLimiter()
    assert control.admit(1, 1.0, arrived_seconds=0.0, now=1.1) == SOCKET_LATE
    assert control.in_flight == 0


def test_the_newest_come_first_when_late() -> None:
    control = ConcurrencyLimiter()
    for admitted in burst(control, 60)[:20]:
        control.finished(admitted, LATE, 0.7)
    for _ in range(20):
        control.finished(AdmittedRequest((1, 10), 1.0, 0.0), "", 0.8)
    waited_long = [control.admit(1, 1.0, arrived_seconds=0.5, now=0.8) for _ in range(50)]
    fresh = control.admit(1, 1.0, arrived_seconds=0.75, now=0.8)
    assert set(waited_long) == {OVER_LIMIT}
    assert isinstance(fresh, AdmittedRequest)


def test_a_late_event_loop_shrinks_a_limit_but_not_below_the_least() -> None:
    control = ConcurrencyLimiter()
    taken_on = [*burst(control, 40), *burst(control, 40, deadline=300.0)]
    for tenth in range(100):
        control.lagged(0.5, tenth / 10)
    assert control.limit == LEAST
    assert len(burst(control, 10, deadline=300.0)) == 10
    assert burst(control, 10) == []
    for admitted in taken_on:
        control.finished(admitted, "", 10.0)
    assert control.in_flight == 10


def test_a_limit_grows_again_and_is_forgotten() -> None:
    control = ConcurrencyLimiter()
    for admitted in burst(control, 100):
        control.finished(admitted, LATE, 0.9)
    limit = control.limit
    for number in range(100):
        taken_on = [control.admit(1, 1.0, 1.0 + number, 1.0 + number) for _ in range(int(control.limit) + 1)]
        for each in taken_on:
            if isinstance(each, AdmittedRequest):
                control.finished(each, OK, 1.1 + number)
    assert control.limit > limit
    control.forget(0.9 + FORGET_SECONDS)
    assert control.limit == float("inf")


def test_clients_beyond_a_number_share_a_limit() -> None:
    control = ConcurrencyLimiter()
    for client in range(MOST_KINDS + 500):
        burst(control, 1, client=client + 1)
    assert len(control._kinds) <= MOST_KINDS + 1


def test_the_end_of_a_request_whose_kind_was_forgotten_counts_for_no_limit() -> None:
    control = ConcurrencyLimiter()
    (admitted,) = burst(control, 1)
    control.finished(admitted._replace(kind=(7, 7)), LATE, 0.9)
    assert (control.in_flight, control.limit) == (0, float("inf"))


def admitted(at: float, deadline: float = 1.0) -> AdmittedRequest:
    return AdmittedRequest((0, 0), deadline, at)


def test_a_few_requests_begin_in_each_turn_in_order_of_arrival() -> None:
    starts: StartQueue[int] = StartQueue()
    assert [starts.decide(0.0) for _ in range(5)] == [ADMIT, ADMIT, ADMIT, ADMIT, WAIT]
    for number in range(6):
        starts.wait(number, admitted(0.0))
    assert starts.next_turn(0.1) == [0, 1, 2, 3]
    assert starts.decide(0.2) is WAIT, "those that wait come first"
    starts.wait(99, admitted(0.2))
    assert len(starts) == 3
    assert starts.next_turn(0.2) == [4, 5, 99]
    assert starts.decide(0.2) is ADMIT
    assert starts.decide(0.2) is WAIT, "of this turn four have begun"
    assert starts.decide(0.3) is ADMIT


def test_while_the_oldest_is_late_the_newest_begin_first() -> None:
    for deadline, expected in ((1.0, [19, 18, 17, 16]), (300.0, [0, 1, 2, 3])):
        starts: StartQueue[int] = StartQueue()
        for number in range(20):
            starts.wait(number, admitted(0.0, deadline))
        assert starts.next_turn(0.5) == expected


def test_requests_that_waited_long_enough_begin_without_an_engine() -> None:
    starts: StartQueue[str] = StartQueue()
    assert starts.decide(0.0, starting=True) is WAIT
    for name, deadline in (("patient", 300.0), ("urgent", 0.1)):
        starts.wait(name, admitted(0.0, deadline))
    assert starts.next_turn(0.06, starting=True) == ["urgent"]
    assert starts.next_turn(0.9, starting=True) == []
    assert starts.next_turn(1.0, starting=True) == ["patient"]


@pytest.mark.parametrize(
    ("phase", "admits", "serves", "was_here", "code"),
    [
        (Phase.READY, True, True, True, ""),
        (Phase.DRAINING, True, True, True, ""),
        (Phase.DRAINING, False, True, True, "draining"),
        (Phase.READY, True, False, True, "engine_restarting"),
        (Phase.LOADING, True, False, False, "not_ready"),
    ],
)
def test_no_request_begins_while_no_engine_serves(
    phase: Phase, admits: bool, serves: bool, was_here: bool, code: str
) -> None:
    decision = engine_decision(phase, 40, admits=admits, serves=serves, was_here=was_here)
    assert (decision.code, decision.refuses) == (code, bool(code))
    assert (decision.retry_after_seconds is not None) == decision.refuses


@pytest.mark.parametrize(
    ("rates", "limited"),
    [
        (UNLIMITED_RATES, False),
        (RateLimits(), False),
        (RateLimits(documents_per_second=1.0), True),
        (RateLimits(tokens_per_second=1.0), True),
        (RateLimits(bytes_per_second=1.0), True),
    ],
)
def test_rates_are_true_when_there_is_a_limit(rates: RateLimits, limited: bool) -> None:
    assert bool(rates) is limited
