"""Verdicts on runs: the knee of a service, assertions, and the comparison of two results."""

from __future__ import annotations

import math

import numpy as np
import pytest

from loadtest.errors import BadInput
from loadtest.results.assertions import evaluate_check, parse_check
from loadtest.results.compare import compare, overall_verdict
from loadtest.results.knee import Trial, TrialVerdict, evaluate, find_knee
from loadtest.results.summary import Figures, figures
from tests.support.load_records import records, refusal, row, steady


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


def words(before_ms: float, after_ms: float) -> dict[str, str]:
    found = compare("p", steady(50, 30, before_ms, seed=1), steady(50, 30, after_ms, seed=2), 1_000)
    return {each.figure: each.verdict for each in found}


def test_equal_runs_show_no_difference() -> None:
    assert set(words(100, 100).values()) == {"no difference shown"}


def test_a_tenth_more_latency_is_found() -> None:
    assert words(100, 110)["p50_ms"] == "worse"
    assert words(110, 100)["p50_ms"] == "better"


def test_a_difference_that_does_not_matter_is_not_one() -> None:
    assert words(100, 101.5)["p50_ms"] == "no difference shown"


def test_two_runs_of_the_same_service_are_rarely_called_different() -> None:
    """95 % intervals: at most a few of 10 comparisons may be wrong."""
    wrong = 0
    for seed in range(5):
        found = compare("p", steady(40, 20, 80, seed=2 * seed), steady(40, 20, 80, seed=2 * seed + 1), 1_000)
        wrong += sum(each.verdict != "no difference shown" for each in found[:2])
    assert wrong <= 2


def test_more_refusals_are_worse() -> None:
    before = steady(50, 20, 100)
    after = records(*(row(n / 50, 100) if n % 5 else refusal(n / 50) for n in range(1_000)))
    found = {each.figure: each for each in compare("p", before, after, 1_000)}
    assert found["good_share"].verdict == "worse"
    assert abs(found["good_share"].change + 0.2) < 0.01
    assert "worse in" in overall_verdict(list(found.values())) or "Mixed" in overall_verdict(list(found.values()))


def test_too_few_answers_say_nothing() -> None:
    assert compare("p", steady(1, 5, 10), steady(1, 5, 10), 100) == []
    assert "Nothing can be said" in overall_verdict([])


def made(name: str, latency_ms: float) -> Figures:
    rows = [row(n / 10, latency_ms) for n in range(99)]
    return figures(name, records(*rows, refusal(9.95)), [(0.0, 10.0)], slo_ms=500, deadline_ms=0)


WHOLE, PHASES = made("all", 100), [made("quiet", 50), made("10 times", 700)]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("p99_ms<500", True),
        ("p99_ms < 100", False),
        ("error_rate==0", True),
        ("refusal_rate<=0.01", True),
        ("refusal_rate<0.01", False),
        ("goodput_rps>9", True),
        ("p50_ms@quiet<60", True),
        ("p99_ms@10 times<500", False),
        ("max_ms>=1e9", False),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    finding = evaluate_check(parse_check(text), WHOLE, PHASES)
    assert finding.holds == holds
    assert str(finding).startswith("holds" if holds else "FAILS")


@pytest.mark.parametrize("text", ["p99<5", "p99_ms", "p99_ms=5", "speed>3", "p99_ms<x", "", "p99_ms<1e"])
def test_what_is_no_condition_is_refused_with_what_can_be_asked(text: str) -> None:
    with pytest.raises(BadInput):
        parse_check(text)


def test_a_latency_that_was_never_measured_does_not_hold() -> None:
    nothing = figures("all", records(refusal(1.0)), [(0.0, 10.0)], slo_ms=500, deadline_ms=0)
    assert not evaluate_check(parse_check("p99_ms<500"), nothing, []).holds
