"""Allowances: how much a client may bring a second on average, as a token bucket that is one number.

The number is the moment until which a client has paid: what it brings moves it on by amount / rate, and time catches up
with it, never by more than `BURST_SECONDS`. Who has paid beyond now is in debt and waits; whoever is not passes whole,
however much he brings, so that nothing is too large for ever. (The virtual scheduling of ITU-T I.371, annex A.)

Pure: time is passed in.
"""

from __future__ import annotations

from service.core.scheduling.rate_limit import BURST_SECONDS

NOTHING_PAID = float("-inf")
"""The number of a client that has not been seen."""


def wait_seconds(paid_until: float, now: float) -> float:
    """Seconds until a client may come again; 0.0 unless it is in debt."""
    return max(paid_until - now, 0.0)


def charged(paid_until: float, amount: float, rate: float, now: float, burst_seconds: float = BURST_SECONDS) -> float:
    """The moment until which a client has paid once this amount is taken from it, at this rate a second."""
    return max(paid_until, now - burst_seconds) + amount / rate
