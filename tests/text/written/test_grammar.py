"""What is written like an amount, a day, an identifier or a count."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from service.text.values.context import DocumentContext
from service.text.written.grammar import Span, amounts, counts, days, identifiers


def texts(text: str, spans: Iterable[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("TOTAL RM 9.00", ["RM 9.00"]),
        ("TOTAL RM9.00", ["RM9.00"]),
        ("TOTAL 9.00 SR", ["9.00"]),
        ("GST 6.00", ["6.00"]),
        ("Total: 1.234,50 €", ["1.234,50 €"]),
        ("Total: 1 234,50 €", ["1 234,50 €"]),
        ("Total 1,23,456.00", ["1,23,456.00"]),
        ("Total $5,738", ["$5,738"]),
        ("Total 5,738", ["5,738"]),
        ("合計:1200円", ["1200円"]),
        ("合計 ￥1,200-", ["￥1,200"]),
        ("Total:9.00 at 10:15", ["9.00"]),
        ("ADJ -0.01", ["-0.01"]),
        ("ADJ 0.04-", ["0.04-"]),
        ("ADJ (0.04)", ["(0.04)"]),
        ("(total 0.04)", ["0.04"]),
        ("8 Unit(s) 4.55 € 10% 32.76 €", ["4.55 €", "32.76 €"]),
        ("7 % 22,00", ["22,00"]),
        ("19,00 % USt", []),
        ("12.03.2026 and 1.2.3 and 10:15", []),
        ("5 pieces (5), room 12, 2026", []),
        ("4 2 500.00", ["500.00"]),
        ("NO-17.50/A", []),
    ],
)
def test_amounts_have_decimals_groups_or_a_currency(text: str, wanted: list[str]) -> None:
    assert texts(text, amounts(DocumentContext(text), text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("netto bis 04.04.2018, 3% Skonto bis 15.03.2018", ["04.04.2018", "15.03.2018"]),
        ("due 12 March 2026.", ["12 March 2026"]),
        ("le 12 mars 2026", ["12 mars 2026"]),
        ("2026年3月12日", ["2026年3月12日"]),
        ("March 2026, 04/2017, 2019", []),
        ("31/02/2024", []),
        ("03/04/2025", ["03/04/2025"]),
    ],
)
def test_days_are_dates_with_a_day(text: str, wanted: list[str]) -> None:
    assert texts(text, days(DocumentContext(text), text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Avoir AV-2017-0005", ["AV-2017-0005"]), ("Nr:22497.", ["22497"]), ("INV/2026/17", ["INV/2026/17"]),
     ("a 12 word", []), ("Invoice", []), ("x" * 90 + "1", [])],
)  # fmt: skip
def test_identifiers_have_a_digit(text: str, wanted: list[str]) -> None:
    assert texts(text, identifiers(text)) == wanted


def test_counts_have_their_unit_and_stay_within_their_place() -> None:
    text = "9 Steak 5,5000 4 kg 7 % 22,00 3 Xyz"
    context = DocumentContext(text)
    assert texts(text, counts(context, text, (2, len(text)))) == ["4 kg", "22,00", "3"]
    assert texts(text, counts(context, text, (0, 2))) == ["9"]
