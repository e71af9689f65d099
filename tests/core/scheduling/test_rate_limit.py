"""A model's tokens keep to their rate, and no document is too long for ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.admission.rates import BURST_SECONDS, TokenBucket


def test_a_burst_passes_and_what_follows_waits() -> None:
    limit = TokenBucket(100.0, now=0.0)
    assert limit.take(int(100 * BURST_SECONDS), 0.0) == 0.0
    assert limit.take(50, 0.0) == pytest.approx(0.5)
    assert limit.take(50, 0.5) == 0.0


def test_a_document_larger_than_the_bucket_passes_a_full_one_and_leaves_a_debt() -> None:
    limit = TokenBucket(100.0, now=0.0)
    assert limit.take(5_000, 0.0) == 0.0
    assert limit.take(1, 0.0) == pytest.approx(40.01)
    assert limit.take(5_000, 49.0) == pytest.approx(1.0)
    assert limit.take(5_000, 50.0) == 0.0


@given(
    st.floats(1.0, 1e5),
    st.lists(st.tuples(st.integers(1, 5_000), st.floats(0.0, 2.0)), min_size=1, max_size=200),
)
def test_never_more_passes_than_rate_burst_and_one_document(rate: float, arrivals: list[tuple[int, float]]) -> None:
    limit, now, passed = TokenBucket(rate, now=0.0), 0.0, 0
    for tokens, seconds in arrivals:
        now += seconds
        wait = limit.take(tokens, now)
        passed += tokens if wait == 0.0 else 0
        assert wait >= 0.0
    assert passed <= rate * (now + BURST_SECONDS) * 1.000001 + max(tokens for tokens, _ in arrivals)


@given(st.floats(1.0, 1e5), st.lists(st.integers(1, 5_000), min_size=1, max_size=30), st.integers(1, 5_000))
def test_who_comes_again_after_the_time_that_was_said_is_let_in(rate: float, before: list[int], tokens: int) -> None:
    limit = TokenBucket(rate, now=0.0)
    for each in before:
        limit.take(each, 0.0)
    wait = limit.take(tokens, 0.0)
    assert wait == 0.0 or limit.take(tokens, wait * 1.000001 + 1e-6) == 0.0
