"""The work on a file, as a value: wanted is its document, the file without what is to go, or a picture of a page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from service.api.parsers.connection import Parser
from service.api.parsers.frames import file_header
from service.documents.document import Document
from service.documents.limits import MEBIBYTE, DocumentLimits
from service.documents.page_picture import PagePicture, PictureWanted
from service.documents.redacted import RedactedFile, Redaction

MOST_SMALL_BYTES = 4 * MEBIBYTE

Made = Document | RedactedFile | PagePicture
"""What a parser made of a file."""

T = TypeVar("T")

_MAGIC = ((b"%PDF", "pdf"), (b"PK", "zip"), (b"<", "markup"))


@dataclass(frozen=True, slots=True)
class FileWork(Generic[T]):
    """What a parser is to make of a file.

    Attributes:
        kind: by which its cost is learnt.
        ask: has a parser do it.
    """

    kind: str
    data: bytes
    ask: Callable[[Parser], Awaitable[T]]

    def left_little(self, made: Made) -> bool:
        """Whether the file can have left little behind in its parser's memory."""
        match made:
            case Document():
                size = len(made.text)
            case RedactedFile():
                size = len(made.data)
            case PagePicture():
                size = len(made.png)
        return max(len(self.data), size) <= MOST_SMALL_BYTES


def document(data: bytes, media_type: str | None, name: str | None, limits: DocumentLimits) -> FileWork[Document]:
    """Its document is wanted."""
    header = file_header(media_type, name, limits)
    return FileWork(_format(data), data, lambda parser: parser.ask(header, data, limits))


def redacted(
    data: bytes, media_type: str | None, name: str | None, redaction: Redaction, limits: DocumentLimits
) -> FileWork[RedactedFile]:
    """The file is wanted without what is to go."""
    header = file_header(media_type, name, limits, redaction=redaction)
    return FileWork(f"redact {_format(data)}", data, lambda parser: parser.redact(header, data, redaction, limits))


def picture(data: bytes, page: PictureWanted, limits: DocumentLimits) -> FileWork[PagePicture]:
    """The picture of a page is wanted."""
    header = file_header(None, None, limits, picture=page)
    return FileWork("picture", data, lambda parser: parser.draw(header, data))


def _format(data: bytes) -> str:
    """A guess by its first bytes, good enough for its cost."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "text")
