"""The one door: bytes of a file → Document.

Owns the order of the checks: size, emptiness, format, content. Does not know where bytes come from. A pure function of
its arguments that raises nothing but `GleanerError`; it is not safe to call from several threads (see `pdf`).
"""

from __future__ import annotations

from service.core.errors import UnreadableDocument
from service.documents.charset import charset_of
from service.documents.document import Document
from service.documents.docx import read_docx
from service.documents.format_detection import Format, detect
from service.documents.html import read_html
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.text import read_text


def read_document(
    data: bytes, *, media_type: str | None = None, name: str | None = None, limits: DocumentLimits
) -> Document:
    """The text of one file, with pages and boxes where its format has them.

    Args:
        data: the whole file.
        media_type: as in a Content-Type header, parameters included; None where nobody said.
        name: the file's name; only its ending is looked at.
        limits: the most that the document may hold.

    Raises:
        DocumentTooLarge: over a limit; says which and by how much.
        UnsupportedFormat: a format that is not read here; lists those that are.
        UnreadableDocument: empty, encrypted, damaged, without text, or not what it was declared as.
    """
    limits.check_bytes(len(data))
    if not data:
        raise UnreadableDocument("The document is empty: it has no bytes.")
    document = _read(data, detect(data, media_type=media_type, name=name), charset_of(media_type), limits)
    limits.check_characters(len(document.text))
    if not document.text.strip():
        raise UnreadableDocument("The document has no text.")
    return document


def _read(data: bytes, format_: Format, charset: str | None, limits: DocumentLimits) -> Document:
    match format_:
        case Format.PDF:
            return read_pdf(data, limits=limits)
        case Format.DOCX:
            return read_docx(data, limits=limits)
        case Format.HTML:
            return read_html(data, charset=charset, limits=limits)
        case Format.TEXT:
            return read_text(data, charset=charset)
