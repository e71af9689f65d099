"""A calibrated score is the share that is right; the map never falls."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.builtin.training.fitting.calibration import MOST_POINTS, calibration_error, fit_calibration


def overconfident(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Entities of which the square of their score is right."""
    random = np.random.default_rng(seed)
    scores = random.uniform(0.2, 1.0, count)
    return scores, random.uniform(size=count) < scores**2


def test_a_fitted_map_takes_most_of_the_error_away_from_other_entities() -> None:
    calibration = fit_calibration(*overconfident(4_000, seed=1))
    scores, is_right = overconfident(4_000, seed=2)
    before = calibration_error(scores, is_right)
    after = calibration_error(np.array(calibration.shares_of(scores.tolist())), is_right)
    assert before > 0.15
    assert after < 0.03


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=300))
def test_points_never_fall_and_are_few(entities: list[tuple[float, bool]]) -> None:
    scores, is_right = np.array([e[0] for e in entities]), np.array([e[1] for e in entities])
    calibration = fit_calibration(scores, is_right)
    assert 1 <= len(calibration.scores) == len(calibration.shares) <= MOST_POINTS
    for points in (calibration.scores, calibration.shares):
        assert all(left <= right for left, right in pairwise(points))
        assert points[0] >= 0.0
        assert points[-1] <= 1.0


def test_the_error_is_the_mean_distance_by_bins() -> None:
    scores = np.array([0.05, 0.05, 0.95, 0.95])
    is_right = np.array([False, True, True, True])
    assert calibration_error(scores, is_right) == pytest.approx((2 * 0.45 + 2 * 0.05) / 4)
