"""The canary's share of requests, and the verdict on a candidate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from service.core.canary import CanaryAnswer, CanaryLimits, compare, is_candidates_turn

LIMITS = CanaryLimits()
FOUND = frozenset({("TOTAL", 0, 5), ("DATE", 9, 19)})
FINE = CanaryAnswer(0.010, FOUND)


@pytest.mark.parametrize(("percent", "turns"), [(0.0, 0), (0.5, 5), (5.0, 50), (33.4, 334), (100.0, 1000)])
def test_the_share_is_exact_and_spread_evenly(percent: float, turns: int) -> None:
    chosen = [number for number in range(1, 1001) if is_candidates_turn(number, percent)]
    assert len(chosen) == turns
    gaps = {after - before for before, after in pairwise(chosen)}
    assert len(gaps) <= 2, "never two long gaps of different length and one short"


def test_a_candidate_that_does_the_same_is_promoted() -> None:
    report = compare([FINE] * 50, [FINE] * 50)
    assert report.problems(LIMITS) == []
    assert (report.drift, report.errors) == (0.0, (0.0, 0.0))


@pytest.mark.parametrize(
    ("candidate", "problem"),
    [
        ([FINE] * 49 + [CanaryAnswer(0.01, error="internal_error")], "it fails on 2.0%"),
        ([replace(FINE, seconds=0.02)] * 50, "its p50 is 2.00"),
        ([FINE] * 49 + [replace(FINE, seconds=0.5)], "its p99 is 50.00"),
        ([replace(FINE, entities=frozenset({("TOTAL", 0, 5)}))] * 50, "50.0% of the entities differ"),
        ([CanaryAnswer(0.01, error="unknown_model")] * 50, "its p50 is nan"),
    ],
)
def test_what_is_worse_is_a_problem(candidate: list[CanaryAnswer], problem: str) -> None:
    found = compare([FINE] * 50, candidate).problems(LIMITS)
    assert [each for each in found if each.startswith(problem)]


def test_few_documents_prove_nothing() -> None:
    assert compare([FINE] * 3, [FINE] * 3).problems(LIMITS) == ["3 documents prove nothing; 20 do"]
    assert compare([], []).problems(LIMITS)


def test_drift_counts_entities_that_one_of_the_two_has_by_label() -> None:
    moved = frozenset({("TOTAL", 0, 6), ("DATE", 9, 19)})
    report = compare([FINE, FINE], [FINE, replace(FINE, entities=moved)])
    assert report.drift == pytest.approx(2 / 5)
    assert dict(report.drift_by_label) == {"DATE": 0.0, "TOTAL": pytest.approx(2 / 3)}
