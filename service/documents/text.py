"""Reads plain text and Markdown, whose markup is kept, with line ends normalized.

"\\r\\n" and "\\r" become "\\n"; offsets count in that text, which `include_text` returns. (A text sent in JSON is not
read here: its offsets count in the text as sent.)
"""

from __future__ import annotations

from service.documents.charset import decode_text
from service.documents.document import Document


def read_text(data: bytes, *, charset: str | None = None) -> Document:
    """The document in a text file.

    Raises:
        UnsupportedFormat: the content is binary.
    """
    return Document(decode_text(data, charset).replace("\r\n", "\n").replace("\r", "\n"))
