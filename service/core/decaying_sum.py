"""Decaying sum: amounts that count the less the older they are, as a rate over a horizon. Pure: time is passed in."""

from __future__ import annotations

import math

HORIZON_SECONDS = 10.0
"""20 s after a step 86 % of it is seen, which is when the fleet decides how many tasks to add."""


class DecayingSum:
    """An exponentially weighted sum: each amount counts with e^(-age / horizon)."""

    def __init__(self, horizon_seconds: float = HORIZON_SECONDS) -> None:
        self._horizon = horizon_seconds
        self._sum = 0.0
        self._at = -math.inf

    def add(self, amount: float, now: float) -> None:
        """Count an amount; a negative one takes back what was counted too much."""
        self._sum = self.value(now) + amount
        self._at = max(now, self._at)

    def value(self, now: float) -> float:
        """The sum."""
        return self._sum * math.exp(-max(now - self._at, 0.0) / self._horizon) if self._sum else 0.0

    def per_second(self, now: float) -> float:
        """The rate at which the amounts come."""
        return self.value(now) / self._horizon
