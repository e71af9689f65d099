"""Every format reads the same in the sandbox as without: nothing that a reader needs is missing there."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Name
from PIL import Image
from PIL.ImageCms import ImageCmsProfile, createProfile

from service.api.parsers.frames import FileHeader
from service.api.parsers.zygote import STEPPED_BACK
from service.core.errors import GleanerError
from service.core.tenants import ANONYMOUS
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from service.documents.redaction.values import PaintedPage, Redaction
from tests.support.document_files import column, drawn, pdf, simple_docx, simple_pdf
from tests.support.drawn_sheets import networks, sheet
from tests.support.electronic_invoices import Bill, cii, hybrid, ubl
from tests.support.ocr_results import ALTO, HOCR, SIZE, textract
from tests.support.ocr_results import WORDS as OCR_WORDS
from tests.support.odd_pdfs import saved
from tests.support.parsers import PoolSetup, parsers_of, pool_of

HTML_BOXES = b"""<style>.a{display:none} p b{display:flex}</style><p>12<sup>50</sup> EUR<b>x<i>y</i></b>
<select><option>a<option selected>b</select><input value=c><p class=a>hidden"""
SAMPLES = Path(__file__).parents[3] / "loadtest" / "samples"
WORDS = "Rechnung über Grüße naïve façade année 2026 Straße".split()

LIMITS = DocumentLimits()


def _drawing(canvas: Any) -> None:
    canvas.rect(10, 10, 100, 100, fill=1)
    canvas.showPage()


def _shapes(canvas: Any) -> None:
    """Text that each of the PDF reader's steps works on: turned, slanted, in boxes, raised, twice, divided."""
    for number, word in enumerate(WORDS * 3):
        canvas.drawString(50, 700 - 12 * number, f"{word} {number} Septem-" if number % 2 else f"ber {number} {word}")
    for number, character in enumerate("DE89370400440532013000"):
        canvas.rect(50 + 16 * number, 300, 16, 16)
        canvas.drawString(54 + 16 * number, 304, character)
    for angle in (30, 90, 180, 270):
        canvas.saveState()
        canvas.translate(300, 400)
        canvas.rotate(angle)
        canvas.drawString(0, 0, "COPY Total EUR 9")
        canvas.setFont("Helvetica", 6)
        canvas.drawString(90, 5, "78")
        canvas.restoreState()
    for _ in range(2):
        canvas.drawString(50, 200, "Total EUR 576.00")
    canvas.acroForm.textfield(value="Maria", name="who", x=50, y=100)
    canvas.acroForm.checkbox(checked=True, name="yes", x=300, y=100)
    canvas.showPage()


def _texts() -> dict[str, bytes]:
    russian = "Привет, мир! Счёт номер 17. " * 20
    japanese, chinese = "請求書の合計金額は次の通りです。" * 20, "发票总金额如下。" * 30
    encoded = {
        "cp1252": " ".join(WORDS * 20).encode("cp1252"),
        "koi8-r": russian.encode("koi8-r"),
        "cp1251": russian.encode("cp1251"),
        "shift_jis": japanese.encode("shift_jis"),
        "euc_jp": japanese.encode("euc_jp"),
        "gb18030": chinese.encode("gb18030"),
        "utf-16": russian.encode("utf-16"),
        "utf-32": japanese.encode("utf-32"),
        "noise": random.Random(7).randbytes(3000),
    }
    return {f"{name}.txt": data for name, data in encoded.items()}


def _files() -> dict[str, bytes]:
    lines = [" ".join(random.Random(number).choices(WORDS, k=8)) for number in range(40)]
    whole = simple_pdf("Anna Smith")
    return {
        **_texts(),
        "invoice.xml": cii(Bill()),
        "credit_note.xml": ubl(Bill(code="381")),
        "page.hocr": HOCR.encode(),
        "page.xml": ALTO.format(version=4, unit="pixel", size=SIZE).encode(),
        "page.json": json.dumps(textract(*OCR_WORDS)).encode(),
        "hybrid.pdf": hybrid(Bill(), Bill(total="147.62")),
        "invoice.pdf": (SAMPLES / "invoice.pdf").read_bytes(),
        "resume.docx": (SAMPLES / "resume.docx").read_bytes(),
        "long.pdf": pdf(*([column(50, 60, lines), column(320, 60, lines)][number % 2] for number in range(60))),
        "turned.pdf": pdf(column(50, 60, lines), rotation=90),
        "locked.pdf": pdf(column(50, 60, lines), password="secret"),
        "drawing.pdf": drawn(_drawing),
        "shapes.pdf": drawn(_shapes),
        "upside-down.pdf": pdf(column(50, 60, lines), rotation=180),
        "cut.pdf": whole[: len(whole) // 2],
        "long.docx": simple_docx(*lines * 100),
        "cut.docx": simple_docx("Berlin")[:-200],
        "long.html": ("<p>" + "</p><table><tr><td>".join(lines * 200)).encode(),
        "boxes.html": HTML_BOXES,
        "declared.html": "<meta charset='koi8-r'><p>Привет".encode("koi8-r"),
        "guessed.txt": "Zakład Usługowy Żółw".encode("cp1250"),
        "seven_bits.txt": "請求書".encode("iso2022_jp"),
        "broken.html": b"<html><!-- <p>" + bytes(range(256)),
        "empty.txt": b"",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(100),
    }


def _outcome(document: Document) -> tuple[object, ...]:
    layout = document.layout
    shape = None if layout is None else (np.nansum(layout.boxes).item(), layout.line_starts.tolist())
    read = (document.text, document.pages, document.unread_pages, document.partly_read, document.charset)
    words = None if document.words is None else (document.words.ranges.tolist(), document.words.boxes.tolist())
    return *read, document.invoice, shape, words


async def test_pages_are_recognized_in_the_sandbox() -> None:
    """Nothing that OCR needs is imported, opened or started there for the first time."""
    networks()
    alone = sheet((((900, 330), "Anna"),), (1654, 2339)).file()
    small = sheet((((20, 40), "Anna"),), (400, 120))
    files = {"a.png": sheet().file(), "a.tiff": small.file("TIFF"), "a.jpg": small.file("JPEG"), "b.png": alone}
    async with pool_of(PoolSetup(size=1, seconds=120.0, ocr=True)) as pool:
        for name, data in files.items():
            expected = read_document(data, limits=DocumentLimits(), ocr_pages=(1,))
            deadline = time.monotonic() + 120.0
            found = await pool.parse(
                data, FileHeader(None, name, LIMITS, ocr_pages=(1,)), client="a", deadline_seconds=deadline
            )
            assert _outcome(found) == _outcome(expected), name
            assert found.recognized == expected.recognized
            assert found.confidence(0, 9) == expected.confidence(0, 9)


def test_a_parser_of_a_nice_service_steps_back_no_further_than_it_is() -> None:
    code = "import os; from service.api.parsers.zygote import step_back as s; s(0); print(os.getpriority(0, 0))"
    for niceness in (0, 19):
        done = subprocess.run(["nice", "-n", str(niceness), sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == f"{max(niceness, STEPPED_BACK, os.getpriority(os.PRIO_PROCESS, 0))}\n", done.stderr


@pytest.mark.skipif(os.getpriority(os.PRIO_PROCESS, 0) >= STEPPED_BACK, reason="these tests themselves are as nice")
async def test_a_file_is_sent_once_to_a_parser_that_recognizes_its_pages_behind_other_processes() -> None:
    first, other = (sheet((((20, 40), f"The {name} page"),), size=(400, 120)) for name in ("first", "second"))
    data = first.file("TIFF", save_all=True, append_images=[other.picture])

    def stepped_back() -> list[int]:
        return [each for each in parsers_of(os.getpid()) if os.getpriority(os.PRIO_PROCESS, each) == STEPPED_BACK]

    async with pool_of(PoolSetup(size=1, seconds=120.0, ocr=True)) as pool:
        deadline = time.monotonic() + 120.0
        with pool.holding() as held:
            for page, sent, text in ((1, data, "first"), (2, b"not sent", "second")):
                header = FileHeader(None, None, LIMITS, ocr_pages=(page,))
                found = await pool.parse(sent, header, client=ANONYMOUS, deadline_seconds=deadline, held=held)
                assert text in found.text
                assert len(stepped_back()) == 1
            plain = await pool.parse(
                b"a text", FileHeader(None, "a.txt", LIMITS), client="a", deadline_seconds=deadline
            )
            assert plain.text == "a text"
        while stepped_back() or not parsers_of(os.getpid()):
            await asyncio.sleep(0.001)


def _with_image(image: Image.Image, kind: str, **options: Any) -> bytes:
    """A PDF of a page of text with an image: as it is in the file, or with a profile of its colours."""
    written = io.BytesIO()
    image.save(written, kind, **options)
    with pikepdf.open(io.BytesIO(simple_pdf("Invoice for Anna Schmidt"))) as pdf:
        if kind == "PDF":
            with pikepdf.open(written) as scan:
                stream = pdf.copy_foreign(next(iter(scan.pages[0].Resources.XObject.as_dict().values())))
        else:
            profile = pdf.make_stream(ImageCmsProfile(createProfile("sRGB")).tobytes(), N=3)
            stream = pdf.make_stream(image.tobytes(), Type=Name.XObject, Subtype=Name.Image, BitsPerComponent=8)
            stream.Width, stream.Height = image.size
            stream.ColorSpace = pikepdf.Array([Name.ICCBased, profile])
        page = pdf.pages[0]
        name = page.add_resource(stream, Name.XObject)
        page.contents_add(f"q 200 0 0 50 60 400 cm {name} Do Q".encode())
        return saved(pdf)


async def test_words_in_images_of_any_kind_are_painted_over_in_the_sandbox() -> None:
    picture = Image.new("RGB", (400, 100), "white")
    files = {
        "profile": _with_image(picture, "PNG"),
        "jpeg": _with_image(picture, "PDF"),
        "fax": _with_image(picture.convert("1"), "PDF"),
        "palette": _with_image(picture.quantize(4), "PDF"),
    }
    painted = PaintedPage(1, ((100.0, 400.0, 140.0, 420.0),), in_pictures=True)
    redaction = Redaction((), (), everywhere=False, allow_unread=True, painted=(painted,))
    async with pool_of(PoolSetup(size=1, seconds=120.0)) as pool:
        for name, data in files.items():
            made = await pool.redact(
                data, None, "a.pdf", redaction, client="a", deadline_seconds=time.monotonic() + 120.0
            )
            assert [page.method for page in made.pages] == ["painted"], name


async def test_every_format_reads_as_it_does_without_a_sandbox() -> None:
    async with pool_of(PoolSetup(size=2, seconds=120.0)) as pool:
        for name, data in _files().items():
            try:
                expected: object = _outcome(read_document(data, name=name, limits=DocumentLimits()))
            except GleanerError as error:
                expected = (error.code, error.detail)
            try:
                deadline = time.monotonic() + 120.0
                parsed = await pool.parse(data, FileHeader(None, name, LIMITS), client="a", deadline_seconds=deadline)
                found: object = _outcome(parsed)
            except GleanerError as error:
                found = (error.code, error.detail)
            assert found == expected, name
