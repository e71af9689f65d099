"""Reads a file of any supported format into a Document, after checks of size, emptiness, format and content.

A pure function of its arguments that raises nothing but `GleanerError`. Not thread-safe, because of pdfium.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.core.errors import UnreadableDocument, UnsupportedFormat
from service.documents.charset import charset_of, read_text
from service.documents.csv_table import read_csv
from service.documents.document import Document, RedactedPicture
from service.documents.docx import docx_picture, read_docx
from service.documents.electronic_invoice import read_electronic_invoice
from service.documents.format_detection import Format, detect_format, picture_kind
from service.documents.html import html_picture, read_html
from service.documents.limits import DocumentLimits
from service.documents.ocr.joining import with_pictures
from service.documents.ocr.networks import loaded_networks
from service.documents.ocr.pictures import picture_pages
from service.documents.ocr.reader import recognize_pages, recognize_picture
from service.documents.ocr_results import read_ocr_result
from service.documents.pdf.reader import read_pdf

_BY_OCR = (
    "read by recognizing its text (OCR), which is off here: by `ocr=off` in the request, by GLEANER_OCR=off, or as the "
    "extra `ocr` is not installed."
)


def read_document(
    data: bytes,
    *,
    media_type: str | None = None,
    name: str | None = None,
    limits: DocumentLimits,
    ocr_pages: Sequence[int] | None = None,
    ocr_forced: bool = False,
    ocr_again: RedactedPicture | None = None,
    ocr_pictures: bool = False,
) -> Document:
    """The text of one file, with pages and boxes where its format has them.

    Args:
        data: the whole file.
        media_type: as in a Content-Type header, parameters included; None if unknown.
        name: the file's name, of which the ending is used.
        limits: of the document.
        ocr_pages: the pages to recognize, or the one picture of a DOCX or HTML file: a document of these alone; empty:
            the text of the file, of which some or all may be unread; None: a file without text is refused.
        ocr_forced: what is recognized takes the place of the pages' text layers.
        ocr_again: the one page to recognize was painted over: its text layer is not used, and all is taken that is
            read, however unsure. Its boxes that are not black are among `partly_read`.
        ocr_pictures: of the pages to recognize, the text of their pictures alone.

    Raises:
        DocumentTooLarge: over a limit; names the limit and the excess.
        UnsupportedFormat: another format; lists the supported ones.
        UnreadableDocument: empty, encrypted, damaged, without text, or of another format than declared.
    """
    limits.check_bytes(len(data))
    if not data:
        raise UnreadableDocument('The document is empty: it has no bytes. (An empty text is `{"text": ""}`.)')
    limits = limits.for_file_of(len(data))
    format_ = detect_format(data, media_type=media_type, name=name)
    if ocr_pages:
        if format_ in (Format.DOCX, Format.HTML):
            return _recognized_picture(format_, data, charset_of(media_type), ocr_pages[0], limits)
        return _recognized(format_, data, ocr_pages, limits, ocr_forced, ocr_again, ocr_pictures)
    document = _read_as(format_, data, charset_of(media_type), limits, may_be_empty=ocr_pages is not None)
    limits.check_characters(len(document.text))
    if ocr_pages is None and document.pictures:
        if not document.text.strip():
            raise UnreadableDocument(f"The document has no text but in pictures: a picture is {_BY_OCR}")
        document = with_pictures(document, {})
    if not (document.text.strip() or document.pictures or (ocr_pages is not None and document.unread_pages)):
        hidden = sum(part.characters for part in document.partly_read)
        seen = f" that can be seen: its {hidden} characters are hidden, and nothing of them is read" if hidden else ""
        raise UnreadableDocument(f"The document has no text{seen}.")
    return document


def _recognized(
    format_: Format,
    data: bytes,
    pages: Sequence[int],
    limits: DocumentLimits,
    is_forced: bool,
    again: RedactedPicture | None,
    pictures: bool,
) -> Document:
    networks = loaded_networks()
    if networks is None or format_ not in (Format.PDF, Format.PICTURE):
        raise UnreadableDocument("Nothing can be recognized in the document.")
    return recognize_pages(
        data, pages, networks, limits=limits,
        is_pdf=format_ is Format.PDF, is_forced=is_forced, again=again, pictures=pictures,
    )  # fmt: skip


def _recognized_picture(
    format_: Format, data: bytes, charset: str | None, number: int, limits: DocumentLimits
) -> Document:
    """The document of one picture of a DOCX or HTML file, as a page of its number."""
    networks = loaded_networks()
    if networks is None:
        raise UnreadableDocument("Nothing can be recognized in the document.")
    is_docx = format_ is Format.DOCX
    picture = docx_picture(data, number) if is_docx else html_picture(data, number, charset=charset, limits=limits)
    return recognize_picture(picture, number, networks, limits=limits)


def _read_as(
    format_: Format, data: bytes, charset: str | None, limits: DocumentLimits, *, may_be_empty: bool
) -> Document:
    match format_:
        case Format.PDF:
            return read_pdf(data, limits=limits, may_be_empty=may_be_empty)
        case Format.PICTURE:
            if not may_be_empty:
                raise UnsupportedFormat(f"{picture_kind(data) or 'A picture'} is {_BY_OCR}")
            return picture_pages(data, limits=limits)
        case Format.DOCX:
            return read_docx(data, limits=limits)
        case Format.HTML:
            return read_html(data, charset=charset, limits=limits)
        case Format.INVOICE:
            return read_electronic_invoice(data, limits=limits)
        case Format.CSV:
            return read_csv(data, charset=charset, limits=limits)
        case Format.HOCR | Format.ALTO | Format.TEXTRACT:
            return read_ocr_result(format_, data, charset=charset, limits=limits)
        case Format.TEXT:
            return read_text(data, charset=charset)
