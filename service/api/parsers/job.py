"""Parser jobs: what is wanted of a file, and the file on its way through the pool for a caller that waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from service.api.bodies.kinds import JsonKind
from service.api.bodies.received_body import ReceivedBody
from service.api.parsers.connection import Parser
from service.api.parsers.frames import file_header
from service.core.parser_queue import QueuedFile
from service.core.worker_load import JSON
from service.documents.document import Document, PagePicture, PictureRequest
from service.documents.limits import MEBIBYTE, DocumentLimits
from service.documents.redaction.values import RedactedFile, Redaction

MOST_SMALL_BYTES = 4 * MEBIBYTE

T = TypeVar("T")

_MAGIC = ((b"%PDF", "pdf"), (b"PK", "zip"), (b"<", "markup"))


@dataclass(frozen=True, slots=True)
class ParserWork(Generic[T]):
    """What a parser is to make of a file.

    Attributes:
        kind: by which its cost is learnt.
        ask: has a parser do it.
    """

    kind: str
    data: bytes | ReceivedBody
    ask: Callable[[Parser], Awaitable[T]]

    def left_little(self, made: T) -> bool:
        """Whether the file can have left little behind in its parser's memory."""
        match made:
            case Document():
                size = len(made.text)
            case RedactedFile():
                size = len(made.data)
            case PagePicture():
                size = len(made.png)
            case _:  # The value of JSON, which is longer than what it holds.
                size = 0
        return max(len(self.data), size) <= MOST_SMALL_BYTES


def document(data: bytes, media_type: str | None, name: str | None, limits: DocumentLimits) -> ParserWork[Document]:
    """Its document is wanted."""
    header = file_header(media_type, name, limits)
    return ParserWork(_format(data), data, lambda parser: parser.ask(header, data, limits))


def redacted(
    data: bytes, media_type: str | None, name: str | None, redaction: Redaction, limits: DocumentLimits
) -> ParserWork[RedactedFile]:
    """The file is wanted without what is to go."""
    header = file_header(media_type, name, limits, redaction=redaction)
    return ParserWork(f"redact {_format(data)}", data, lambda parser: parser.redact(header, data, redaction, limits))


def picture(data: bytes, page: PictureRequest, limits: DocumentLimits) -> ParserWork[PagePicture]:
    """The picture of a page is wanted."""
    header = file_header(None, None, limits, picture=page)
    return ParserWork("picture", data, lambda parser: parser.draw(header, data))


def json_value(body: ReceivedBody, kind: JsonKind[T], most_documents: int, limits: DocumentLimits) -> ParserWork[T]:
    """The value of a JSON body of this kind is wanted."""
    header = file_header(None, None, limits, json=kind.reference(most_documents))
    return ParserWork(JSON, body, lambda parser: parser.read_json(header, body, kind, limits))


def _format(data: bytes) -> str:
    """A guess by its first bytes, good enough for its cost."""
    return next((name for magic, name in _MAGIC if data.startswith(magic)), "text")


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """A file, the work on it, and how far that is.

    Attributes:
        expected_seconds: of parsing, when it came.
        result: what its caller waits for.
        reading: the task that has a parser read it; `parser` is known once there is one.
        interrupted: True while its parser is to stand still.
    """

    file: QueuedFile
    work: ParserWork[T]
    expected_seconds: float
    result: asyncio.Future[T] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    reading: asyncio.Task[None] | None = None
    parser: Parser | None = None
    interrupted: bool = False

    def finish(self, made: T) -> None:
        """Answer its caller, unless he has an answer or has left."""
        if not self.result.done():
            self.result.set_result(made)

    def fail(self, error: Exception) -> None:
        """Answer its caller with an error, unless he has an answer or has left.

        The error comes without its traceback, which holds this job, and so the file, in a circle.
        """
        if not self.result.done():
            self.result.set_exception(error.with_traceback(None))

    def abandon(self) -> None:
        """End the reading, if there is one; its parser is not used again."""
        if self.reading is not None and self.reading is not asyncio.current_task():
            self.reading.cancel()
        self.reading = None
