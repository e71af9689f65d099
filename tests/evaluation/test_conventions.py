"""One convention of borders for the truth and for what was found."""

from __future__ import annotations

import pytest

from service.evaluation.conventions import conventional
from service.evaluation.records import LabelledSpan


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


def test_of_spans_that_overlap_the_first_and_longest_stays_and_other_labels_do_not_count() -> None:
    found = [LabelledSpan(2, 6, "B"), LabelledSpan(0, 3, "A"), LabelledSpan(0, 4, "A"), LabelledSpan(7, 9, "C")]
    assert conventional("x" * 10, found, {"A", "B"}) == [LabelledSpan(0, 4, "A")]
