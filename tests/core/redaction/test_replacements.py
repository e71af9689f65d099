from __future__ import annotations

import pytest

from service.core.redaction.replacements import HASH_DIGITS, RedactionMode, hashed, replaced_text, replacer
from service.core.redaction.spans import RedactedSpan
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

TEXT = "Jane Doe pays Jane\nDoe 5 €."
SPANS = [RedactedSpan("PERSON", 0, 8, 0.9), RedactedSpan("PERSON", 14, 22, None)]
KEY = b"of the service"


def value_of(label: str, text: str) -> str:
    return read_value(label, text, DocumentContext(TEXT)).text


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (RedactionMode.REPLACE, "<PERSON> pays <PERSON> 5 €."),
        (RedactionMode.MASK, "******** pays ****\n*** 5 €."),
    ],
)
def test_each_mode(mode: RedactionMode, expected: str) -> None:
    assert replaced_text(TEXT, SPANS, replacer(mode, KEY, value_of))[0] == expected


def test_offsets_of_both_texts_lead_to_what_went_and_what_came() -> None:
    new, made = replaced_text(TEXT, SPANS, replacer(RedactionMode.REPLACE, KEY, value_of))
    assert [TEXT[each.span.start : each.span.end] for each in made] == ["Jane Doe", "Jane\nDoe"]
    assert [new[each.new_start : each.new_end] for each in made] == ["<PERSON>", "<PERSON>"]


def test_equal_values_have_equal_hashes_under_one_key_only() -> None:
    new, made = replaced_text(TEXT, SPANS, replacer(RedactionMode.HASH, KEY, value_of))
    assert made[0].replacement == made[1].replacement
    assert made[0].replacement == f"<PERSON:{hashed(KEY, 'jane doe')}>"
    assert len(made[0].replacement) == len("<PERSON:>") + HASH_DIGITS
    assert "Jane" not in new
    assert hashed(KEY, "Jane Doe") != hashed(b"another", "Jane Doe")
    assert hashed(KEY, "Jane Doe") != hashed(KEY, "John Doe")


def test_amounts_are_hashed_by_what_they_are_worth() -> None:
    replace = replacer(RedactionMode.HASH, KEY, value_of)
    assert replace("TOTAL_AMOUNT", "EUR 1,200.00") == replace("TOTAL_AMOUNT", "1.200,00 €")


def test_a_text_from_which_nothing_goes_stays() -> None:
    assert replaced_text(TEXT, [], replacer(RedactionMode.MASK, KEY, value_of)) == (TEXT, [])
