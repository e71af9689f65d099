"""How long to wait before the next request, as a pure function of (elapsed, sent).

The rule of an open loop: what is due is sent, whatever the server does. A pacer that is behind answers "now" until it
has caught up; nothing is skipped and nothing is put off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadtest.arrivals.rates import Rate

COUNT_TOLERANCE = 1e-6
"""A closed form may miss a whole number by rounding."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Wait so long, then send one; or all that were due are sent."""

    wait_seconds: float
    over: bool = False


def total(rate: Rate) -> int:
    """How many requests an even schedule of this rate sends."""
    return math.ceil(rate.count(rate.seconds) - COUNT_TOLERANCE)


def due(rate: Rate, number: int) -> float:
    """When request `number`, counted from 0, is due on an even schedule; infinite after the last one."""
    return rate.when(number) if number < total(rate) else math.inf


def pace(rate: Rate, elapsed: float, sent: int) -> Pace:
    """What to do after so many seconds and so many requests sent."""
    intended = due(rate, sent)
    if math.isinf(intended):
        return Pace(0.0, over=True)
    return Pace(max(intended - elapsed, 0.0))
