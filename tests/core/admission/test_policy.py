"""Admission policy: one rule for shared queues, rate limits, and refusals that say when to ask again."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.policy import (
    ADMIT,
    BURST_SECONDS,
    NOTHING_PAID,
    RESERVE,
    WAIT,
    ModelQuotas,
    QueueState,
    charged,
    late,
    out_of_time,
    over_quota,
    over_wait,
    refuse,
    refuse_if_late,
    too_long,
    wait_seconds,
)
from service.core.errors import DeadlineExceeded, QueueFull, RateLimited, TooLongForDeadline
from service.core.tenants import ClientQuota
from tests.support.submissions import submission


def test_only_a_refusal_raises_and_raises_the_error_of_its_code() -> None:
    ADMIT.enforce()
    WAIT.enforce()
    with pytest.raises(RateLimited) as raised:
        refuse("rate_limited", "too much", 2.5).enforce()
    assert (raised.value.detail, raised.value.retry_after_seconds) == ("too much", 2.5)


@pytest.mark.parametrize(
    ("queue", "tokens", "left", "code"),
    [
        (QueueState(100.0), 10_000, 100.0, ""),
        (QueueState(100.0), 10_001, 100.0, "deadline_exceeded"),
        (QueueState(math.inf), 10**9, 0.0, ""),
        (QueueState(math.inf), 10**9, -0.1, "deadline_exceeded"),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100), 9, 1.0, ""),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100), 10, 1.0, "queue_full"),
        (QueueState(math.inf, counted_tokens=91, limit_tokens=100, has_room=True), 10, 1.0, ""),
        (QueueState(math.inf, counted_tokens=0, limit_tokens=100), 1_000, 1.0, ""),
        (QueueState(100.0, waiting_tokens=900, documents=1), 100, 1.0 + RESERVE, ""),
        (QueueState(100.0, waiting_tokens=900, documents=9), 100, 1.0 + RESERVE, "deadline_exceeded"),
        (QueueState(100.0, waiting_tokens=900, due_tokens=900), 100, 9.9, "deadline_exceeded"),
        (QueueState(100.0, running_tokens=100), 100, 1.9, "deadline_exceeded"),
    ],
)
def test_a_shared_queue_refuses_what_does_not_fit_or_would_be_late(
    queue: QueueState, tokens: int, left: float, code: str
) -> None:
    assert queue.decide(tokens, left).code == code


def test_refusals_say_when_to_ask_again() -> None:
    full = QueueState(10.0, waiting_tokens=95, counted_tokens=95, limit_tokens=100).decide(25, 1e9)
    assert (type(full.error), full.retry_after_seconds) == (QueueFull, 2.0)
    behind = QueueState(10.0, waiting_tokens=50, documents=9).decide(25, 3.0)
    assert (type(behind.error), behind.retry_after_seconds) == (DeadlineExceeded, 5.0)
    assert over_wait("it begins", 3.0, 1.0).retry_after_seconds == 2.0
    assert over_wait("it begins", 1.0, 1.0) is ADMIT
    assert late(1.0, 1.0, None) is ADMIT


def test_a_client_s_quota_limits_its_documents_and_waiting_tokens() -> None:
    assert over_quota(ClientQuota(documents_in_flight=2), 1, 0, 10**6, 10.0) is ADMIT
    assert over_quota(ClientQuota(documents_in_flight=2), 2, 50, 1, 10.0).retry_after_seconds == 5.0
    assert over_quota(ClientQuota(queued_tokens=100), 1, 0, 10**6, 10.0) is ADMIT
    assert over_quota(ClientQuota(queued_tokens=100), 1, 60, 41, 10.0).code == "rate_limited"


def test_a_burst_passes_and_a_debt_waits() -> None:
    paid = NOTHING_PAID
    assert wait_seconds(paid, 100.0) == 0.0
    paid = charged(paid, 10 * BURST_SECONDS, 10.0, 100.0)
    assert wait_seconds(paid, 100.0) == 0.0, "the whole burst is paid for, and no more"
    paid = charged(paid, 5, 10.0, 100.0)
    assert wait_seconds(paid, 100.0) == pytest.approx(0.5)
    assert wait_seconds(paid, 100.5) == 0.0


def test_what_is_larger_than_the_burst_passes_and_is_paid_back() -> None:
    paid = charged(NOTHING_PAID, 1_000, 10.0, 0.0)
    assert wait_seconds(paid, 0.0) == pytest.approx(90.0)


def test_idle_time_is_saved_up_to_the_burst() -> None:
    paid = charged(charged(NOTHING_PAID, 1, 1.0, 0.0), 1, 1.0, 1e6)
    assert paid == pytest.approx(1e6 - BURST_SECONDS + 1)


@given(
    st.floats(0.1, 1e5),
    st.lists(st.tuples(st.integers(1, 5_000), st.floats(0.0, 20.0)), min_size=1, max_size=100),
)
def test_never_more_passes_than_rate_burst_and_one_request(rate: float, arrivals: list[tuple[int, float]]) -> None:
    paid, now, passed = NOTHING_PAID, 0.0, 0
    for amount, seconds in arrivals:
        now += seconds
        if wait_seconds(paid, now) == 0.0:
            paid = charged(paid, amount, rate, now)
            passed += amount
    assert passed <= rate * (now + BURST_SECONDS) * 1.000001 + max(amount for amount, _ in arrivals)


def test_a_name_that_is_not_told_of_weighs_one_and_has_no_limit() -> None:
    shares = ModelQuotas({"a": 3.0}, {"a": 10.0})
    assert (shares.weight("a"), shares.weight("b")) == (3.0, 1.0)
    assert all(shares.refusal_for(submission("k", 10_000), "b", 1_000.0) is None for _ in range(3))


def test_a_model_may_have_a_burst_and_is_then_refused_with_retry_after() -> None:
    shares = ModelQuotas({}, {"a": 10.0})
    assert shares.refusal_for(submission("k", int(10 * BURST_SECONDS) + 20), "a", 123_456.0) is None
    refusal = shares.refusal_for(submission("k", 20), "a", 123_456.0)
    assert refusal is not None
    assert (refusal.code, refusal.retry_after_seconds) == ("rate_limited", 2.0)
    assert shares.refusal_for(submission("k", 20), "a", 123_458.0) is None


def test_nothing_begins_at_its_deadline_or_after_it() -> None:
    refuse_if_late(10.0, now=9.9)
    with pytest.raises(DeadlineExceeded):
        refuse_if_late(10.0, now=10.0)


@pytest.mark.parametrize(
    ("tokens", "speed", "allowed", "refuses"),
    [
        (1_000, 100.0, 10.0, False),
        (1_001, 100.0, 10.0, True),
        (1, 100.0, 0.0, True),
        (10**9, None, 0.0, False),
        (10**9, 100.0, math.inf, False),
        (0, 100.0, 0.0, False),
    ],
)
def test_a_document_is_too_long_if_an_idle_engine_has_no_time_for_it(
    tokens: int, speed: float | None, allowed: float, refuses: bool
) -> None:
    decision = too_long(tokens, speed, allowed)
    assert decision.refuses == refuses
    if refuses:
        assert isinstance(decision.error, TooLongForDeadline)
        assert decision.retry_after_seconds is None
        assert "deadline_ms" in decision.detail
        assert "split" in decision.detail


def test_a_deadline_that_passes_is_the_fault_of_what_took_the_time() -> None:
    load = DeadlineExceeded("waited", retry_after_seconds=2.0)
    assert out_of_time(8.9, 10.0, load) is load
    assert isinstance(out_of_time(9.0, 10.0, load), TooLongForDeadline)
    assert out_of_time(9.0, math.inf, load) is load
