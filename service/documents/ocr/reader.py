"""Reads pages of a PDF, picture files and pictures in files by recognizing what no text layer holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import NamedTuple

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
from service.documents.pdf.angles import Floats
from service.documents.pdf.coverage import page_coverage
from service.documents.pdf.drawing import gray_place
from service.documents.pdf.glyphs import Glyphs, PageFrame, read_glyphs
from service.documents.pdf.hidden_text import agree, shown_ones, words_of
from service.documents.pdf.page_objects import painted_objects
from service.documents.pdf.page_pictures import dpi_at, picture_dpi
from service.documents.pdf.reader import PageCollector, loaded_page, opened_pdf, opened_text, shown_layers
from service.documents.pdf.words import Word, words_by_direction
from service.documents.pdf.written_cells import has_shades, script_beside, writing_beside

LEAST_CONFIDENCE = 0.9
"""Least mean probability of a page's characters; below it the networks do not know the page's script."""
MOST_UNREAD = 0.6
"""Share of a page's columns with letters but no recognized character; above it the page is unread."""


def recognize_pages(
    data: bytes,
    numbers: Sequence[int],
    networks: TextNetworks,
    *,
    limits: DocumentLimits,
    is_pdf: bool,
    is_forced: bool = False,
    again: RedactedPicture | None = None,
    pictures: bool = False,
) -> Document:
    """A document of these pages alone; the ones that are not sure enough are among its `unread_pages`.

    Args:
        is_forced: the text layers of a PDF's pages are not used.
        again: of the one page, if it, or its pictures that are named there, were painted over; all that is read on it
            counts, however unsure.
        pictures: of a PDF's pages the text of their pictures alone, each on lines of its own.

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
                if pictures:
                    pages.add_page_pictures(document, number)
                else:
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


_ILLEGIBLE = 0.8
"""Share of the columns with letters without a recognized character from which the lines of a picture, such as a blurred
stamp, are writing that was not read, and no ornament or photograph."""
_NO_SHIFT = np.zeros(4, np.float32)
_FEWEST_LETTERS = 3
"""Letters and digits of a picture beside text; fewer are a sign or an ornament."""


class _ShownPage(NamedTuple):
    """A page: size in points, picture without black boxes, what is read there, and the boxes that are not black."""

    size: tuple[float, float]
    gray: Gray
    read: ReadPicture
    unpainted: list[Box]


class _Found(NamedTuple):
    """What is read on a page or a picture beside its text layer, and the boxes of what is not."""

    parts: list[Glyphs]
    unread: tuple[Box, ...]
    confidence: float
    is_sure: bool

    @property
    def letters(self) -> int:
        return sum(chr(code).isalnum() for part in self.parts for code in part.codes.tolist())


class _Recognition:
    """Collects pages as they are recognized."""

    def __init__(self, networks: TextNetworks, limits: DocumentLimits, again: RedactedPicture | None) -> None:
        self._networks = networks
        self._again = again
        self._before = again.before if again is not None else ()
        self._page_before = self._before[0] if self._before else None
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
            shown = self._read(gray_place(page, size, picture_dpi(objects), READ_PIXELS), size, self._page_before)
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
        self._add(number, self._read(gray, size, self._page_before), _NO_GLYPHS, [])

    def add_page_pictures(self, document: pypdfium2.PdfDocument, number: int) -> None:
        """The pictures of a page of a PDF, without what its text layer says."""
        with loaded_page(document, number) as page, opened_text(page, number) as text_page:
            size = (float(pdfium.FPDF_GetPageWidthF(page)), float(pdfium.FPDF_GetPageHeightF(page)))
            objects, are_all = painted_objects(page)
            places, known = [each.box for each in self._before if each.box], np.zeros((0, 4), np.float32)
            if self._again is None:
                count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
                glyphs = read_glyphs(page, text_page, count, objects)
                places += page_coverage(page, objects, glyphs, are_all=are_all, may_draw=True).pictures
                known = np.concatenate((glyphs.ink, glyphs.struck))
            frame = PageFrame.of(page)
            grays = [gray_place(page, size, dpi_at(each, objects, frame), READ_PIXELS, each) for each in places]
        glyphs, layers = _NO_GLYPHS, list[list[Word]]()
        for place, gray, lay in zip_longest(places, grays, self._before):
            found = self._add_picture(number, place, gray, known, lay)
            for part in found:
                glyphs, layers = _with_part(glyphs, layers, part)
        if not places:
            self._recognized.append(RecognizedPage(number, 1.0, 0, 0.0, (0.0, 0.0, *size)))
        self._pages.append(number, glyphs, layers, size)

    def _add_picture(
        self, number: int, place: Box, gray: Gray, known: Floats, before: RecognizedPage | None
    ) -> list[Glyphs]:
        """A picture at a place of a page: the glyphs that are read there, at their places on the page."""
        left, top, right, bottom = place
        shift = np.array((left, top, left, top), np.float32)
        shown = self._read(gray, (right - left, bottom - top), before, shift)
        found = self._found(shown, known - shift, is_page=False)
        is_read = found.is_sure and found.letters >= _FEWEST_LETTERS
        boxes = found.unread if is_read else (*found.unread, *script_beside(gray, shown.size, known - shift))
        unread = tuple(dict.fromkeys(_shifted(box, shift) for box in boxes))
        if unread:
            self._partly_read.append(PartlyRead(number, UnreadReason.IMAGE, unread))
        lay = shown.read
        self._recognized.append(
            RecognizedPage(number, round(found.confidence, 4), lay.turned, round(lay.skew, 2), place)
        )
        return [replace(part, loose=part.loose + shift, ink=part.ink + shift) for part in found.parts if is_read]

    def _read(
        self, gray: Gray, size: tuple[float, float], before: RecognizedPage | None, shift: Floats = _NO_SHIFT
    ) -> _ShownPage:
        if self._again is None:
            return _ShownPage(size, gray, read_picture(gray, self._networks), [])
        scale = gray.shape[1] / size[0], gray.shape[0] / size[1]
        painted = [_shifted(box, -shift) for box in self._again.painted]
        gray, unpainted = without_painted(gray, painted, scale)
        read = read_picture(gray, self._networks, (before.turned, before.skew) if before else None)
        return _ShownPage(size, gray, read, unpainted)

    def _add(self, number: int, page: _ShownPage, glyphs: Glyphs, layers: list[list[Word]]) -> None:
        """Add a page: the glyphs of its text layer, whose words are laid out in layers, and recognized ones.

        One on which nothing is left to recognize counts as recognized, such as the blank back of a sheet.
        """
        found = self._found(page, np.concatenate((glyphs.ink, glyphs.struck)), is_page=True)
        if found.unread or (any(len(part.codes) for part in found.parts) and not found.is_sure):
            self._partly_read.append(PartlyRead(number, UnreadReason.IMAGE, found.unread))
        if not found.is_sure:
            self._unread.append(number)
            self._pages.append(number, glyphs, layers, page.size)
            return
        read = page.read
        self._recognized.append(RecognizedPage(number, round(found.confidence, 4), read.turned, round(read.skew, 2)))
        for part in found.parts:
            glyphs, layers = _with_part(glyphs, layers, part)
        self._pages.append(number, glyphs, layers, page.size)

    def _found(self, page: _ShownPage, known: Floats, *, is_page: bool) -> _Found:
        """What is read on a page, or a picture on it, beside known characters (boxes of their ink)."""
        size, gray, read, unpainted = page
        scale = size[0] / gray.shape[1]
        found = [recognized_glyphs(each, scale, *size) for each in (*papers(read), *read.margins)]
        parts = [uncovered(each, known) for each in found]
        sure = np.concatenate([part.confidence for part in parts])
        is_illegible = is_page or read.unread_share >= _ILLEGIBLE
        doubtful = given_boxes(read, read.doubtful, scale) if is_illegible else ()
        seen = [*(each.ink for each in found), known, np.array(doubtful, np.float32).reshape(-1, 4)]
        boxes = tuple(box for box in doubtful if covered(box, known) <= MOST_COVERED)
        beside = writing_beside if is_page else script_beside
        boxes += (*unpainted, *beside(gray, size, np.concatenate(seen)))
        is_empty = not (len(sure) or boxes or has_shades(gray, size))
        confidence = float(sure.mean()) if len(sure) else float(is_empty)
        is_sure = (confidence >= LEAST_CONFIDENCE and read.unread_share <= MOST_UNREAD) or self._again is not None
        return _Found(parts, boxes, confidence, is_sure)

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


def _with_part(glyphs: Glyphs, layers: list[list[Word]], part: Glyphs) -> tuple[Glyphs, list[list[Word]]]:
    """The glyphs of a page and the layers of their words, with a recognized part's behind them."""
    shift = len(glyphs.codes)
    more = [
        [word._replace(start=word.start + shift, end=word.end + shift) for word in words]
        for words in words_by_direction(part)
    ]
    return (_joined(glyphs, part) if shift else part), [*layers, *more]


def _shifted(box: Box, shift: Floats) -> Box:
    left, top, right, bottom = (round(side, 1) for side in (np.array(box, np.float32) + shift).tolist())
    return left, top, right, bottom
