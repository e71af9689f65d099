"""A page of which something was not read is named with its reason, a logo with letters too; decoration is not."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pikepdf
import pytest
from matplotlib.textpath import TextPath
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image, ImageDraw, ImageFont
from reportlab.graphics import renderPDF
from reportlab.graphics.barcode.qr import QrCodeWidget
from reportlab.graphics.shapes import Drawing
from reportlab.lib.utils import ImageReader

from service.documents.document import Document, UnreadReason
from service.documents.limits import DocumentLimits
from service.documents.pdf import reader
from service.documents.pdf.page_objects import MOST_OBJECTS
from service.documents.pdf.reader import read_pdf
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH, drawn
from tests.support.drawn_sheets import noise
from tests.support.odd_pdfs import new_pdf, saved

LINE = "A line of a letter that says a few things about nothing in particular"
PHOTOGRAPH = ImageReader(noise((40, 30), 120).resize((320, 240), Image.Resampling.BICUBIC))
Draw = Callable[[Any], None]


def read(data: bytes) -> Document:
    return read_pdf(data, limits=DocumentLimits())


def parts_of(draw: Draw) -> list[tuple[int | None, UnreadReason]]:
    return [(part.page, part.reason) for part in read(drawn(draw)).partly_read]


def typed(canvas: Any, lines: int, top: float = 700) -> None:
    for row in range(lines):
        canvas.drawString(60, top - 14 * row, LINE)


def picture(canvas: Any, image: Image.Image, left: float, bottom: float, width: float, height: float) -> None:
    canvas.drawImage(ImageReader(image), left, bottom, width, height)


def scan(lines: int = 30, width: int = 1200, height: int = 1600, top: int = 200) -> Image.Image:
    image = Image.new("L", (width, height), 248)
    pen = ImageDraw.Draw(image)
    for row in range(lines):
        pen.text((120, top + 30 * row), LINE, fill=30, font=ImageFont.load_default(22))
    return image


def stamped(canvas: Any) -> None:
    picture(canvas, scan(), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(430, 770, "RECEIVED 17 MAR 2025")


def numbered(canvas: Any) -> None:
    picture(canvas, scan(lines=8), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(280, 20, "Page 2 of 2")


def faxed(canvas: Any) -> None:
    picture(canvas, scan(lines=12).convert("1"), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(20, 790, "FAX 01632 960 134   17 MAR 2025 10:03   P. 001/001")


def watermarked(canvas: Any) -> None:
    picture(canvas, scan(), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.rotate(45)
    canvas.setFont("Helvetica", 60)
    canvas.drawString(200, 100, "CONFIDENTIAL")


def with_annex(canvas: Any) -> None:
    typed(canvas, 12)
    canvas.drawString(60, 500, "Annex 1")
    picture(canvas, scan(lines=18, height=700, top=20), 60, 150, 480, 280)


def in_strips(canvas: Any) -> None:
    canvas.beginForm("strips")
    for row in range(20):
        strip = scan().crop((0, row * 80, 1200, (row + 1) * 80))
        picture(canvas, strip, 0, PAGE_HEIGHT - 40 * (row + 1), PAGE_WIDTH, 40)
    canvas.endForm()
    canvas.doForm("strips")
    canvas.drawString(280, 20, "Page 2 of 2")


def with_one_line(canvas: Any) -> None:
    image = scan(lines=0)
    ImageDraw.Draw(image).text((160, 600), "Patient: Jane Doe, born 1970", fill=20, font=ImageFont.load_default(22))
    picture(canvas, image, 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(500, 20, "BATES 000017")


@pytest.mark.parametrize("draw", [stamped, numbered, faxed, watermarked, with_annex, in_strips, with_one_line])
def test_a_scan_with_some_text_on_its_page_is_named(draw: Draw) -> None:
    assert parts_of(draw) == [(1, UnreadReason.IMAGE)]


def test_a_picture_painted_after_more_objects_than_are_looked_at_is_named() -> None:
    def crowded(canvas: Any) -> None:
        typed(canvas, 12)
        for number in range(MOST_OBJECTS):
            canvas.rect(number % 200, 2, 0.1, 0.1, stroke=0, fill=1)
        picture(canvas, scan(lines=18, height=700, top=20), 60, 150, 480, 280)

    (part,) = read(drawn(crowded)).partly_read
    ((left, top, right, bottom),) = part.boxes
    assert (right - left > 250, bottom - top > 200) == (True, True)


@pytest.mark.parametrize(("draw", "unread"), [(stamped, (1,)), (numbered, (1,)), (with_annex, ())])
def test_a_page_of_which_next_to_nothing_was_read_is_unread(draw: Draw, unread: tuple[int, ...]) -> None:
    assert read(drawn(draw)).unread_pages == unread


def test_the_boxes_are_around_what_was_not_read() -> None:
    [part] = read(drawn(with_annex)).partly_read
    [(left, top, right, bottom)] = part.boxes
    assert 60 <= left < right <= 545
    assert PAGE_HEIGHT - 435 <= top < bottom <= PAGE_HEIGHT - 150


def outlined(canvas: Any, lines: int, top: float = 500, *, stroke: int = 0, whole: bool = False) -> None:
    """Lines of letters as paths, one for each line or one in all, filled or drawn."""
    canvas.setLineWidth(0.4)
    path = canvas.beginPath()
    for row in range(lines):
        for outline in TextPath((60, top - 14 * row), LINE, size=10).to_polygons():
            through(path, outline)
            path.close()
        if not whole:
            canvas.drawPath(path, stroke=stroke, fill=1 - stroke)
            path = canvas.beginPath()
    if whole:
        canvas.drawPath(path, stroke=stroke, fill=1 - stroke)


def through(path: Any, points: Any) -> Any:
    """The path, with a line through these points."""
    first, *others = np.asarray([*points]).tolist()
    path.moveTo(*first)
    for point in others:
        path.lineTo(*point)
    return path


STROKES = {
    "A": "0092 2941 49", "E": "6000 0222 2060 0151", "L": "02 0060", "R": "00 0262 6202 2160", "T": "0262 3230",
    "O": "0002 0262 6260 6000", "N": "0002 0260 6062", "7": "0262 6220", "1": "1232 3230", "4": "5052 5201 0161",
}  # fmt: skip
"""Lines of letters on a grid of 10 by 3."""


def plotted(canvas: Any, lines: int) -> None:
    """Lines of letters that a plotter draws, each stroke by itself."""
    for row in range(lines):
        for place, letter in enumerate("TOTAL 1741 ALTERNATE TREE NOTE 471 LATER TONNAGE"):
            points = STROKES.get(letter, "").replace(" ", "")
            for a, b, c, d in zip(*(points[i::4] for i in range(4)), strict=False):
                x, y = 60 + 9 * place, 500 - 14 * row
                canvas.line(x + 0.8 * int(a), y + 4 * int(b), x + 0.8 * int(c), y + 4 * int(d))


@pytest.mark.parametrize(
    "letters",
    [
        outlined,
        partial(outlined, whole=True),
        partial(outlined, stroke=1),
        partial(outlined, stroke=1, whole=True),
        plotted,
    ],
)
def test_letters_as_outlines_beside_text_are_named(letters: Callable[[Any, int], None]) -> None:
    def draw(canvas: Any) -> None:
        typed(canvas, 5)
        letters(canvas, 12)

    assert parts_of(draw) == [(1, UnreadReason.OUTLINES)]


def amount(
    canvas: Any, *, stroke: int = 0, whole: bool = True, text: str = "EUR 9,876.50", typed_lines: int = 10
) -> None:
    """One amount below a page's text as paths."""
    typed(canvas, typed_lines)
    canvas.setLineWidth(0.4)
    canvas.drawString(60, 450, "Total:")
    path = canvas.beginPath()
    for outline in TextPath((120, 450), text, size=10).to_polygons():
        through(path, outline)
        path.close()
        if not whole:
            canvas.drawPath(path, stroke=stroke, fill=1 - stroke)
            path = canvas.beginPath()
    canvas.drawPath(path, stroke=stroke, fill=1 - stroke)


def plotted_amount(canvas: Any) -> None:
    typed(canvas, 10)
    plotted(canvas, 1)


@pytest.mark.parametrize(
    "draw",
    [
        amount,
        partial(amount, stroke=1),
        partial(amount, whole=False),
        partial(amount, text="Jane Doe, 14 Dock Road"),
        plotted_amount,
    ],
)
def test_one_line_of_outlines_is_named(draw: Draw) -> None:
    assert parts_of(draw) == [(1, UnreadReason.OUTLINES)]


def test_a_page_of_outlines_alone_is_unread_and_an_empty_one_is_not() -> None:
    def draw(canvas: Any) -> None:
        typed(canvas, 5)
        canvas.showPage()
        outlined(canvas, 12)
        canvas.showPage()
        canvas.rect(100, 100, 300, 300)

    document = read(drawn(draw))
    assert (document.unread_pages, document.partly_read) == ((2,), ())


def broken_page(code: str, *, encoding: Any = None, readable: str = "Readable line of it") -> bytes:
    """A page with a line of which only the glyphs are known, and one that can be read."""
    content = f"BT /F1 12 Tf 60 700 Td ({readable}) Tj ET BT /F2 12 Tf 60 600 Td {code} Tj ET"
    file = new_pdf(content.encode())
    square = Stream(file, b"600 0 0 0 500 700 d1 0 0 500 700 re f")
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 600, 700]),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]),
        FirstChar=1, LastChar=255, Widths=Array([600] * 255),
        CharProcs=Dictionary({f"/q{code}": square for code in range(1, 256)}),
        Encoding=Dictionary(Differences=Array([1, *(Name(f"/q{code}") for code in range(1, 256))])),
    )  # fmt: skip
    if encoding is not None:
        font["/ToUnicode"] = Stream(file, encoding)
    file.pages[0].obj["/Resources"]["/Font"]["/F2"] = file.make_indirect(font)
    return saved(file)


def mapped_to(first: int) -> bytes:
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange <00> <FF>"
        f" endcodespacerange\n1 beginbfrange <01> <FE> <{first:04X}> endbfrange\nendcmap end end"
    ).encode()


@pytest.mark.parametrize("encoding", [None, mapped_to(0xE001), mapped_to(0xF001)])
def test_characters_without_a_meaning_are_named_and_are_no_text(encoding: bytes | None) -> None:
    document = read(broken_page("<2734292B2C30>", encoding=encoding))
    assert document.text == "Readable line of it"
    [part] = document.partly_read
    assert part.reason is UnreadReason.UNMAPPED
    [(left, top, right, bottom)] = part.boxes
    assert (left, top) <= (61, 195)
    assert right >= 102
    assert bottom >= 200


@pytest.mark.parametrize("code", ["<27>", "<2727272727>"])
def test_bullets_and_rows_of_stars_are_not_named(code: str) -> None:
    assert read(broken_page(code, encoding=mapped_to(0xE001))).partly_read == ()


def test_a_font_that_says_what_it_shows_is_read() -> None:
    document = read(broken_page("<414243>", encoding=mapped_to(1)))
    assert (document.text, document.partly_read) == ("Readable line of it\nABC", ())


def test_a_single_character_without_a_meaning_does_not_become_another() -> None:
    assert read(broken_page("<35>")).text == "Readable line of it\n\ufffd"


def test_a_page_of_such_characters_alone_is_unread() -> None:
    file = broken_page("<2734292B2C30>", readable="")
    other = drawn(lambda canvas: typed(canvas, 5))
    both = pikepdf.open(io.BytesIO(other))
    both.pages.extend(pikepdf.open(io.BytesIO(file)).pages)
    assert read(saved(both)).unread_pages == (2,)


def letterhead(canvas: Any) -> None:
    image = Image.new("RGB", (1200, 1600), "white")
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 0, 1200, 40), fill="navy")
    pen.text((100, 80), "Kestrel Paper Ltd", fill="navy", font=ImageFont.load_default(60))
    for row in range(4):
        pen.text((850, 80 + 28 * row), "14 Dock Road, Hull", fill="black", font=ImageFont.load_default(20))
        for left in (100, 480, 860):
            pen.text(
                (left, 1470 + 26 * row), "Bank of Hull, BIC BOHUGB2L", fill="black", font=ImageFont.load_default(16)
            )
    picture(canvas, image, 0, 0, PAGE_WIDTH, PAGE_HEIGHT)


def letter(canvas: Any) -> None:
    letterhead(canvas)
    typed(canvas, 32, top=640)


def short_letter(canvas: Any) -> None:
    letterhead(canvas)
    typed(canvas, 8, top=640)


def ocr_layer(canvas: Any, lines: int, size: float) -> None:
    picture(canvas, scan(lines), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    text = canvas.beginText()
    text.setTextRenderMode(3)
    text.setFont("Helvetica", size)
    for row in range(lines):
        text.setTextOrigin(60, PAGE_HEIGHT - (220 + 30 * row) / 2)
        text.textOut(LINE)
    canvas.drawText(text)


def bill_with_logo(canvas: Any) -> None:
    image = Image.new("RGB", (600, 250), "white")
    pen = ImageDraw.Draw(image)
    pen.ellipse((20, 20, 220, 220), fill="firebrick")
    pen.text((240, 80), "Alder Timber", fill="black", font=ImageFont.load_default(56))
    pen.text((240, 160), "since 1894", fill="black", font=ImageFont.load_default(24))
    picture(canvas, image, 60, 680, 240, 100)
    typed(canvas, 6, top=600)


def with_rules(canvas: Any) -> None:
    typed(canvas, 30)
    for row in range(50):
        canvas.line(50, 720 - 12 * row, 545, 720 - 12 * row)
    for column in range(40):
        canvas.line(50 + 12 * column, 720, 50 + 12 * column, 100)


def with_waves(canvas: Any) -> None:
    typed(canvas, 12)
    for wave in range(30):
        points = ((x * 5, 150 + wave * 6 + 40 * math.sin(x / 9 + wave / 7)) for x in range(120))
        canvas.drawPath(through(canvas.beginPath(), points))


def with_signs(canvas: Any) -> None:
    """A chart of signs of one shape."""
    typed(canvas, 12)
    dice = Random(1)
    for _ in range(400):
        canvas.circle(dice.gauss(300, 60), dice.gauss(300, 25), 2)


def with_hatching(canvas: Any) -> None:
    typed(canvas, 12)
    for bar in range(6):
        for line in range(60):
            canvas.line(100 + 50 * bar, 200 + 3 * line, 130 + 50 * bar, 206 + 3 * line)


def with_guilloche(canvas: Any) -> None:
    typed(canvas, 12)
    for wave in range(20):
        points = ((60 + x * 1.2, 300 + 10 * math.sin(x / 4 + wave / 3)) for x in range(400))
        canvas.drawPath(through(canvas.beginPath(), points))


def with_icons(canvas: Any) -> None:
    typed(canvas, 12)
    for number in range(6):
        for radius in (7, 5, 3):
            canvas.circle(70 + 20 * number, 420, radius)
        canvas.wedge(65 + 20 * number, 415, 75 + 20 * number, 425, 0, 120)


def with_strokes_of_a_pen(canvas: Any) -> None:
    typed(canvas, 12)
    dice = Random(2)
    for stroke in range(12):
        points = ((60 + 9 * stroke + dice.uniform(0, 14), 300 + dice.uniform(0, 34)) for _ in range(7))
        canvas.drawPath(through(canvas.beginPath(), points))


def with_word_in_head(canvas: Any) -> None:
    typed(canvas, 12)
    canvas.translate(0, 290)
    amount(canvas, text="Alder Timber", typed_lines=0)


def with_empty_scan(canvas: Any) -> None:
    picture(canvas, noise((1200, 1600), 6), 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(280, 20, "Page 1 of 2")


def with_photograph_behind(canvas: Any) -> None:
    canvas.drawImage(PHOTOGRAPH, 0, 0, PAGE_WIDTH, PAGE_HEIGHT)
    canvas.drawString(200, 400, "Annual report")


def with_drawn_signature(canvas: Any) -> None:
    typed(canvas, 12)
    dice = Random(1)
    points = ((60 + step / 3, 300 + dice.uniform(0, 40)) for step in range(400))
    canvas.drawPath(through(canvas.beginPath(), points))


def with_photograph(canvas: Any) -> None:
    typed(canvas, 8)
    canvas.drawImage(PHOTOGRAPH, 60, 100, 480, 320)


def with_signature(canvas: Any) -> None:
    image = Image.new("RGB", (600, 200), "white")
    points = [(20 + 12 * step, 100 + 70 * math.sin(step * step)) for step in range(45)]
    ImageDraw.Draw(image).line(points, fill="navy", width=5)
    typed(canvas, 10)
    picture(canvas, image, 60, 300, 180, 60)


def with_payment_code(canvas: Any) -> None:
    typed(canvas, 14)
    code = QrCodeWidget("SPC\n0200\n1\nCH4431999123000889012\nS\nKestrel Paper\n" * 4, barWidth=130, barHeight=130)
    renderPDF.draw(Drawing(130, 130, code), canvas, 200, 150)


@pytest.mark.parametrize(
    ("draw", "reason"),
    [
        (letter, UnreadReason.IMAGE),
        (short_letter, UnreadReason.IMAGE),
        (bill_with_logo, UnreadReason.IMAGE),
        (with_signature, UnreadReason.IMAGE),
        (with_word_in_head, UnreadReason.OUTLINES),
    ],
)
def test_letterheads_logos_with_letters_and_signatures_are_named(draw: Draw, reason: UnreadReason) -> None:
    document = read(drawn(draw))
    assert (document.unread_pages, {part.reason for part in document.partly_read}) == ((), {reason})


@pytest.mark.parametrize(
    "draw",
    [
        with_rules,
        with_waves,
        with_photograph,
        with_payment_code,
        with_signs,
        with_hatching,
        with_guilloche,
        with_icons,
        with_strokes_of_a_pen,
        with_empty_scan,
        with_photograph_behind,
        with_drawn_signature,
    ],
)
def test_a_page_read_in_full_is_not_named(draw: Draw) -> None:
    document = read(drawn(draw))
    assert (document.unread_pages, document.partly_read) == ((), ())


@pytest.mark.parametrize(("lines", "size"), [(30, 10), (30, 8), (6, 10)])
def test_a_scan_with_a_text_layer_is_not_named(lines: int, size: float) -> None:
    document = read(drawn(lambda canvas: ocr_layer(canvas, lines, size)))
    assert (document.unread_pages, document.partly_read) == ((), ())


def test_beyond_so_many_pages_images_count_as_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_DRAWN", 10)

    def draw(canvas: Any) -> None:
        for _ in range(11):
            with_photograph(canvas)
            canvas.showPage()

    assert {part.page for part in read(drawn(draw)).partly_read} == {11}
