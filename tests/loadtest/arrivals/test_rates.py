from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.arrivals.rates import Chain, Constant, Ramp, Rate, Sine, steps

RATES: list[Rate] = [
    Constant(7.5, 20),
    Ramp(2, 30, 20),
    Ramp(30, 2, 20),
    Ramp(0, 10, 20),
    Sine(10, 8, 5, 20),
    Sine(10, 10, 7, 20),
    steps((5, 0, 20, 1), 5),
    Chain((Constant(3, 4), Ramp(3, 12, 6), Sine(12, 5, 2, 10))),
]


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: type(rate).__name__)
def test_the_count_is_the_integral_of_the_rate(rate: Rate) -> None:
    width = rate.seconds / 20_000
    reached = 0.0
    for number in range(20_000):
        reached += rate.at((number + 0.5) * width) * width
        if number % 2_500 == 0:
            assert rate.count((number + 1) * width) == pytest.approx(reached, abs=2e-2)


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: type(rate).__name__)
def test_when_is_the_inverse_of_the_count(rate: Rate) -> None:
    whole = rate.count(rate.seconds)
    for part in range(1, 200):
        moment = rate.when(whole * part / 200)
        assert rate.count(moment) == pytest.approx(whole * part / 200, abs=1e-6)


def test_values_by_hand() -> None:
    assert Constant(4, 10).when(8) == 2
    assert Ramp(0, 10, 10).count(4) == 8
    assert Ramp(0, 10, 10).when(8) == pytest.approx(4)
    assert Ramp(10, 0, 10).when(51) == math.inf
    assert Sine(10, 10, 4, 8).count(4) == pytest.approx(40)
    assert Sine(10, 10, 4, 8).at(0) == 0
    assert Sine(10, 10, 4, 8).at(2) == 20
    assert steps((1, 10), 5).when(6) == pytest.approx(5.1)
    assert Constant(0, 5).when(1) == math.inf


def test_a_silent_step_is_passed_over() -> None:
    assert steps((2, 0, 2), 5).when(10) == pytest.approx(10)


def test_a_sine_cannot_be_negative() -> None:
    with pytest.raises(ValueError, match="amplitude"):
        Sine(5, 6, 1, 1)


@given(st.floats(0, 500), st.floats(0, 500), st.floats(1, 100), st.floats(0, 1))
def test_a_ramp_of_any_slope_is_inverted(first: float, last: float, seconds: float, part: float) -> None:
    rate = Ramp(first, last, seconds)
    number = rate.count(seconds) * part
    moment = rate.when(number)
    assert math.isinf(moment) or rate.count(moment) == pytest.approx(number, rel=1e-6, abs=1e-6)
