"""Scans and pictures of which OCR reads nothing any more that was redacted, and all else; with the real networks."""

from __future__ import annotations

import io
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pikepdf
import pypdfium2
import pytest
from PIL import Image

from service.core.errors import UnreadableDocument, UnredactableDocument, UnsupportedFormat
from service.core.redaction import Repeats, unify_lookalikes
from service.documents.document import Document, RedactedPicture
from service.documents.format_detection import Format, detect_format
from service.documents.ocr.reader import recognize_pages
from service.documents.reader import read_document
from service.documents.redaction.pdf_redactor import redact_document
from service.documents.redaction.values import RedactedFile
from tests.support.drawn_sheets import INVOICE, networks, noise, sheet
from tests.support.odd_pdfs import saved
from tests.support.redacted_pdfs import left_of, readings
from tests.support.scans import (
    LIMITS,
    InProcessPool,
    file_of,
    redacted_scan,
    scan_pdf,
    scanned,
    two_columns,
    with_note,
)

BILL = (
    ((40, 30), "Nordlicht Optik GmbH"),
    ((40, 80), "Invoice No: RE-2026-118"),
    ((40, 120), "Date: 12 March 2026"),
    ((40, 166), "Reading glasses"),
    ((440, 166), "840.50"),
    ((40, 210), "IBAN: DE89 3704 0044 0532 0130 00"),
)
SHEET = sheet(BILL, (780, 270)).picture
"""A page that is read in a third of the time of an invoice with its table."""
HEAD = sheet(INVOICE[:3], (600, 220)).picture
FAX = SHEET.resize((780, 135)).convert("1", dither=Image.Dither.NONE)
SECRETS = ("Nordlicht Optik GmbH", "RE-2026-118", "DE89 3704 0044 0532 0130 00")
KEPT = ("Invoice", "12 March 2026", "Reading glasses", "840.50")
GARBAGE = tuple(
    ((40, 30 + 40 * row), text)
    for row, text in enumerate(
        (
            "l nv0 ice N0 ### rn|l1 ~~ c0ns",
            "II|/ \\\\ _l1 i. i. 'l l j ; |f t1 1l",
            "Nqrd1iChl 0pt!k 6mbH |n\\/0!ce ^^ {8",
        )
        * 2
    )
)


def coloured() -> Image.Image:
    """A sheet in blue on yellow paper, transparent at its edge."""
    layer = Image.new("RGBA", SHEET.size, (0, 0, 0, 0))
    layer.paste((250, 245, 200, 255), (10, 10, 770, 260))
    layer.paste((10, 20, 120, 255), mask=Image.eval(SHEET, lambda level: 255 - level))
    return layer


def low(data: bytes, *box: int) -> bytes:
    """A PDF whose pages end a little below their scan, or are a box of it in points: fewer pixels to read."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for page in pdf.pages:
            page.mediabox = pikepdf.Array(box or (0, 330, 595, 740))
        return saved(pdf)


def photograph() -> bytes:
    """A JPEG that its camera turned, with a thumbnail, a comment and a colour profile."""
    thumbnail = file_of(SHEET.resize((160, 56)), "JPEG")
    turned = struct.pack("<HHHII", 1, 0x0112, 3, 1, 6)
    second = struct.pack("<HHHIIHHIII", 2, 0x0201, 4, 1, 56, 0x0202, 4, 1, len(thumbnail), 0)
    exif = b"Exif\0\0II*\0" + struct.pack("<I", 8) + turned + struct.pack("<I", 26) + second + thumbnail
    comment = SECRETS[1].encode()
    shown = scanned(SHEET).rotate(90, expand=True)
    return file_of(shown, "JPEG", quality=60, exif=exif, comment=comment, icc_profile=b"Anna")


SCANS: dict[str, bytes] = {
    "askew, JPEG 60": file_of(scanned(SHEET, 1.5), "JPEG", quality=60),
    "askew by far, gray PNG": file_of(scanned(SHEET, -15), "PNG"),
    "on its side": file_of(scanned(SHEET, 90), "JPEG", quality=80),
    "upside down": file_of(scanned(SHEET, 180), "PNG"),
    "TIFF of two pages": file_of(scanned(SHEET), "TIFF", scanned(SHEET, 180), compression="jpeg"),
    "fax": file_of(FAX, "TIFF", compression="group4", dpi=(200, 100)),
    "WebP": file_of(scanned(SHEET), "WEBP", quality=80),
    "BMP": file_of(SHEET, "BMP"),
    "GIF": file_of(SHEET, "GIF"),
    "colours": file_of(coloured(), "PNG"),
    "photograph": photograph(),
    "PDF": low(scan_pdf(scanned(SHEET, 9))),
    "PDF, turned": low(scan_pdf(scanned(SHEET).rotate(90, expand=True), turned=90), 0, 30, 300, 620),
    "PDF with a stamp": low(scan_pdf(scanned(SHEET), typed=f"Received from {SECRETS[0]}")),
    "PDF, hidden layer": low(scan_pdf(scanned(SHEET), hidden=BILL)),
    "PDF, hidden garbage": low(scan_pdf(scanned(SHEET), hidden=GARBAGE)),
}


def read_again(data: bytes, *pages: int) -> str:
    """All that OCR reads in the pictures of a file's pages, or of some."""
    is_pdf = detect_format(data) is Format.PDF
    if is_pdf:
        with pypdfium2.PdfDocument(data) as document:
            count = len(document)
    else:
        with Image.open(io.BytesIO(data)) as picture:
            count = getattr(picture, "n_frames", 1)
    return recognize_pages(
        data, pages or range(1, count + 1), networks(), limits=LIMITS, is_pdf=is_pdf, is_forced=True
    ).text


def words_of(*texts: str) -> list[str]:
    return [word for text in texts for word in text.split() if len(word) > 3]


@pytest.mark.parametrize("name", SCANS)
def test_nothing_of_what_went_is_read_and_all_else_is(name: str) -> None:
    data = SCANS[name]
    pool = InProcessPool()
    document, made = redacted_scan(data, *SECRETS, pool=pool)
    text = read_again(made.data)
    assert not Repeats(map(unify_lookalikes, words_of(*SECRETS))).are_in(unify_lookalikes(text)), text
    pages = len(document.pages or ())
    assert {kept: text.count(kept) for kept in KEPT} == dict.fromkeys(KEPT, pages)
    assert detect_format(made.data) is detect_format(data)
    if detect_format(data) is Format.PDF:
        assert left_of(made.data, *SECRETS) == {}
        assert [page.method for page in made.pages] == ["painted" if "stamp" in name else "rasterized"]
    else:
        with Image.open(io.BytesIO(data)) as before, Image.open(io.BytesIO(made.data)) as after:
            assert (after.format, getattr(after, "n_frames", 1)) == (before.format, getattr(before, "n_frames", 1))
            assert sorted(after.size) == sorted(before.size)
        assert [page.method for page in made.pages] == ["painted"] * pages
    assert not any(word.encode() in made.data for word in words_of(*SECRETS))
    assert redact_document(data, pool.redactions[-1], limits=LIMITS).data == made.data


def test_what_repeats_goes_from_every_column_and_page() -> None:
    name, columns = "Katrin Morgenstern", two_columns()
    data = scan_pdf(f"Order of {name}\nA typed line", scanned(columns, 1), "Nothing of her")
    document, made = redacted_scan(data, name)
    assert document.text.count(name) == 3
    text = read_again(made.data, 2)
    assert not Repeats(name.split()).are_in(text), text
    assert left_of(made.data, *name.split()) == {}
    assert {each in text for each in ("Lindau", "Monday", "in full on", "the same day", "nothing is due")} == {True}
    assert [(page.number, page.method) for page in made.pages] == [(1, "rewritten"), (2, "rasterized")]
    assert "A typed line" in readings(made.data)["pdfium"]
    assert "Nothing of her" in readings(made.data)["pdfium"]


def test_recognition_s_confusions_are_the_same_word() -> None:
    data = file_of(
        sheet((((80, 60), "Code RE-0101-O1 here"), ((80, 200), "Again RE-OlO1-01 there")), (480, 280)).picture, "PNG"
    )
    document, made = redacted_scan(data, "RE-0101-O1", "RE-0101-01")
    assert "RE" not in read_again(made.data), document.text


def test_the_pixels_of_a_word_are_gone_and_the_rest_is_as_it_was() -> None:
    drawn = sheet(INVOICE[:3], (600, 220))
    _, made = redacted_scan(drawn.file(), "RE-2026-118", repeats=False)
    with Image.open(io.BytesIO(made.data)) as picture:
        after = np.asarray(picture)
    ink = drawn.gray < 128
    left, top, right, bottom = map(int, drawn.boxes["Invoice No: RE-2026-118"])
    word = ink[top : bottom + 1, left + 150 : right + 1]
    assert (after[top : bottom + 1, left + 150 : right + 1][word] == 0).all()
    covered = (after == 0) & ~ink
    rows = np.nonzero(covered)[0]
    assert rows.min() >= top - 12
    assert rows.max() <= bottom + 12
    elsewhere = np.ones_like(ink)
    elsewhere[rows.min() : rows.max() + 1] = False
    assert (after == drawn.gray)[elsewhere].all()


def test_pages_without_anything_to_remove_keep_their_text() -> None:
    other = sheet((((80, 60), "Reading glasses"), ((80, 110), "Lens cloth")), (780, 220)).picture
    data = low(scan_pdf(scanned(SHEET), scanned(other), typed="A typed line"))
    _, made = redacted_scan(data, SECRETS[1])
    assert [(page.number, page.method) for page in made.pages] == [(1, "rasterized")]
    assert readings(made.data)["pdfium"].count("A typed line") == 1
    _, forced = redacted_scan(data, SECRETS[1], ocr="force")
    assert [page.number for page in forced.pages] == [1, 2]


@pytest.mark.parametrize("picture", [with_note().crop((40, 400, 900, 700)), noise((600, 420), 90)])
def test_writing_that_was_not_read_is_refused_unless_it_may_stay(picture: Image.Image) -> None:
    data = file_of(HEAD, "TIFF", scanned(picture, light=1))
    with pytest.raises(UnredactableDocument, match="Pages 2 hold writing"):
        redacted_scan(data, SECRETS[1])
    _, made = redacted_scan(data, SECRETS[1], allow_unread=True)
    assert "RE-2026" not in read_again(made.data)


def test_the_blank_back_of_a_sheet_is_no_reason_to_refuse() -> None:
    blank = scanned(Image.new("L", (600, 420), 255))
    document, made = redacted_scan(file_of(scanned(HEAD), "TIFF", blank), SECRETS[1])
    assert (document.unread_pages, [page.number for page in made.pages]) == ((), [1])


def test_a_sheet_of_which_everything_goes_is_not_refused() -> None:
    words = ("Katrin Morgenstern", "Lindau am Bodensee")
    picture = sheet(tuple(((80, 100 + 80 * row), text) for row, text in enumerate(words))).picture
    _, made = redacted_scan(file_of(scanned(picture), "PNG"), *words)
    assert not any(map(str.isalnum, read_again(made.data)))


TABLE = tuple(((x - {80: 50, 520: 220, 640: 250}.get(x, 260), y - 30), text) for (x, y), text in INVOICE)
"""The invoice with its columns closer to each other."""
LEFT = ("Invoice", "Total", "IBAN:")
GONE = tuple(text.removeprefix("Invoice No: ").removeprefix("Date: ").removeprefix("IBAN: ") for _, text in INVOICE)
SHORT = tuple(f"\t{text}\t" for text in ("2", "8"))


@pytest.mark.parametrize(
    ("gone", "left"),
    [
        ((*(text for text in GONE if len(text) > 2 and text != "Total"), *SHORT), LEFT),
        ((*(text for _, text in INVOICE if text != "Total" and len(text) > 2), *SHORT), ("Total",)),
        ((*(text for _, text in INVOICE if len(text) > 2), *SHORT), ()),
        (SHORT, ("Invoice", "Reading glasses", "420.25", "840.50", "1240.50")),
    ],
)
@pytest.mark.parametrize(("kind", "degrees"), [("PNG", 180), ("JPEG", 90), ("PDF", 270)])
def test_a_page_is_painted_once_and_not_refused(
    kind: str, degrees: int, gone: tuple[str, ...], left: tuple[str, ...]
) -> None:
    """Black boxes were read as letters, turned the page to another side, and made what was left of it unsure."""
    picture = sheet(TABLE, (780, 450)).picture.rotate(degrees, expand=True)
    data = low(scan_pdf(scanned(picture)), 0, 30, 400, 740) if kind == "PDF" else file_of(picture, kind)
    pool = InProcessPool()
    document, made = redacted_scan(data, *gone, pool=pool)
    assert len(pool.redactions) == 1
    again = RedactedPicture(pool.redactions[0].painted[0].boxes, document.recognized)
    read = read_document(made.data, limits=LIMITS, ocr_pages=(1,), ocr_again=again)
    assert all(each in read.text for each in left)


TWICE = sheet(
    (((80, 60), SECRETS[0]), ((80, 140), "Total 1240.50"), ((80, 240), f"Signed by {SECRETS[0]}")), (560, 320)
).file()


class AtFirstBlind(InProcessPool):
    """Parsers that overlook the last place of a text when a file is read for the first time."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    async def parse(self, *args: Any, **options: Any) -> Document:
        document = await super().parse(*args, **options)
        before, _, after = document.text.rpartition(self._text)
        if self.redactions or not before:
            return document
        return replace(document, text=f"{before}{'-' * len(self._text)}{after}")


class Careless(InProcessPool):
    """Parsers that paint nothing."""

    async def redact(self, data: bytes, *args: Any, **options: Any) -> RedactedFile:
        return replace(await super().redact(data, *args, **options), data=data)


def moved(boxes: Any, across: float, down: float) -> np.ndarray:
    """Boxes moved by shares of the sides of what they are around."""
    array = np.array(boxes, np.float32).reshape(-1, 4)
    sides = np.nanmax(array[:, 2:], axis=0) - np.nanmin(array[:, :2], axis=0)
    return np.asarray(array + np.tile(sides * (across, down), 2))


class PaintingBeside(InProcessPool):
    """Parsers that paint beside the boxes, by shares of their sides."""

    def __init__(self, across: float, down: float) -> None:
        super().__init__()
        self._moved = across, down

    async def redact(self, data: bytes, *args: Any, **options: Any) -> RedactedFile:
        kind, name, redaction = args
        pages = (replace(page, boxes=moved(page.boxes, *self._moved).tolist()) for page in redaction.painted)
        return await super().redact(data, kind, name, replace(redaction, painted=tuple(pages)), **options)


class ReadingBeside(PaintingBeside):
    """Parsers that say of a text at first that it stands beside its place, and paint there."""

    async def parse(self, *args: Any, **options: Any) -> Document:
        document = await super().parse(*args, **options)
        at = document.text.find(SECRETS[1])
        if self.redactions or at < 0 or document.layout is None:
            return document
        boxes, place = document.layout.boxes.copy(), slice(at, at + len(SECRETS[1]))
        boxes[place] = moved(boxes[place], *self._moved)
        return replace(document, layout=replace(document.layout, boxes=boxes))

    async def redact(self, data: bytes, *args: Any, **options: Any) -> RedactedFile:
        return await super(PaintingBeside, self).redact(data, *args, **options)


class AtLastBlind(InProcessPool):
    """Parsers that cannot read what was painted."""

    async def parse(self, *args: Any, **options: Any) -> Document:
        if self.redactions:
            raise UnreadableDocument("It crashes its parser.")
        return await super().parse(*args, **options)


ALONE = sheet((((80, 60), "Anna"), ((80, 200), "Total 1240.50"), ((640, 400), "Anna"))).picture


@pytest.mark.parametrize(
    ("data", "gone", "left"),
    [
        (TWICE, SECRETS[:1], "Signed by"),
        (scan_pdf(scanned(ALONE, 180)), ("Anna", "Total 1240.50"), ""),
    ],
    ids=["with others", "alone on its page"],
)
def test_what_is_read_only_the_second_time_is_painted_as_well(data: bytes, gone: tuple[str, ...], left: str) -> None:
    pool = AtFirstBlind(gone[0])
    _, made = redacted_scan(data, *gone, pool=pool)
    assert len(pool.redactions) == 2
    text = read_again(made.data)
    assert not Repeats(words_of(gone[0])).are_in(text), text
    assert left in text


@pytest.mark.parametrize(("pool", "why"), [(Careless(), "still read on pages 1"), (AtLastBlind(), "not read for")])
def test_a_file_in_which_a_secret_is_still_read_is_refused(pool: InProcessPool, why: str) -> None:
    with pytest.raises(UnredactableDocument, match=why):
        redacted_scan(TWICE, SECRETS[0], pool=pool)


BESIDE = [(0.5, 0), (-0.5, 0), (0, 0.5), (0, -0.5)]


@pytest.mark.parametrize("degrees", [0, 180])
@pytest.mark.parametrize("beside", BESIDE)
def test_a_file_that_is_painted_beside_its_text_is_refused(degrees: int, beside: tuple[float, float]) -> None:
    data = file_of(HEAD.rotate(degrees), "PNG")
    with pytest.raises(UnredactableDocument, match="still read on pages 1"):
        redacted_scan(data, SECRETS[1], pool=PaintingBeside(*beside))


@pytest.mark.parametrize("degrees", [0, 180])
@pytest.mark.parametrize("beside", BESIDE)
def test_a_text_that_stands_beside_where_it_was_read_is_painted_as_well(
    degrees: int, beside: tuple[float, float]
) -> None:
    data = file_of(HEAD.rotate(degrees), "PNG")
    _, made = redacted_scan(data, SECRETS[1], pool=ReadingBeside(*beside))
    text = read_again(made.data)
    assert ("2026-" in text, "RE-" in text, "12 March 2026" in text) == (False, False, True), text


def test_without_recognition_scans_are_refused_as_before() -> None:
    with pytest.raises(UnsupportedFormat):
        redacted_scan(TWICE, SECRETS[0], is_available=False)
    with pytest.raises(UnreadableDocument):
        redacted_scan(SCANS["PDF"], SECRETS[0], is_available=False)
