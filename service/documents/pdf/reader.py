"""Reads a PDF file: text in reading order, pages, and a box for every character.

    glyphs (pdfium's characters as arrays) → words → lines in reading order → the text, with tabs at wide gaps

pdfium is not thread-safe and has global state, so only one thread of a process may use it; the service reads files in
single-threaded parser processes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from service.core.errors import UnreadableDocument
from service.core.fields.stated_invoice import ElectronicInvoice
from service.documents.document import Document, Layout, Page, PartlyRead, UnreadAttachment, UnreadReason
from service.documents.electronic_invoice import attached_invoice
from service.documents.limits import DocumentLimits
from service.documents.pdf.angles import Floats
from service.documents.pdf.as_shown import as_shown
from service.documents.pdf.coverage import page_coverage
from service.documents.pdf.glyphs import Glyphs, Indices, read_glyphs
from service.documents.pdf.hyphenation import undivided
from service.documents.pdf.line_text import SEPARATORS, line_text
from service.documents.pdf.overprint import shown_once, without_marks
from service.documents.pdf.page_objects import is_invisible, painted_objects
from service.documents.pdf.reading_order import order_lines
from service.documents.pdf.unseen_text import FEWEST_UNSEEN, boxes_of_lines
from service.documents.pdf.words import Word, level_boxes, words_by_direction

MOST_ATTACHMENTS = 100
"""Attachments of a file among which an electronic invoice is searched."""
MOST_DRAWN = 100
"""Pages of a file that are drawn to see whether their images hold writing, and their texts ink; in further ones they
count as if."""


def read_pdf(data: bytes, *, limits: DocumentLimits, may_be_empty: bool = False) -> Document:
    """The document in a PDF file; its pages are separated by an empty line.

    Args:
        may_be_empty: without a text layer, the document has no text, and its pages are unread.

    Raises:
        UnreadableDocument: encrypted, damaged, or without a text layer.
        DocumentTooLarge: too many pages or characters.
    """
    return read_with_indices(data, limits=limits, may_be_empty=may_be_empty)[0]


def read_with_indices(data: bytes, *, limits: DocumentLimits, may_be_empty: bool = False) -> tuple[Document, Indices]:
    """The document, and int32 [characters]: the index of each on pdfium's text page of its page; -1: it is on none.

    Raises:
        UnreadableDocument, DocumentTooLarge: as above.
    """
    with opened_pdf(data) as document:
        limits.check_pages(len(document))
        pages = PageCollector(limits)
        unread = tuple(number for number in range(1, len(document) + 1) if pages.add(document, number))
        invoice, unread_attachments = _attached_invoice(document)
    if not pages.has_text and not (may_be_empty and unread):
        raise UnreadableDocument(_why_empty(len(pages.pages), len(unread), pages.hidden, pages.struck))
    read, indices = pages.document(unread)
    return replace(read, invoice=invoice, unread_attachments=unread_attachments), indices


def _attached_invoice(
    document: pypdfium2.PdfDocument,
) -> tuple[ElectronicInvoice | None, tuple[UnreadAttachment, ...]]:
    """What the XML of an electronic invoice states that is attached to the file: the first that can be read, and
    those before it that cannot."""
    unread: list[UnreadAttachment] = []
    for number in range(min(document.count_attachments(), MOST_ATTACHMENTS)):
        attachment, data = document.get_attachment(number), None
        name = attachment.get_name()
        if not name.lower().endswith(".xml"):
            continue
        with suppress(pypdfium2.PdfiumError):
            data = bytes(attachment.get_data())
        match attached_invoice(name, data):
            case ElectronicInvoice() as invoice:
                return invoice, tuple(unread)
            case UnreadAttachment() as damaged:
                unread.append(damaged)
    return None, tuple(unread)


@contextmanager
def opened_pdf(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    """A PDF file's document as a viewer shows it, with at least one page.

    Raises:
        UnreadableDocument: encrypted, damaged, or a cover in the place of a document.
    """
    try:
        document = pypdfium2.PdfDocument(as_shown(data))
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise UnreadableDocument("The PDF is protected with a password; send it without one.") from error
        raise UnreadableDocument(f"The PDF is damaged: {error}") from error
    try:
        if not len(document):
            raise UnreadableDocument("The PDF is damaged: it has no pages.")
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            document.init_forms()
        yield document
    finally:
        document.close()


def flattened(data: bytes) -> bytes:
    """The file as pdfium sees it, with annotations made part of the pages, and without encryption or repairs to do."""
    with opened_pdf(data) as document:
        for number in range(1, len(document) + 1):
            with loaded_page(document, number):
                pass
        written = io.BytesIO()
        document.save(written, flags=pdfium.FPDF_REMOVE_SECURITY)
    return written.getvalue()


def _why_empty(pages: int, images: int, hidden: int, struck: int) -> str:
    if struck and not hidden:
        return f"The PDF has no text that is valid: its {struck} characters are struck out, and none of them is read."
    if hidden:
        return (
            f"The PDF has no text that can be seen: its {hidden} characters are hidden (invisible, in the colour of "
            "their ground, transparent, clipped away, covered, tiny or beside the page), and none of them is read."
        )
    if images:
        only = "only images, outlines or fonts that do not say what they show"
        held = f"its page holds {only}" if pages == 1 else f"{images} of its {pages} pages hold {only}"
        return (
            f"The PDF has no text layer: {held}, as a scan does; "
            "what it shows is read by OCR alone, which is off (`ocr=off`), not installed, or not used on a file to be "
            "redacted; with `output=text`, /redact returns the redacted text that OCR reads."
        )
    return "The PDF has no text: there are neither characters nor images on its pages."


class PageCollector:
    """Collects the glyphs of pages, and joins them to a document."""

    def __init__(self, limits: DocumentLimits) -> None:
        self.pages: list[Page] = []
        self.has_text = False
        self._limits = limits
        self._length = 0
        self._codes: list[npt.NDArray[np.uint32]] = []
        self._boxes: list[npt.NDArray[np.float32]] = []
        self._line_starts: list[npt.NDArray[np.int32]] = []
        self._indices: list[Indices] = []
        self._confidence: list[Floats] = []
        self._is_recognized = False
        self._partly_read: list[PartlyRead] = []
        self._page_pictures: list[tuple[int, int]] = []
        self._drawn = 0

    @property
    def hidden(self) -> int:
        """The number of characters so far that nobody sees."""
        return self._left_out(UnreadReason.HIDDEN)

    @property
    def struck(self) -> int:
        """The number of characters so far that are struck out."""
        return self._left_out(UnreadReason.STRUCK)

    def _left_out(self, reason: UnreadReason) -> int:
        return sum(part.characters for part in self._partly_read if part.reason is reason)

    def add(self, document: pypdfium2.PdfDocument, number: int) -> bool:
        """Read one page; True if nothing of it was read, or next to nothing."""
        with loaded_page(document, number) as page, opened_text(page, number) as text_page:
            count = max(int(pdfium.FPDFText_CountChars(text_page)), 0)
            self._limits.check_characters(
                self._length + count // 2
            )  # up to half of it may be white space that pdfium adds
            objects, are_all = painted_objects(page)
            glyphs = read_glyphs(page, text_page, count, objects, may_draw=self._drawn < MOST_DRAWN)
            layers = shown_layers(glyphs, text_page)
            coverage = page_coverage(page, objects, glyphs, are_all=are_all, may_draw=self._drawn < MOST_DRAWN)
            size = (float(pdfium.FPDF_GetPageWidthF(page)), float(pdfium.FPDF_GetPageHeightF(page)))
        self._drawn += coverage.was_drawn or glyphs.was_drawn
        self._partly_read += [PartlyRead(number, *part) for part in coverage.parts]
        if coverage.pictures:
            self._page_pictures.append((number, coverage.digest or -number))
        for reason, boxes in ((UnreadReason.HIDDEN, glyphs.unseen), (UnreadReason.STRUCK, glyphs.struck)):
            if len(boxes) >= FEWEST_UNSEEN:
                self._partly_read.append(PartlyRead(number, reason, boxes_of_lines(boxes), len(boxes)))
        self.append(number, glyphs, layers, size)
        self._limits.check_characters(self._length)
        return coverage.is_unread

    def append(self, number: int, glyphs: Glyphs, layers: list[list[Word]], size: tuple[float, float]) -> None:
        """Add a page of a size in points, whose words are laid out in layers."""
        lines = [line for words in layers for line in order_lines(words)]
        order, starts = line_text(lines, glyphs.codes, level_boxes(glyphs))
        self.has_text = self.has_text or bool(lines)
        if self.pages:
            none = np.full(2, -1, np.int32)
            self._extend(np.full(2, ord("\n"), np.uint32), np.full((2, 4), np.nan, np.float32), none, _nan(2))
        start = self._length
        drawn = order >= 0
        boxes = np.full((len(order), 4), np.nan, np.float32)
        boxes[drawn] = glyphs.ink[order[drawn]]
        codes = np.concatenate((glyphs.codes, SEPARATORS))[order]
        indices = np.full(len(order), -1, np.int32)
        indices[drawn] = glyphs.indices[order[drawn]]
        confidence = _nan(len(order))
        if len(glyphs.confidence):
            confidence[drawn] = glyphs.confidence[order[drawn]]
            self._is_recognized = True
        self._extend(codes, boxes, indices, confidence)
        self._line_starts.append(starts + start)
        self.pages.append(Page(number, start, self._length, *size))

    def _extend(self, codes: npt.NDArray[np.uint32], boxes: Floats, indices: Indices, confidence: Floats) -> None:
        self._codes.append(codes)
        self._boxes.append(boxes)
        self._indices.append(indices)
        self._confidence.append(confidence)
        self._length += len(codes)

    def document(self, unread_pages: tuple[int, ...]) -> tuple[Document, Indices]:
        """The document of all pages so far, with its divided words joined, and its characters' indices."""
        codes, boxes, indices = np.concatenate(self._codes), np.concatenate(self._boxes), np.concatenate(self._indices)
        starts, pages, confidence = np.concatenate(self._line_starts), self.pages, np.concatenate(self._confidence)
        text = _decoded(codes)
        if (joined := undivided(text, indices)) is not None:
            codes[joined.line_ends] = ord("\n")
            places = np.cumsum(joined.stays, dtype=np.int32) - joined.stays
            places = np.append(places, np.int32(joined.stays.sum()))
            text, boxes, indices = _decoded(codes[joined.stays]), boxes[joined.stays], indices[joined.stays]
            starts, confidence = places[starts], confidence[joined.stays]
            pages = [replace(page, start=int(places[page.start]), end=int(places[page.end])) for page in pages]
        layout = Layout(boxes, starts, confidence if self._is_recognized else None)
        read = Document(text, tuple(pages), layout, unread_pages, tuple(self._partly_read))
        return replace(read, page_pictures=tuple(self._page_pictures)), indices


def _nan(count: int) -> Floats:
    return np.full(count, np.nan, np.float32)


def _decoded(codes: npt.NDArray[np.uint32]) -> str:
    return codes.astype("<u4").tobytes().decode("utf-32-le")


@contextmanager
def loaded_page(document: pypdfium2.PdfDocument, number: int) -> Iterator[Any]:
    """A loaded page, with its annotations (form fields among them) made part of it."""
    page = _loaded(document, number)
    if pdfium.FPDFPage_GetAnnotCount(page) and _flattened(page, document.formenv):
        pdfium.FPDF_ClosePage(page)
        page = _loaded(document, number)
    try:
        yield page
    finally:
        pdfium.FPDF_ClosePage(page)


def _loaded(document: pypdfium2.PdfDocument, number: int) -> Any:
    page = pdfium.FPDF_LoadPage(document.raw, number - 1)
    if not page:
        raise UnreadableDocument(f"The PDF is damaged: its page {number} cannot be read.")
    return page


def _flattened(page: Any, form: pypdfium2.PdfFormEnv | None) -> bool:
    """Make a page's annotations part of its text; True if the page must be loaded again."""
    if form is not None:
        pdfium.FORM_OnAfterLoadPage(page, form)  # This draws fields that have no appearance of their own.
    try:
        return bool(pdfium.FPDFPage_Flatten(page, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)
    finally:
        if form is not None:
            pdfium.FORM_OnBeforeClosePage(page, form)


@contextmanager
def opened_text(page: Any, number: int) -> Iterator[Any]:
    """The text page of a loaded page."""
    text_page = pdfium.FPDFText_LoadPage(page)
    if not text_page:
        raise UnreadableDocument(f"The PDF is damaged: the text of its page {number} cannot be read.")
    try:
        yield text_page
    finally:
        pdfium.FPDFText_ClosePage(text_page)


def shown_layers(glyphs: Glyphs, text_page: Any) -> list[list[Word]]:
    """The words that are laid out together: those of each direction, each once, and marks across them by themselves."""

    def is_hidden(glyph: int) -> bool:
        return is_invisible(pdfium.FPDFText_GetTextObject(text_page, int(glyphs.indices[glyph])))

    directions = (shown_once(words, glyphs, is_hidden) for words in words_by_direction(glyphs))
    return [layer for words in directions for layer in without_marks(words)]
