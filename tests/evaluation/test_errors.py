"""What kind of error each entity is."""

from __future__ import annotations

import pytest

from service.evaluation.errors import Outcome, outcomes, overlapping
from service.evaluation.records import LabelledSpan

GOLD = LabelledSpan(10, 20, "A")


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ([(10, 20, "A")], Outcome.RIGHT),
        ([(10, 14, "A"), (15, 20, "A")], Outcome.SPLIT),
        ([(10, 15, "A")], Outcome.SHORT),
        ([(15, 25, "A")], Outcome.SHORT),
        ([(8, 20, "A")], Outcome.LONG),
        ([(10, 20, "B")], Outcome.WRONG_LABEL),
        ([(10, 15, "B")], Outcome.LABEL_AND_BORDER),
        ([], Outcome.MISSED),
        ([(0, 10, "A"), (20, 30, "A")], Outcome.MISSED),
    ],
)
def test_an_entity_of_the_truth(found: list[tuple[int, int, str]], outcome: Outcome) -> None:
    counts = outcomes([GOLD], [LabelledSpan(*each) for each in found])
    assert {each for each in counts if counts[each] and each is not Outcome.SPURIOUS} == {outcome}


def test_what_is_found_where_nothing_is_is_spurious() -> None:
    found = [LabelledSpan(0, 10, "A"), LabelledSpan(10, 20, "A"), LabelledSpan(20, 30, "A")]
    assert outcomes([GOLD], found)[Outcome.SPURIOUS] == 2


def test_overlapping_spans_are_those_that_share_a_character() -> None:
    spans = [LabelledSpan(0, 10, "A"), LabelledSpan(10, 12, "A"), LabelledSpan(15, 21, "A"), LabelledSpan(21, 22, "A")]
    assert overlapping(spans, GOLD) == spans[1:3]
