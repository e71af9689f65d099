"""Least scores by label: how they are written, and what they keep."""

from __future__ import annotations

import pytest

from service.core.score_limits import ScoreLimits, read_limits


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (0.5, ScoreLimits(0.5)),
        (1, ScoreLimits(1.0)),
        (ScoreLimits(0.2), ScoreLimits(0.2)),
        ("0.5", ScoreLimits(0.5)),
        ("0.5, PERSON: 0.8,IBAN:0", ScoreLimits(0.5, (("PERSON", 0.8), ("IBAN", 0.0)))),
        ("PERSON:0.8,PERSON:0.9", ScoreLimits(0.0, (("PERSON", 0.9),))),
    ],
)
def test_limits_are_read(value: object, limits: ScoreLimits) -> None:
    assert read_limits(value) == limits


@pytest.mark.parametrize("value", [True, None, [], 1.5, -1, "", "x", "PERSON:2", ":0.5", "0.5,,"])
def test_what_is_no_limit_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"should be|names no label"):
        read_limits(value)


def test_a_label_of_its_own_limit_is_kept_by_that() -> None:
    limits = read_limits("0.5,PERSON:0.8")
    assert limits.keeps("IBAN", 0.5)
    assert not limits.keeps("PERSON", 0.7)
