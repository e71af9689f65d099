"""Redacts a file of a format that keeps what it is: only PDFs, whose redaction is in `pdf/redaction`.

A pure function of its arguments that raises nothing but `GleanerError`. Not thread-safe, because of pdfium.
"""

from __future__ import annotations

import pikepdf

from service.core.errors import UnreadableDocument, UnsupportedFormat
from service.documents.format_detection import Format, detect_format
from service.documents.limits import DocumentLimits
from service.documents.pdf.redaction.redactor import redact_pdf
from service.documents.redacted import RedactedFile, Redaction


def redact_document(
    data: bytes, redaction: Redaction, *, media_type: str | None = None, name: str | None = None, limits: DocumentLimits
) -> RedactedFile:
    """The file without what is to go.

    Raises:
        DocumentTooLarge, UnreadableDocument: as `read_document`.
        UnsupportedFormat: it is no PDF.
        UnredactableDocument: it cannot be made sure that nothing is left.
    """
    limits.check_bytes(len(data))
    if detect_format(data, media_type=media_type, name=name) is not Format.PDF:
        raise UnsupportedFormat("Only PDFs can be redacted as files; of others, the redacted text can be had.")
    try:
        return redact_pdf(data, redaction, limits=limits.for_file_of(len(data)))
    except pikepdf.PdfError as error:
        raise UnreadableDocument("The PDF is damaged: it cannot be rewritten.") from error
