"""The search on a made-up service whose knee is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loadtest.results.knee import Trial, TrialVerdict, evaluate, find_knee
from tests.support.load_records import records, row, steady


def test_a_rate_holds_when_less_than_one_in_a_hundred_is_late() -> None:
    assert evaluate(50, steady(50, 20, 100), 500).verdict is TrialVerdict.HOLDS
    assert evaluate(50, steady(50, 20, 600), 500).verdict is TrialVerdict.FAILS


def test_too_few_requests_are_undecided_even_if_all_were_good() -> None:
    trial = evaluate(5, steady(5, 20, 100), 500)
    assert trial.bad_share == 0
    assert trial.verdict is TrialVerdict.UNDECIDED
    assert evaluate(5, steady(5, 20, 100), 500, last=True).verdict is TrialVerdict.FAILS


def test_bad_requests_in_one_clump_widen_the_interval() -> None:
    clumped = records(*(row(n / 50, 900 if 500 <= n < 515 else 10) for n in range(1_000)))
    spread = records(*(row(n / 50, 900 if n % 67 == 0 else 10) for n in range(1_000)))
    wide, narrow = evaluate(50, clumped, 500), evaluate(50, spread, 500)
    assert wide.bad_share == pytest.approx(narrow.bad_share, abs=0.001)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def queue_with(capacity: float, seed: int) -> object:
    """Trials on a single server with exponential service times: sojourn times are exponential too."""
    draw = np.random.default_rng(seed)

    def attempt(rate: float) -> Trial:
        if rate >= capacity:
            return evaluate(rate, steady(rate, 20, 5_000), 500, last=True)
        mean_ms = 1000 / (capacity - rate)
        rows = (row(n / rate, float(draw.exponential(mean_ms))) for n in range(round(rate * 30)))
        return evaluate(rate, records(*rows), 500, last=True)

    return attempt


@pytest.mark.parametrize("guess", [20, 100, 400])
def test_the_knee_of_a_known_queue_is_found_from_any_guess(guess: float) -> None:
    """In an M/M/1 queue 1 % wait longer than 500 ms when capacity - rate = ln(100) / 0.5 s = 9.2."""
    knee = find_knee(guess, queue_with(100, seed=guess))  # type: ignore[arg-type]
    true = 100 - math.log(100) / 0.5
    assert 0.88 * true < knee.holds <= 1.03 * true
    assert knee.holds < knee.fails <= 1.06 * knee.holds
    assert len(knee.trials) < 16


def test_a_service_that_holds_nothing_has_no_knee() -> None:
    knee = find_knee(100, lambda rate: evaluate(rate, steady(rate, 5, 9_000), 500, last=True))
    assert knee.holds == 0
