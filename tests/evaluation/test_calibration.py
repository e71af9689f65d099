"""The expected calibration error."""

from __future__ import annotations

import pytest

from service.evaluation.calibration import calibration


def test_scores_that_mean_what_they_say_have_no_error() -> None:
    scored = [(0.75, number % 4 < 3) for number in range(100)]
    found = calibration(scored)
    assert found.error == pytest.approx(0.0)
    assert [(each.above, each.entities, each.right) for each in found.bins] == [(0.7, 100, 0.75)]


def test_the_error_is_the_mean_distance_by_entities() -> None:
    found = calibration([(1.0, False)] * 3 + [(0.25, True)])
    assert found.error == pytest.approx((3 * 1.0 + 1 * 0.75) / 4)
    assert [each.above for each in found.bins] == [0.2, 0.9]


def test_nothing_found_is_no_error() -> None:
    assert calibration([]).error == 0.0
