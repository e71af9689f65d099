"""Words that a page holds twice, and marks across its lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from tests.support import document_files
from tests.support.scans import written

LINES = ["Kestrel Paper Ltd", "Invoice date: 14 March 2025", "Total GBP 576.00", "IBAN GB29 NWBK 6016 1331 9268 19"]
LINES += [f"{n} reams of paper {n}4.50 {n}4.50" for n in range(2, 8)]
SHOWN, INVISIBLE = 0, 3


def text_of(draw: Callable[[Any], None]) -> str:
    return read_pdf(document_files.drawn(draw), limits=DocumentLimits()).text


def lines(canvas: Any, texts: list[str] = LINES, *, dx: float = 0, dy: float = 0) -> None:
    canvas.setFont("Helvetica", 12)
    for number, text in enumerate(texts):
        canvas.drawString(60 + dx, 700 - 16 * number + dy, text)


def recognized(canvas: Any, texts: list[str] = LINES, *, off: float = 2, mode: int = INVISIBLE) -> None:
    """A layer as OCR writes it: each word by itself, stretched to its box, with some points of error."""
    canvas.saveState()
    for number, line in enumerate(texts):
        reached = 60.0
        for word in line.split():
            text = canvas.beginText(reached + off * (-1 if number % 2 else 1), 700 - 16 * number + off / 2)
            text.setTextRenderMode(mode)
            text.setFont("Courier", 10)
            wide = stringWidth(word, "Helvetica", 12)
            text.setHorizScale(100 * wide / stringWidth(word, "Courier", 10))
            text.textOut(word)
            canvas.drawText(text)
            reached += stringWidth(word + " ", "Helvetica", 12)
    canvas.restoreState()


def twice(canvas: Any, *, dx: float = 0, dy: float = 0) -> None:
    lines(canvas)
    lines(canvas, dx=dx, dy=dy)


def form_twice(canvas: Any) -> None:
    canvas.beginForm("body")
    lines(canvas)
    canvas.endForm()
    canvas.doForm("body")
    canvas.doForm("body")


def scan(canvas: Any) -> None:
    places = [(60, 700 - 16 * number, text) for number, text in enumerate(LINES)]
    canvas.drawImage(ImageReader(written(places)), 0, 0, document_files.PAGE_WIDTH, document_files.PAGE_HEIGHT)
    recognized(canvas)


def layer_before(canvas: Any) -> None:
    recognized(canvas)
    lines(canvas)


def layer_after(canvas: Any) -> None:
    lines(canvas)
    recognized(canvas)


def layer_with_errors(canvas: Any) -> None:
    lines(canvas)
    recognized(canvas, [line.replace("o", "0").replace("B", "8") for line in LINES])


@pytest.mark.parametrize(
    "draw",
    [
        lines,
        twice,
        lambda canvas: twice(canvas, dx=0.4),
        lambda canvas: twice(canvas, dx=1.2, dy=-1.2),
        form_twice,
        layer_before,
        layer_after,
        layer_with_errors,
        scan,
    ],
    ids="once twice bold shadow form before after errors scan".split(),
)
def test_each_word_is_read_once(draw: Callable[[Any], None]) -> None:
    assert text_of(draw).split("\n") == LINES


def test_equal_words_beside_each_other_stay() -> None:
    texts = ["She had had had it", "1 1 1 11 11", "-- -- ..... ....", "100.00 100.00 100.00", "100.00 100.00 100.00"]
    assert text_of(lambda canvas: lines(canvas, texts)).split("\n") == texts


def test_a_hidden_layer_beside_shown_text_stays() -> None:
    def draw(canvas: Any) -> None:
        scan(canvas)
        lines(canvas, LINES[:2])

    assert text_of(draw).split("\n") == LINES


def test_a_level_stamp_keeps_its_words_and_those_below() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas)
        canvas.drawString(124, 700 - 32, "PAID")

    assert text_of(draw).split("\n")[2] == "Total GBP 576.00 PAID"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("size", [40, 72])
def test_a_large_level_mark_is_read_after_the_lines(size: int, first: bool) -> None:
    def mark(canvas: Any) -> None:
        canvas.setFont("Helvetica-Bold", size)
        canvas.drawString(70, 620, "DRAFT")

    def draw(canvas: Any) -> None:
        for part in (mark, lines) if first else (lines, mark):
            part(canvas)

    assert text_of(draw).split("\n") == [*LINES, "DRAFT"]


def test_a_large_title_stays_in_its_place() -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, dy=-30)
        canvas.setFont("Helvetica-Bold", 40)
        canvas.drawString(60, 700, "INVOICE")

    assert text_of(draw).split("\n") == ["INVOICE", *LINES]
