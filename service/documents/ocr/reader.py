"""Reads pages of a PDF, picture files and pictures in files by recognizing what no text layer holds."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.document import Box, Document, PartlyRead, RecognizedPage, RedactedPicture, UnreadReason
from service.documents.limits import DocumentLimits
from service.documents.ocr.layout import MOST_COVERED, covered, given_boxes, papers, recognized_glyphs, uncovered
from service.documents.ocr.networks import TextNetworks
from service.documents.ocr.page import ReadPicture, read_picture
from service.documents.ocr.pictures import READ_PIXELS, gray_page, picture_pages, without_painted
from service.documents.ocr.straighten import Gray
from service.documents.pdf.coverage import has_shades, writing_beside
from service.documents.pdf.glyphs import Glyphs, read_glyphs
from service.documents.pdf.hidden_text import agree, shown_ones, words_of
from service.documents.pdf.page_objects import Painted, boxes_of, painted_objects
from service.documents.pdf.reader import PageCollector, loaded_page, opened_pdf, opened_text, shown_layers
from service.documents.pdf.words import Word, words_by_direction

LEAST_CONFIDENCE = 0.9
"""Least mean probability of a page's characters; below it the networks do not know the page's script."""
MOST_UNREAD = 0.6
"""Share of a page's columns with letters but no recognized character; above it the page is unread."""
_DPI, _LEAST_DPI, _MOST_DPI = 200, 100, 300
"""Dots an inch in which a PDF's pages are drawn, unless a picture has its own: drawn otherwise it would be blurred."""


def recognize_pages(
    data: bytes,
    numbers: Sequence[int],
    networks: TextNetworks,
    *,
    limits: DocumentLimits,
    is_pdf: bool,
    is_forced: bool = False,
    again: RedactedPicture | None = None,
) -> Document:
    """A document of these pages alone; the ones that are not sure enough are among its `unread_pages`.

    Args:
        is_forced: the text layers of a PDF's pages are not used.
        again: of the one page, if it was painted over; all that is read on it counts, however unsure.

    Raises:
        UnreadableDocument: the file is damaged, or has no such page.
        DocumentTooLarge: over a limit.
    """
    pages = _Recognition(networks, limits, again)
    if is_pdf:
        with opened_pdf(data) as document:
            for number in numbers:
                if not 1 <= number <= len(document):
                    raise UnreadableDocument(f"The PDF has no page {number}.")
                pages.add_pdf_page(document, number, is_forced=is_forced or again is not None)
    else:
        sizes = {page.number: (page.width, page.height) for page in picture_pages(data, limits=limits).pages or ()}
        for number in numbers:
            if number not in sizes:
                raise UnreadableDocument(f"The picture has no page {number}.")
            pages.add(number, gray_page(data, number), sizes[number])
    return pages.document()


def recognize_picture(data: bytes, number: int, networks: TextNetworks, *, limits: DocumentLimits) -> Document:
    """A document of a picture that a file holds, its first page if it has several, as the page of this number.

    Raises:
        UnreadableDocument: it is damaged, or too large.
    """
    pages = _Recognition(networks, limits, None)
    try:
        first = (picture_pages(data, limits=limits).pages or ())[0]
        pages.add(number, gray_page(data, 1), (first.width, first.height))
    except DocumentTooLarge as error:
        raise UnreadableDocument(error.detail) from None
    return pages.document()


_NO_GLYPHS = Glyphs(
    np.zeros(0, np.uint32), np.zeros((0, 4), np.float32), np.zeros((0, 4), np.float32), np.zeros(0, np.bool_), 0.0, 0.0
)


_MOST_PICTURES = 1_000
"""Most pictures of a page among which the largest is searched; a scan has few."""


class _ShownPage(NamedTuple):
    """A page: size in points, picture without black boxes, what is read there, and the boxes that are not black."""

    size: tuple[float, float]
    gray: Gray
    read: ReadPicture
    unpainted: list[Box]


class _Recognition:
    """Collects pages as they are recognized."""

    def __init__(self, networks: TextNetworks, limits: DocumentLimits, again: RedactedPicture | None) -> None:
        self._networks = networks
        self._again = again
        self._pages = PageCollector(limits)
        self._recognized: list[RecognizedPage] = []
        self._unread: list[int] = []
        self._partly_read: list[PartlyRead] = []

    def add_pdf_page(self, document: pypdfium2.PdfDocument, number: int, *, is_forced: bool) -> None:
        """A page of a PDF: its text layer stays, and what was recognized outside of it is added.

        Hidden text in which most words are not those of the picture goes; with `is_forced` the whole layer.
        """
        with loaded_page(document, number) as page, opened_text(page, number) as text_page:
            size = (float(pdfium.FPDF_GetPageWidthF(page)), float(pdfium.FPDF_GetPageHeightF(page)))
            objects, _ = painted_objects(page)
            shown = self._read(_drawn(page, size, picture_dpi(objects)), size)
            glyphs = _NO_GLYPHS
            if not is_forced:
                count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
                glyphs = read_glyphs(page, text_page, count, objects)
                is_shown = shown_ones(glyphs, text_page)
                words = (word.text for line in shown.read.lines for word in line)
                if not agree(words_of(glyphs.only(~is_shown)), words):
                    glyphs = glyphs.only(is_shown)
            layers = shown_layers(glyphs, text_page)
        self._add(number, shown, glyphs, layers)

    def add(self, number: int, gray: Gray, size: tuple[float, float]) -> None:
        """A page as a gray picture."""
        self._add(number, self._read(gray, size), _NO_GLYPHS, [])

    def _read(self, gray: Gray, size: tuple[float, float]) -> _ShownPage:
        if self._again is None:
            return _ShownPage(size, gray, read_picture(gray, self._networks), [])
        scale = gray.shape[1] / size[0], gray.shape[0] / size[1]
        gray, unpainted = without_painted(gray, self._again.painted, scale)
        before = self._again.before
        read = read_picture(gray, self._networks, (before.turned, before.skew) if before else None)
        return _ShownPage(size, gray, read, unpainted)

    def _add(self, number: int, page: _ShownPage, glyphs: Glyphs, layers: list[list[Word]]) -> None:
        """Add a page: the glyphs of its text layer, whose words are laid out in layers, and recognized ones.

        One on which nothing is left to recognize counts as recognized, such as the blank back of a sheet.
        """
        size, gray, read, unpainted = page
        scale = size[0] / gray.shape[1]
        found = [recognized_glyphs(each, scale, *size) for each in (*papers(read), *read.margins)]
        known = np.concatenate((glyphs.ink, glyphs.struck))
        parts = [uncovered(each, known) for each in found]
        sure = np.concatenate([part.confidence for part in parts])
        doubtful = given_boxes(read, read.doubtful, scale)
        seen = [*(each.ink for each in found), known, np.array(doubtful, np.float32).reshape(-1, 4)]
        boxes = tuple(box for box in doubtful if covered(box, known) <= MOST_COVERED)
        boxes += (*unpainted, *writing_beside(gray, size, np.concatenate(seen)))
        is_empty = not (len(sure) or boxes or has_shades(gray, size))
        confidence = float(sure.mean()) if len(sure) else float(is_empty)
        is_sure = (confidence >= LEAST_CONFIDENCE and read.unread_share <= MOST_UNREAD) or self._again is not None
        if boxes or (len(sure) and not is_sure):
            self._partly_read.append(PartlyRead(number, UnreadReason.IMAGE, boxes))
        if not is_sure:
            self._unread.append(number)
            self._pages.append(number, glyphs, layers, size)
            return
        self._recognized.append(RecognizedPage(number, round(confidence, 4), read.turned, round(read.skew, 2)))
        for part in parts:
            shift = len(glyphs.codes)
            layers = [
                *layers,
                *(
                    [word._replace(start=word.start + shift, end=word.end + shift) for word in words]
                    for words in words_by_direction(part)
                ),
            ]
            glyphs = _joined(glyphs, part) if shift else part
        self._pages.append(number, glyphs, layers, size)

    def document(self) -> Document:
        """All pages so far."""
        document, _ = self._pages.document(tuple(self._unread))
        return replace(document, recognized=tuple(self._recognized), partly_read=tuple(self._partly_read))


def _joined(glyphs: Glyphs, added: Glyphs) -> Glyphs:
    """The glyphs of a text layer, then recognized ones."""
    none = np.full(len(glyphs.codes), np.nan, np.float32)
    angles = np.zeros(len(added.codes), np.float32)
    return replace(
        glyphs,
        codes=np.concatenate((glyphs.codes, added.codes)),
        loose=np.concatenate((glyphs.loose, added.loose)),
        ink=np.concatenate((glyphs.ink, added.ink)),
        spaced=np.concatenate((glyphs.spaced, added.spaced)),
        typed=np.concatenate((glyphs.typed, added.spaced)) if len(glyphs.typed) else glyphs.typed,
        indices=np.concatenate((glyphs.indices, added.indices + len(glyphs.indices) + 8)),
        angles=np.concatenate((glyphs.angles, angles)) if len(glyphs.angles) else glyphs.angles,
        confidence=np.concatenate((none, added.confidence)),
    )


def _drawn(page: Any, size: tuple[float, float], dpi: float) -> Gray:
    """A loaded page of a size in points as a gray picture."""
    across, down = max(size[0], 1.0), max(size[1], 1.0)
    scale = min(dpi / 72, (READ_PIXELS / (across * down)) ** 0.5)
    wide, high = max(round(across * scale), 1), max(round(down * scale), 1)
    bitmap = pypdfium2.PdfBitmap.new_native(wide, high, pdfium.FPDFBitmap_Gray)
    try:
        pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, wide, high, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap.raw, page, 0, 0, wide, high, 0, pdfium.FPDF_ANNOT)
        pixels = bitmap.to_numpy()
        return np.array(pixels if pixels.ndim == 2 else pixels[..., 0], np.uint8)
    finally:
        bitmap.close()


def picture_dpi(objects: Sequence[Painted], most: float = _MOST_DPI) -> float:
    """Dots an inch of the largest picture among a page's objects, if they are usual for a scan; at most so many."""
    pictures = [each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE][:_MOST_PICTURES]
    largest, dpi = 0.0, float(_DPI)
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    for picture, (left, bottom, right, top) in zip(pictures, boxes_of(pictures).tolist(), strict=True):
        area = (right - left) * (top - bottom)
        if area > largest and pdfium.FPDFImageObj_GetImagePixelSize(picture.handle, wide, high):
            # A picture may lie on its side: its longer side is as long as that of its bounds.
            dots = max(wide.value, high.value) / max(right - left, top - bottom) * 72
            largest, dpi = area, dots if _LEAST_DPI <= dots <= most else min(max(dots, _DPI), most)
    return dpi
