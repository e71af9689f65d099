"""Scans and photographs of drawn sheets, as scanners and cameras have them; and redaction of them without processes."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, cast

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.utils import ImageReader

from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import PageProgress
from service.api.parsers.frames import FileHeader
from service.api.parsers.pool import ParserPool
from service.api.redaction.file_redactor import FileRedactor
from service.api.redaction.schemas import RedactOptions
from service.core.redaction import RedactedSpan, spans_to_redact
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from service.documents.redaction.pdf_redactor import redact_document
from service.documents.redaction.values import RedactedFile, Redaction
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH, drawn
from tests.support.drawn_sheets import networks, sheet, turned

Placed = tuple[tuple[int, int], str]
LIMITS = DocumentLimits()
DPI = (200, 200)


class InProcessPool:
    """Parsers that are functions of this process."""

    size = 1

    def __init__(self) -> None:
        networks()
        self.redactions: list[Redaction] = []

    def holding(self) -> AbstractContextManager[object]:
        return nullcontext(object())

    async def parse(self, data: bytes, header: FileHeader, **_: Any) -> Document:
        pages, forced, pictures = header.ocr_pages, header.ocr_forced, header.ocr_pictures
        if header.ocr_again is None:
            return _first_reading(data, pages, forced, pictures)
        return read_document(
            data,
            limits=LIMITS,
            ocr_pages=pages,
            ocr_forced=forced,
            ocr_again=header.ocr_again,
            ocr_pictures=pictures,
        )

    async def redact(
        self, data: bytes, media_type: str | None, name: str | None, redaction: Redaction, **_: Any
    ) -> RedactedFile:
        self.redactions.append(redaction)
        return redact_document(data, redaction, limits=LIMITS)


@cache
def _first_reading(data: bytes, ocr_pages: tuple[int, ...] | None, ocr_forced: bool, ocr_pictures: bool) -> Document:
    """A file as it is read before anything is removed; several tests redact the same one."""
    return read_document(data, limits=LIMITS, ocr_pages=ocr_pages, ocr_forced=ocr_forced, ocr_pictures=ocr_pictures)


def redacted_scan(
    data: bytes, *texts: str, pool: Any = None, is_available: bool = True, **options: Any
) -> tuple[Document, RedactedFile]:
    """A file as it was read, and without each of these texts and what repeats them."""
    parsers = cast(ParserPool, pool or InProcessPool())
    chosen = RedactOptions(**options)
    request = ExtractRequest(
        cast(Any, None), chosen.for_extraction(), cast(Any, None), "c", 1e9, reads_all_pictures=True
    )
    source = DocumentInput("0", data=data)

    async def redact() -> tuple[Document, RedactedFile]:
        pages = PageRecognizer(parsers, LIMITS, is_available=is_available, most_pages=20)
        document = await pages.read(source, request, PageProgress())
        found = [RedactedSpan("X", at, at + len(each), 1.0) for each in texts if (at := document.text.find(each)) >= 0]
        spans = spans_to_redact(document.text, found, repeats=chosen.repeats, recognized=True)
        return document, await FileRedactor(parsers, pages).redact(source, request, chosen, document, spans)

    return asyncio.run(redact())


def scanned(picture: Image.Image, degrees: float = 0, *, noise: float = 8, light: float = 0.9) -> Image.Image:
    """A gray sheet askew on gray paper, unsharp and noisy."""
    levels = np.asarray(turned(picture.convert("L"), degrees).filter(ImageFilter.GaussianBlur(0.8)), np.float32) * light
    levels += np.random.default_rng(7).normal(0, noise, levels.shape)
    return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))


def file_of(picture: Image.Image, kind: str, *more: Image.Image, **options: Any) -> bytes:
    """The bytes of a picture file, with more pages."""
    written = io.BytesIO()
    if more:
        options |= {"save_all": True, "append_images": list(more)}
    picture.save(written, kind, **{"dpi": DPI, **options})
    return written.getvalue()


def scan_pdf(*pages: Image.Image | str, typed: str = "", hidden: Sequence[Placed] = (), turned: int = 0) -> bytes:
    """A PDF with a picture or lines on each page; over the pictures a typed line and hidden texts at their pixels."""

    def draw(canvas: Any) -> None:
        for page in pages:
            canvas.setPageRotation(turned)
            if isinstance(page, str):
                for number, line in enumerate(page.splitlines()):
                    canvas.drawString(60, 700 - 20 * number, line)
            else:
                scale = min(500 / page.width, 550 / page.height)
                width, height = scale * page.width, scale * page.height
                canvas.drawImage(ImageReader(page), 40, 600 - height, width, height)
                canvas.drawString(60, 700, typed)
                for (x, y), text in hidden:
                    layer = canvas.beginText(40 + scale * x, 600 - scale * (y + 25))
                    layer.setFont("Helvetica", 26 * scale)
                    layer.setTextRenderMode(3)
                    layer.textLine(text)
                    canvas.drawText(layer)
            canvas.showPage()

    return drawn(draw)


def two_columns() -> Image.Image:
    """A sheet with two columns of prose."""
    left = ("The glasses were ordered by", "Katrin Morgenstern of Lindau", "and sent to her address on", "Monday.")
    right = ("They were paid in full on", "the same day by transfer", "from Katrin Morgenstern, so", "nothing is due.")
    rows = [((80, 100 + 40 * row), text) for row, text in enumerate(left)]
    return sheet((*rows, *(((540, 100 + 40 * row), text) for row, text in enumerate(right)))).picture


def with_note() -> Image.Image:
    """A sheet with strokes as of a pen below its print."""
    picture = sheet().picture.copy()
    draw, random = ImageDraw.Draw(picture), np.random.default_rng(3)
    for row in range(3):
        points = [(300 + 9 * step, 520 + 55 * row + float(random.normal(0, 11))) for step in range(60)]
        draw.line(points, fill=20, width=3, joint="curve")
    return picture


def written(lines: Iterable[tuple[float, float, str]], size: int = 12, paper: int = 250) -> Image.Image:
    """The picture of a page with lines of writing: left and bottom in points from its lower left corner, and a text."""
    picture = Image.new("L", (2 * round(PAGE_WIDTH), 2 * round(PAGE_HEIGHT)), paper)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(2 * size)
    for left, bottom, text in lines:
        pen.text((2 * left, 2 * (PAGE_HEIGHT - bottom)), text, fill=20, font=font, anchor="ls")
    return picture
