from __future__ import annotations

import pytest

from loadtest.arrivals.pacer import Pace, due, pace, total
from loadtest.arrivals.rates import Constant, Ramp, Rate, Sine, steps


@pytest.mark.parametrize(
    ("rate", "elapsed", "sent", "wanted"),
    [
        (Constant(10, 5), 0.0, 0, Pace(0.0)),
        (Constant(10, 5), 0.0, 1, Pace(0.1)),
        (Constant(10, 5), 0.05, 1, Pace(0.05)),
        (Constant(10, 5), 3.0, 1, Pace(0.0)),  # behind: now, and none is skipped
        (Constant(10, 5), 3.0, 49, Pace(1.9)),
        (Constant(10, 5), 3.0, 50, Pace(0.0, over=True)),
        (Constant(0, 5), 1.0, 0, Pace(0.0, over=True)),
        (Ramp(0, 10, 10), 0.0, 2, Pace(2.0)),
        (Ramp(0, 10, 10), 1.0, 8, Pace(3.0)),
        (steps((1, 10), 5), 5.0, 6, Pace(0.1)),
        (steps((1, 10), 5), 9.99, 55, Pace(0.0, over=True)),
    ],
)
def test_how_long_to_wait(rate: Rate, elapsed: float, sent: int, wanted: Pace) -> None:
    found = pace(rate, elapsed, sent)
    assert found.over == wanted.over
    assert found.wait_seconds == pytest.approx(wanted.wait_seconds)


def test_a_pacer_that_follows_its_own_advice_sends_exactly_what_is_due() -> None:
    rate = Sine(20, 15, 3, 9)
    elapsed, sent = 0.0, 0
    while not (step := pace(rate, elapsed, sent)).over:
        elapsed += step.wait_seconds
        assert elapsed == pytest.approx(due(rate, sent), abs=1e-6)
        sent += 1
    assert sent == total(rate) == 180


def test_one_that_was_held_up_catches_up_at_once() -> None:
    rate, sent = Constant(100, 10), 0
    while not pace(rate, 4.0, sent).wait_seconds:
        sent += 1
    assert sent == 401
