"""Plain text and Markdown: the characters as they are, Markdown's signs included.

Owns the normalising of line ends: "\\r\\n" and "\\r" become "\\n", and offsets count in that text, which is what
`include_text` returns. (A text sent in JSON does not come here: its offsets count in what was sent.)
"""

from __future__ import annotations

from service.documents.charset import decode_text
from service.documents.document import Document


def read_text(data: bytes, *, charset: str | None = None) -> Document:
    """Raises `UnsupportedFormat` where the content is binary."""
    return Document(decode_text(data, charset).replace("\r\n", "\n").replace("\r", "\n"))
