"""Span scores: conventions, kinds of errors, rates and intervals."""

from __future__ import annotations

import numpy as np
import pytest

from service.evaluation.labelled_documents import LabelledSpan
from service.evaluation.span_scores import LEAST_GROUPS, Outcome, Tally, conventional, interval, outcomes, overlapping


def spans(text: str, *found: tuple[str, str]) -> list[LabelledSpan]:
    return [LabelledSpan(text.index(part), text.index(part) + len(part), label) for label, part in found]


@pytest.mark.parametrize(
    ("text", "parts", "whole"),
    [
        ("Hauptstr. 5\n80333 München", ("Hauptstr. 5", "80333", "München"), ["Hauptstr. 5\n80333 München"]),
        ("Hauptstr. 5\nDE 80333", ("Hauptstr. 5", "80333"), ["Hauptstr. 5\nDE 80333"]),
        ("Hauptstr. 5 and Quay St 2", ("Hauptstr. 5", "Quay St 2"), ["Hauptstr. 5", "Quay St 2"]),
    ],
)
def test_neighbouring_parts_of_an_address_are_one(text: str, parts: tuple[str, ...], whole: list[str]) -> None:
    found = conventional(text, spans(text, *(("ADDRESS", part) for part in parts)), {"ADDRESS"})
    assert [text[span.start : span.end] for span in found] == whole


@pytest.mark.parametrize(
    ("text", "label", "whole"),
    [
        ("pay EUR 9.00 now", "MONEY", "EUR 9.00"),
        ("pay 9.00 € now", "TOTAL_AMOUNT", "9.00 €"),
        ("pay $9.00", "NET_AMOUNT", "$9.00"),
        ("NEUR 9.00 EUROPE", "MONEY", "9.00"),
        ("pay EUR 9.00", "QUANTITY", "9.00"),
    ],
)
def test_a_currency_belongs_to_its_amount(text: str, label: str, whole: str) -> None:
    (span,) = conventional(text, spans(text, (label, "9.00")), {label})
    assert text[span.start : span.end] == whole


def test_of_overlapping_spans_the_first_and_longest_stays() -> None:
    found = [LabelledSpan(2, 6, "B"), LabelledSpan(0, 3, "A"), LabelledSpan(0, 4, "A"), LabelledSpan(7, 9, "C")]
    assert conventional("x" * 10, found, {"A", "B"}) == [LabelledSpan(0, 4, "A")]


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


def test_overlapping_spans_are_those_that_share_a_character() -> None:
    spans = [LabelledSpan(0, 10, "A"), LabelledSpan(10, 12, "A"), LabelledSpan(15, 21, "A"), LabelledSpan(21, 22, "A")]
    assert overlapping(spans, GOLD) == spans[1:3]


def test_rates_follow_from_counts_over_all_groups() -> None:
    tally = Tally()
    tally.add("a", gold=3, found=2, right=1)
    tally.add("a", gold=1, found=0, right=0)
    tally.add("b", gold=4, found=4, right=3)
    score = tally.score()
    assert (score.gold, score.found, score.right, score.groups) == (8, 6, 4, 2)
    assert (score.precision, score.recall, score.f1) == pytest.approx((4 / 6, 4 / 8, 8 / 14))
    assert (score.low, score.high) == (None, None), "two groups have no interval"


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
