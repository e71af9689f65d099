"""An allowance in one number: bursts pass, averages hold, and who waits as long as he was told is let in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.rates import BURST_SECONDS, NOTHING_PAID, charged, wait_seconds


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
