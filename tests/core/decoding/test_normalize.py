"""What is unambiguous is normalised; what is not stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.decoding.normalize import RULES, normalize


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("EUR 1,200.00", "1200.00 EUR"),
        ("1.234,56 €", "1234.56 EUR"),
        ("$1,234", "1234 USD"),
        ("1'234.50 CHF", "1234.50 CHF"),
        ("1 234,50 zł", "1234.50 PLN"),
        ("12,5", "12.5"),
        ("1.234.567", "1234567"),
        ("-5.00", "-5.00"),
        ("RM 9.00", "9.00 MYR"),
        ("Rs. 1,23,456.50", "123456.50"),
        ("100 kr", "100"),
        ("EUR -5.00", "-5.00 EUR"),
        ("-$5", "-5 USD"),
        ("500,00-", "-500.00"),
        ("5,- €", "5 EUR"),
        ("0,125", "0.125"),
        ("1234,567", "1234.567"),
        ("1.234,567", "1234.567"),
        ("1,234.567.89", "1,234.567.89"),
        ("12.34.56", "12.34.56"),
        ("5 6", "5 6"),
        ("(5.00)", "(5.00)"),
        ("$1.5 million", "$1.5 million"),
        ("$15 per hour", "$15 per hour"),
        ("5 EUR / USD", "5 EUR / USD"),
        ("٥ €", "٥ €"),
        ("between 5 and 6", "between 5 and 6"),
        ("five\n euros", "five euros"),
    ],
)
def test_amounts(text: str, value: str) -> None:
    assert normalize("TOTAL_AMOUNT", text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-03-12", "2026-03-12"),
        ("2026/3/2", "2026-03-02"),
        ("12.03.2026", "2026-03-12"),
        ("25/12/2018", "2018-12-25"),
        ("12/25/2018", "2018-12-25"),
        ("05/05/2026", "2026-05-05"),
        ("03/04/2026", "03/04/2026"),
        ("12 March 2026", "2026-03-12"),
        ("March 12, 2026", "2026-03-12"),
        ("12. März 2026", "2026-03-12"),
        ("le 12 mars 2026", "2026-03-12"),
        ("1er mars 2026", "2026-03-01"),
        ("12 de marzo de 2026", "2026-03-12"),
        ("3rd of May 2026", "2026-05-03"),
        ("12-Mar-2026", "2026-03-12"),
        ("12. Ma\u0308rz 2026", "2026-03-12"),
        ("Donnerstag, den 12. März 2026", "2026-03-12"),
        ("2026年3月12日", "2026-03-12"),
        ("12.03.26", "12.03.26"),
        ("31.02.2026", "31.02.2026"),
        ("12 Brumaire 2026", "12 Brumaire 2026"),
        ("next\nFriday", "next Friday"),
    ],
)
def test_dates(text: str, value: str) -> None:
    assert normalize("DUE_DATE", text) == value


@pytest.mark.parametrize(
    ("label", "text", "value"),
    [
        ("IBAN", "de89 3704 0044 0532 0130 00", "DE89370400440532013000"),
        ("TAX_ID", "DE 136 695 976", "DE136695976"),
        ("PERCENT", "19 %", "19"),
        ("PERCENT", "7,7%", "7.7"),
        ("PERCENT", "7.125 %", "7.125"),
        ("PERCENT", "-5 percent", "-5"),
        ("PERCENT", "5-7 %", "5-7 %"),
        ("EMAIL", "Jane.Doe@ACME.Example", "Jane.Doe@acme.example"),
        ("EMAIL", "jane@acme.example.", "jane@acme.example"),
        ("EMAIL", "nobody", "nobody"),
        ("PERSON", "Jane\n  Doe", "Jane Doe"),
        ("URL", "https://Example.com/A", "https://Example.com/A"),
    ],
)
def test_other_labels(label: str, text: str, value: str) -> None:
    assert normalize(label, text) == value


@given(st.sampled_from([*RULES, "PERSON"]), st.text(max_size=40))
@settings(deadline=None)
def test_any_text_has_a_value_without_line_breaks(label: str, text: str) -> None:
    assert "\n" not in normalize(label, text)
