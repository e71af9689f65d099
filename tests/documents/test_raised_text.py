from __future__ import annotations

import pytest

from service.documents.raised_text import raised_separator


@pytest.mark.parametrize(
    ("before", "raised", "after", "written"),
    [
        ("Gesamtbetrag: € 25", "90", "", "€ 25.90"),
        ("Total\t$1,299", "00", " incl. tax", "$1,299.00"),
        ("Summe EUR\t9", "78", "", "EUR\t9.78"),
        ("Gesamt 1.299", "00", " €", "1.299,00"),
        ("Prix 12", "50 €", "", "12.50 €"),
        ("CHF 1'299", "95", "", "CHF 1'299.95"),
        ("Saldo: € -25", "90", "", "€ -25.90"),
        ("Kaina 7", "49", " EUR", "7.49"),
    ],
)
def test_raised_cents_get_a_decimal_sign(before: str, raised: str, after: str, written: str) -> None:
    assert (before + raised_separator(before, raised, after) + raised).endswith(written)


@pytest.mark.parametrize(
    ("before", "raised", "after"),
    [
        ("$ 1,250.00", "1", ""),
        ("$ 1,250.00", "12", ""),
        ("€ 1,250", "1", ""),
        ("Revenue 2024", "12", " of the report in €"),
        ("¥ 1,500", "12", ""),
        ("$ 1,250.00", "a", ""),
        ("€ 1,250", "(b)", ""),
        ("3,200.00", "[4]", ""),
        ("10", "6", " EUR"),
        ("€ 25", "905", ""),
        ("1", "1", "/2 Zoll"),
    ],
)
def test_a_mark_after_a_number_is_separated(before: str, raised: str, after: str) -> None:
    assert raised_separator(before, raised, after) == " "


@pytest.mark.parametrize(
    ("before", "raised", "after"),
    [
        ("le 1", "er", " janvier"),
        ("the 25", "th", ""),
        ("120 m", "2", ""),
        ("Kestrel GmbH", "1", ""),
        ("€ 25", ",90", ""),
        ("25€", "90", ""),
        ("€ 25", "*", ""),
        ("", "1", " A note"),
        ("5", "º", " andar"),
    ],
)
def test_what_changes_no_number_is_joined(before: str, raised: str, after: str) -> None:
    assert raised_separator(before, raised, after) == ""
