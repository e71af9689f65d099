from __future__ import annotations

from loadtest.results.compare import compare, overall_verdict
from tests.support.load_records import records, refusal, row, steady


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
