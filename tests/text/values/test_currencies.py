"""Currencies: what a sign or a code means in a document, and the currency of its country."""

from __future__ import annotations

import pytest

from service.text.values.context import DocumentContext
from service.text.values.currencies import currency_of_word, home_currency


@pytest.mark.parametrize(
    ("word", "text", "code"),
    [
        ("€", "Total", "EUR"),
        ("CHF", "Total", "CHF"),
        ("VAT", "Total", None),
        ("₹", "Total", "INR"),
        ("$", "Calgary AB T2P 1J9, Canada", "CAD"),
        ("kr", "Total", None),
        ("kr", "Faktura, Org.nr 556418-0007, www.grus.se", "SEK"),
    ],
)
def test_a_word_or_sign_names_a_currency(word: str, text: str, code: str | None) -> None:
    assert currency_of_word(word, DocumentContext(text)) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("IBAN CH93 0076 2011 6238 5295 7", "CHF"),
        ("IBAN DE89 3704 0044 0532 0130 00 and IBAN FR14 2004 1010 0505 0001 3M02 606", "EUR"),
        ("IBAN DE89 3704 0044 0532 0130 00 and IBAN CH93 0076 2011 6238 5295 7", None),
        ("Thank you", None),
    ],
)
def test_the_countries_of_a_text_have_one_currency_or_none_counts(text: str, code: str | None) -> None:
    assert home_currency(DocumentContext(text)) == code
