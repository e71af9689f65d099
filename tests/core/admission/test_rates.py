"""Rate limits: bursts pass, averages hold, and a client that waits as long as it was told is admitted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.rates import BURST_SECONDS, NOTHING_PAID, ModelQuotas, charged, wait_seconds
from service.core.types import Priority, Submission


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


def submission(tokens: int) -> Submission:
    return Submission(
        key="k",
        model="sha256:a",
        lengths=(tokens,),
        client="c",
        priority=Priority.INTERACTIVE,
        deadline_seconds=1e9,
        attempt=0,
    )


def test_a_name_that_is_not_told_of_weighs_one_and_has_no_limit() -> None:
    shares = ModelQuotas({"a": 3.0}, {"a": 10.0})
    assert (shares.weight("a"), shares.weight("b")) == (3.0, 1.0)
    assert all(shares.refusal_for(submission(10_000), "b", 1_000.0) is None for _ in range(3))


def test_a_model_may_have_a_burst_and_is_then_refused_with_retry_after() -> None:
    shares = ModelQuotas({}, {"a": 10.0})
    assert shares.refusal_for(submission(int(10 * BURST_SECONDS) + 20), "a", 123_456.0) is None
    refusal = shares.refusal_for(submission(20), "a", 123_456.0)
    assert refusal is not None
    assert (refusal.code, refusal.retry_after_seconds) == ("rate_limited", 2.0)
    assert shares.refusal_for(submission(20), "a", 123_458.0) is None
