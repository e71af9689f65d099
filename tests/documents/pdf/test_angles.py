"""Text that is turned or slanted, alone and beside level text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files

LINES = ["Invoice date: 14 March 2025", "Net amount GBP 480.00", "VAT 20 % GBP 96.00", "Total GBP 576.00"]


def text_of(draw: Callable[[Any], None]) -> str:
    return read_pdf(document_files.drawn(draw), limits=DocumentLimits()).text


def block(canvas: Any, lines: list[str] = LINES, *, x: float = 300, y: float = 400, angle: float = 0) -> None:
    canvas.saveState()
    canvas.translate(x, y)
    canvas.rotate(angle)
    for number, line in enumerate(lines):
        canvas.drawString(0, -14 * number, line)
    canvas.restoreState()


@pytest.mark.parametrize("angle", [0, 2, 30, 45, 75, 90, 105, 135, 180, 187, 225, 270, 300, 353])
def test_a_block_at_any_angle_reads_as_level(angle: int) -> None:
    assert text_of(lambda canvas: block(canvas, angle=angle)).split("\n") == LINES


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turned_pages_with_turned_content_read_as_shown(rotation: int, angle: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.setPageRotation(rotation)
        block(canvas, angle=angle)

    assert text_of(draw).split("\n") == LINES


@pytest.mark.parametrize("angle", [20, 45, 90, 180, 315])
def test_a_stamp_over_lines_stays_apart_from_them(angle: int) -> None:
    def draw(canvas: Any) -> None:
        block(canvas, x=100)
        block(canvas, ["PAID 17.03."], x=200, y=375, angle=angle)

    assert text_of(draw).split("\n") == [*LINES, "PAID 17.03."]


def test_a_slanted_mark_drawn_between_lines_joins_none() -> None:
    def draw(canvas: Any) -> None:
        block(canvas, LINES[:2], x=100)
        canvas.setFont("Helvetica-Bold", 40)
        block(canvas, ["COPY COPY"], x=90, y=330, angle=40)
        canvas.setFont("Helvetica", 12)
        block(canvas, LINES[2:], x=100, y=372)

    assert text_of(draw).split("\n") == [*LINES, "COPY COPY"]


def test_a_slanting_font_is_level() -> None:
    def draw(canvas: Any) -> None:
        text = canvas.beginText()
        text.setTextTransform(1, 0, 0.3, 1, 100, 400)
        text.textOut("synthetic italics")
        canvas.drawText(text)
        canvas.drawString(100 + stringWidth("synthetic italics ", "Helvetica", 12), 400, "and upright")

    assert text_of(draw) == "synthetic italics and upright"


def test_boxes_of_upside_down_text_are_where_it_shows() -> None:
    document = read_pdf(document_files.drawn(lambda canvas: block(canvas, angle=180)), limits=DocumentLimits())
    start = document.text.index("480.00")
    before, width = (stringWidth(text, "Helvetica", 12) for text in ("Net amount GBP ", "480.00"))
    [(left, _, right, bottom)] = document.boxes(start, start + 6)
    assert (left, right) == pytest.approx((300 - before - width, 300 - before), abs=1)
    assert 380 < bottom < 400
