"""The pacer: how long to wait before the next request, as a pure function of (elapsed, sent).

The rule of an open loop: a request is sent when it is due, whatever the server does. A pacer that is behind returns no
wait until it has caught up; no request is skipped or postponed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from loadtest.arrivals.rates import Rate

COUNT_TOLERANCE = 1e-6
"""The rounding error of a closed form for a whole number."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Wait this long, then send the next request; `over`: every request has been sent."""

    wait_seconds: float
    over: bool = False


def total(rate: Rate) -> int:
    """The number of requests of an even schedule at this rate."""
    return math.ceil(rate.count(rate.seconds) - COUNT_TOLERANCE)


def due(rate: Rate, number: int) -> float:
    """The time at which request `number`, counted from 0, is due on an even schedule; infinite after the last one."""
    return rate.when(number) if number < total(rate) else math.inf


def pace(rate: Rate, elapsed: float, sent: int) -> Pace:
    """The wait after `elapsed` seconds and `sent` requests."""
    intended = due(rate, sent)
    if math.isinf(intended):
        return Pace(0.0, over=True)
    return Pace(max(intended - elapsed, 0.0))
