"""Rates and their inverses; arrivals with the statistics of their processes."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from loadtest.scenario.arrivals import (
    Chain,
    Constant,
    Rate,
    Sine,
    bursty,
    poisson,
    replay,
)
from loadtest.scenario.traces import Trace

RATES: list[Rate] = [
    Constant(7.5, 20),
    Sine(10, 8, 5, 20),
    Sine(10, 10, 7, 20),
    Chain(tuple(Constant(rate, 5) for rate in (5, 0, 20, 1))),
    Chain((Constant(3, 4), Sine(12, 5, 2, 10))),
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


def test_a_sine_cannot_be_negative() -> None:
    with pytest.raises(ValueError, match="amplitude"):
        Sine(5, 6, 1, 1)


LONG = Constant(50, 2_000)


def counts(moments: np.ndarray[tuple[int], np.dtype[np.float64]], seconds: float, width: float = 1.0) -> np.ndarray:
    return np.bincount((moments / width).astype(int), minlength=round(seconds / width))


def test_poisson_distances_are_exponential() -> None:
    """Mean and deviation 1 / rate; the share beyond x is e^(-rate x); neighbours know nothing of each other."""
    gaps = np.diff(list(poisson(LONG, Random(1))))
    assert gaps.mean() == pytest.approx(1 / 50, rel=0.02)
    assert gaps.std() / gaps.mean() == pytest.approx(1, abs=0.02)
    for beyond in (0.5, 1, 2, 3):
        assert (gaps > beyond / 50).mean() == pytest.approx(math.exp(-beyond), abs=0.005)
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 0.01


def test_poisson_counts_have_the_variance_of_their_mean() -> None:
    found = counts(np.array(list(poisson(LONG, Random(2)))), 2_000)
    assert found.mean() == pytest.approx(50, rel=0.02)
    assert found.var() / found.mean() == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("dispersion", [4.0, 13.2])
def test_bursty_counts_have_the_dispersion_that_was_asked_for(dispersion: float) -> None:
    found = counts(np.array(list(bursty(Constant(50, 6_000), dispersion, Random(3)))), 6_000)
    assert found.mean() == pytest.approx(50, rel=0.03)
    assert found.var() / found.mean() == pytest.approx(dispersion, rel=0.08)


@pytest.mark.parametrize(
    "arrive", [lambda r, d: poisson(r, d), lambda r, d: bursty(r, 3, d)], ids=["poisson", "bursty"]
)
def test_random_arrivals_follow_a_changing_rate(arrive: object) -> None:
    rate: Rate = Sine(40, 35, 100, 1_000)
    moments = np.array(list(arrive(rate, Random(5))))  # type: ignore[operator]
    assert (np.diff(moments) >= 0).all()
    found = counts(moments, 1_000, width=10).reshape(10, 10).mean(axis=0)
    wanted = [rate.count(10 * (n + 1)) - rate.count(10 * n) for n in range(10)]
    assert found == pytest.approx(wanted, rel=0.12, abs=12)


def test_a_replay_preserves_the_counts_of_each_bin_exactly() -> None:
    draw = Random(8)
    trace = Trace(0.25, tuple(draw.choice((0, 0, 0, 1, 7, 93)) for _ in range(500)))
    moments = np.array(list(replay(trace, Random(9))))
    assert (np.diff(moments) >= 0).all()
    assert tuple(counts(moments, trace.seconds, 0.25).tolist()) == trace.counts
