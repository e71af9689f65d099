"""Least scores by label: how they are written, and what they keep."""

from __future__ import annotations

import sys

import jsonschema_rs
import pytest

from service.core.score_limits import PATTERN, ScoreLimits, read_limits


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (0.5, ScoreLimits(0.5)),
        (1, ScoreLimits(1.0)),
        (ScoreLimits(0.2), ScoreLimits(0.2)),
        ("0.5", ScoreLimits(0.5)),
        ("0.5, PERSON: 0.8,IBAN:0", ScoreLimits(0.5, (("PERSON", 0.8), ("IBAN", 0.0)))),
        ("PERSON:0.8,PERSON:0.9", ScoreLimits(None, (("PERSON", 0.9),))),
    ],
)
def test_limits_are_read(value: object, limits: ScoreLimits) -> None:
    assert read_limits(value) == limits


@pytest.mark.parametrize("value", [True, None, [], 1.5, -1, "", "x", "PERSON:2", ":0.5", "0.5,,"])
def test_what_is_no_limit_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"should be|names no label"):
        read_limits(value)


def test_a_label_of_spaces_alone_is_refused_by_the_schemas_pattern_too() -> None:
    shown = jsonschema_rs.validator_for({"type": "string", "pattern": PATTERN})
    assert shown.is_valid("0.5, PERSON: 0.8,IBAN:0")
    for space in filter(str.isspace, map(chr, range(sys.maxunicode + 1))):
        assert not shown.is_valid(f"{space}:0.5"), ascii(space)
        with pytest.raises(ValueError, match="names no label"):
            read_limits(f"{space}:0.5")


def test_a_label_of_its_own_limit_is_kept_by_that() -> None:
    limits = read_limits("0.5,PERSON:0.8")
    assert limits.keeps("IBAN", 0.5)
    assert not limits.keeps("PERSON", 0.7)
