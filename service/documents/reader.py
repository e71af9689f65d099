"""Reads a file of any supported format into a Document, after checks of size, emptiness, format and content.

A pure function of its arguments that raises nothing but `GleanerError`. Not thread-safe, because of pdfium.
"""

from __future__ import annotations

from service.core.errors import UnreadableDocument
from service.documents.charset import charset_of, read_text
from service.documents.document import Document
from service.documents.docx import read_docx
from service.documents.electronic_invoice import read_electronic_invoice
from service.documents.format_detection import Format, detect_format
from service.documents.html import read_html
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf


def read_document(
    data: bytes, *, media_type: str | None = None, name: str | None = None, limits: DocumentLimits
) -> Document:
    """The text of one file, with pages and boxes where its format has them.

    Args:
        data: the whole file.
        media_type: as in a Content-Type header, parameters included; None if unknown.
        name: the file's name, of which the ending is used.
        limits: of the document.

    Raises:
        DocumentTooLarge: over a limit; names the limit and the excess.
        UnsupportedFormat: another format; lists the supported ones.
        UnreadableDocument: empty, encrypted, damaged, without text, or of another format than declared.
    """
    limits.check_bytes(len(data))
    if not data:
        raise UnreadableDocument("The document is empty: it has no bytes.")
    limits = limits.for_file_of(len(data))
    format_ = detect_format(data, media_type=media_type, name=name)
    document = _read_as(format_, data, charset_of(media_type), limits)
    limits.check_characters(len(document.text))
    if not document.text.strip():
        raise UnreadableDocument("The document has no text.")
    return document


def _read_as(format_: Format, data: bytes, charset: str | None, limits: DocumentLimits) -> Document:
    match format_:
        case Format.PDF:
            return read_pdf(data, limits=limits)
        case Format.DOCX:
            return read_docx(data, limits=limits)
        case Format.HTML:
            return read_html(data, charset=charset, limits=limits)
        case Format.INVOICE:
            return read_electronic_invoice(data, limits=limits)
        case Format.TEXT:
            return read_text(data, charset=charset)
