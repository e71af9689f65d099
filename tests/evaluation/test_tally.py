"""Rates and their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from service.evaluation.tally import LEAST_GROUPS, Tally, interval


def test_rates_follow_from_counts_over_all_groups() -> None:
    tally = Tally()
    tally.add("a", gold=3, found=2, right=1)
    tally.add("a", gold=1, found=0, right=0)
    tally.add("b", gold=4, found=4, right=3)
    score = tally.score()
    assert (score.gold, score.found, score.right, score.groups) == (8, 6, 4, 2)
    assert (score.precision, score.recall, score.f1) == pytest.approx((4 / 6, 4 / 8, 8 / 14))
    assert (score.low, score.high) == (None, None), "two groups have no interval"


def test_nothing_counted_is_a_score_of_nothing() -> None:
    score = Tally().score()
    assert (score.gold, score.f1, score.precision, score.recall, score.groups) == (0, 0.0, 0.0, 0.0, 0)


def test_an_interval_covers_its_score_and_narrows_with_more_groups() -> None:
    random = np.random.default_rng(1)
    widths = []
    for groups in (LEAST_GROUPS, 50, 3_000):
        right = random.integers(0, 11, groups)
        low, high = interval(np.stack([np.full(groups, 10), np.full(groups, 10), right], axis=1))
        assert low <= right.sum() / (10 * groups) <= high
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.05


def test_equal_groups_leave_no_doubt() -> None:
    tally = Tally()
    for group in range(LEAST_GROUPS):
        tally.add(group, gold=10, found=10, right=5)
    score = tally.score()
    assert (score.low, score.f1, score.high) == (0.5, 0.5, 0.5)
