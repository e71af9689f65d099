"""Text below a box that is painted over it does not show, and is neither read nor left in a redacted file."""

from __future__ import annotations

import io
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String
from reportlab.lib.utils import ImageReader

from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.redaction.pdf_redactor import redact_pdf
from service.documents.redaction.values import Redaction
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH, drawn
from tests.support.odd_pdfs import PAGE, form_xobject, new_pdf, saved
from tests.support.scans import written

Draw = Callable[[Any], None]
OLD = "BT /F1 12 Tf 60 700 Td (Total EUR 1,576.00) Tj ET\n"
NEW = "0 g BT /F1 12 Tf 60 700 Td (Total EUR 99.50) Tj ET\n"
COVER = "55 694 150 18 re f\n"


def text_of(data: bytes) -> str:
    return read_pdf(data, limits=DocumentLimits()).text


def page(content: str, **resources: Any) -> bytes:
    return saved(new_pdf(content.encode(), resources=resources))


def in_forms(first: str, second: str, **second_form: Any) -> bytes:
    """A page with two forms at half their size, the second with a group of its own content."""
    pdf = new_pdf(b"q 0.5 0 0 0.5 20 30 cm /A Do /B Do Q")
    forms = Dictionary(A=form_xobject(pdf, first.encode()), B=form_xobject(pdf, second.encode(), **second_form))
    pdf.pages[0].obj["/Resources"]["/XObject"] = forms
    return saved(pdf)


def turned(content: str, degrees: int) -> bytes:
    pdf = new_pdf(content.encode())
    pdf.pages[0].obj["/Rotate"] = degrees
    return saved(pdf)


def annotated(content: str, appearance: str, kind: Any = Name.Square) -> bytes:
    pdf = new_pdf(content.encode())
    note = Dictionary(Type=Name.Annot, Subtype=kind, F=4, Rect=Array(PAGE))
    note["/AP"] = Dictionary(N=form_xobject(pdf, appearance.encode()))
    pdf.pages[0].obj["/Annots"] = Array([pdf.make_indirect(note)])
    if kind == "/Widget":
        note["/T"], note["/FT"] = String("total"), Name.Tx
        pdf.Root["/AcroForm"] = Dictionary(Fields=pdf.pages[0].obj["/Annots"])
    return saved(pdf)


COVERED = {
    "white box": page(f"{OLD} 1 g {COVER} {NEW}"),
    "grey box and a frame": page(f"{OLD} 0.9 g 55 694 150 18 re B {NEW}"),
    "box of lines, moved": page(f"{OLD} q 2 0 0 1 10 690 cm 1 g 0 0 m 120 0 l 120 20 l 0 20 l h f Q {NEW}"),
    "two boxes": page(f"{OLD} 1 g 55 694 60 18 re f 110 694 100 18 re f {NEW}"),
    "turned page": turned(f"{OLD} 1 g {COVER} {NEW}", 90),
    "upside down page": turned(f"{OLD} 1 g {COVER} {NEW}", 180),
    "clipped to the line": page(f"{OLD} q 50 690 200 30 re W n 1 g 0 600 400 400 re f Q {NEW}"),
    "form over form": in_forms(OLD, f"1 g {COVER} {NEW}"),
    "annotation": annotated(OLD, f"1 g {COVER} {NEW}"),
    "field": annotated(OLD, f"0.8 0.9 1 rg {COVER} {NEW}", Name.Widget),
    "diamond": page(f"{OLD} 1 g 20 705 m 130 620 l 245 705 l 130 790 l h f {NEW}"),
    "round": page(f"{OLD} 1 g 55 694 m 205 694 l 205 712 205 712 205 712 c 55 712 l 55 694 l f {NEW}"),
    "hidden text": page(f"3 Tr {OLD} 0 Tr 1 g {COVER} {NEW}"),
}


@pytest.mark.parametrize("kind", COVERED)
def test_text_below_a_box_is_not_read(kind: str) -> None:
    assert text_of(COVERED[kind]) == "Total EUR 99.50"


@pytest.mark.parametrize("kind", COVERED)
def test_text_below_a_box_goes_with_any_redaction(kind: str) -> None:
    result = redact_pdf(COVERED[kind], Redaction((), ()), limits=DocumentLimits()).data
    assert text_of(result) == "Total EUR 99.50"
    with pikepdf.open(io.BytesIO(result)) as pdf:
        streams = [each.read_bytes() for each in pdf.objects if isinstance(each, Stream)]
    assert not any(b"1,576" in stream for stream in streams)


def cells(canvas: Any) -> None:
    """A table drawn cell by cell, each with its ground."""
    for row in range(4):
        for column in range(2):
            canvas.setFillGray(0.9)
            canvas.rect(60 + 100 * column, 700 - 20 * row, 100, 20, stroke=0, fill=1)
            canvas.setFillGray(0)
            canvas.drawString(64 + 100 * column, 705 - 20 * row, f"cell {row} {column}")


def recognized(canvas: Any) -> None:
    """A scan over its text, on a white ground."""
    canvas.drawString(60, 700, "Total EUR 1,576.00")
    canvas.setFillGray(1)
    canvas.rect(0, 0, PAGE_WIDTH, PAGE_HEIGHT, stroke=0, fill=1)
    canvas.drawImage(ImageReader(written([(60, 700, "Total EUR 1,576.00")])), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)


MULTIPLY = Dictionary(G=Dictionary(BM=Name.Multiply))
HALF = Dictionary(G=Dictionary(ca=0.5))
GROUP = Dictionary(S=Name.Transparency)


def hatched() -> bytes:
    pdf = new_pdf(f"{OLD} /Pattern cs /P scn {COVER}".encode())
    lines = Stream(pdf, b"0 0 m 4 4 l S")
    lines.update(
        Dictionary(
            Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 4, 4]), XStep=4, YStep=4,
            Resources=Dictionary(),
        )
    )  # fmt: skip
    pdf.pages[0].obj["/Resources"]["/Pattern"] = Dictionary(P=pdf.make_indirect(lines))
    return saved(pdf)


SHOWN = {
    "painted before": page(f"1 g {COVER} 0 g {OLD}"),
    "see-through": page(f"{OLD} 1 1 0 rg /G gs {COVER}", ExtGState=HALF),
    "multiplied": page(f"{OLD} 1 1 0 rg /G gs {COVER}", ExtGState=MULTIPLY),
    "marker without transparency": annotated(OLD, f"1 1 0 rg {COVER}", Name.Highlight),
    "form in a group": in_forms(OLD, f"1 1 0 rg {COVER}", Group=GROUP),
    "frame": page(f"{OLD} 55 694 150 18 re S"),
    "struck out": page(f"{OLD} 55 703 150 1 re f"),
    "underline": page(f"{OLD} 55 690 150 8 re f"),
    "hatched": hatched(),
    "triangle": page(f"{OLD} 55 694 m 205 694 l 205 712 l 55 694 l h f"),
    "diamond beside": page(f"{OLD} 55 740 m 130 700 l 205 740 l 130 780 l h f"),
    "clipped away": page(f"{OLD} q 300 300 200 30 re W n 1 g {COVER} Q"),
    "clipped by a round path": page(f"{OLD} q 0 0 m 0 9 9 9 9 0 c h W n 1 g {COVER} Q"),
    "never painted": page(f"{OLD} 1 g 55 694 150 18 re n"),
    "over a scan's text": drawn(recognized),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_text_that_shows_or_belongs_to_a_scan_is_read(kind: str) -> None:
    assert text_of(SHOWN[kind]) == "Total EUR 1,576.00"


def test_many_boxes_over_many_characters_take_little_memory() -> None:
    """Painted before the characters, they hide none; every pair of the two was once kept."""
    boxes = "60 100 300 600 re f\n" * 1_500
    rows = " 0 10 Td ".join(f"({'x' * 90}) Tj" for _ in range(55))
    data = page(f"BT /F1 6 Tf 60 750 Td (first) Tj ET 1 g {boxes} 0 g BT /F1 6 Tf 60 110 Td {rows} ET")
    tracemalloc.start()
    try:
        assert text_of(data).count("x" * 90) == 55
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()


def test_what_shows_among_more_boxes_than_are_compared_is_told_by_drawing() -> None:
    """Boxes in one column, texts in another, and a covered line."""
    boxes = "200 100 300 600 re f\n" * 4_000
    rows = " 0 10 Td ".join(f"({'x' * 40}) Tj" for _ in range(55))
    covered = "BT /F1 6 Tf 60 750 Td (hidden line) Tj ET 1 g 50 740 100 30 re f"
    data = page(f"{covered} 0 g BT /F1 4 Tf 60 110 Td {rows} ET {boxes}")
    started = time.process_time()
    text = text_of(data)
    assert (text.count("x" * 40), "hidden" in text) == (55, False)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("clip", ["0 0 600 800 re W n", "0 0 m 600 0 l 600 800 l 0 800 l 0 1 l 1 1 l 1 0 l h W n"])
def test_many_clips_of_many_texts_take_little_time(clip: str) -> None:
    places = ((20 + 22 * column, 100 + 7 * row) for row in range(80) for column in range(25))
    rows = " ".join(f"BT /F1 6 Tf {left} {bottom} Td (cell) Tj ET" for left, bottom in places)
    started = time.process_time()
    assert text_of(page(f"{clip} " * 1_000 + rows)).count("cell") == 2_000
    assert time.process_time() - started < 5


def test_the_grounds_of_cells_hide_nothing() -> None:
    assert text_of(drawn(cells)).split("\n") == [f"cell {row} 0\tcell {row} 1" for row in range(4)]
