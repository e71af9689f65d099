"""Raised text after numbers: cents, marks, and what is joined; in texts and on pages."""

from __future__ import annotations

from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.raised_text import raised_separator
from tests.support import document_files


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


Run = tuple[str, float, float]
"""Text, font size, points above the base line."""


def text_of(*runs: Run, gap: float = 0, angle: float = 0, tail: str = "") -> str:
    def draw(canvas: Any) -> None:
        canvas.translate(300, 400)
        canvas.rotate(angle)
        x = 0.0
        for text, size, raised in runs:
            canvas.setFont("Helvetica", size)
            canvas.drawString(x, raised, text)
            x += stringWidth(text, "Helvetica", size) + gap
        canvas.setFont("Helvetica", 10)
        canvas.drawString(0, -30, "end")

    return read_pdf(document_files.drawn(draw), limits=DocumentLimits()).text.split("\nend")[0]


@pytest.mark.parametrize("angle", [0, 90, 180])
@pytest.mark.parametrize("gap", [0, 0.5, 2])
def test_raised_cents_of_a_price_are_decimals(gap: float, angle: float) -> None:
    assert text_of(("Summe EUR 9", 12, 0), ("78", 7, 4.5), gap=gap, angle=angle) == "Summe EUR 9.78"


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        ([("$ 1,299", 24, 0), ("99", 12, 8.5)], "$ 1,299.99"),
        ([("€ 1.299", 24, 0), ("99", 12, 8.5)], "€ 1.299,99"),
        ([("7", 20, 0), ("49", 11, 6), (" EUR", 11, 0)], "7.49 EUR"),
        ([("Total $ 1,250.00", 12, 0), ("1", 7, 4.5)], "Total $ 1,250.00 1"),
        ([("Total $ 1,250.00", 12, 0), ("12", 7, 4.5), (" paid", 12, 0)], "Total $ 1,250.00 12 paid"),
        ([("Umsatz 2024", 12, 0), ("3", 7, 4.5)], "Umsatz 2024 3"),
        ([("le 1", 12, 0), ("er", 7, 4.5), (" mars", 12, 0)], "le 1er mars"),
        ([("120 m", 12, 0), ("2", 7, 4.5)], "120 m2"),
        ([("H", 12, 0), ("2", 7, -2), ("O", 12, 0)], "H2O"),
        ([("€ 12", 12, 0), ("34", 12, 0)], "€ 1234"),
        ([("€ 12", 12, 0), ("34", 7, 0)], "€ 1234"),
    ],
)
def test_raised_text_is_told_by_size_and_base_line(runs: list[Run], text: str) -> None:
    assert text_of(*runs) == text
