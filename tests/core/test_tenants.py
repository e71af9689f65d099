"""Tenants: limits by a second are there as soon as one of them is."""

from __future__ import annotations

import pytest

from service.core.tenants import UNLIMITED_RATES, RateLimits


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
