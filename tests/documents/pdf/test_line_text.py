"""Raised text after numbers."""

from __future__ import annotations

from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files

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
