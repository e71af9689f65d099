"""Parser connection: the socket of one parser, over which files go and documents come back, one by one.

A job is one file on its way through the pool, with the work that is wanted of it, for a caller that waits.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from service.api.parsers.frames import (
    LENGTH,
    BadAnswer,
    ParsedHeader,
    RedactedHeader,
    decode_header,
    decode_redacted,
    file_header,
    frame_prefix,
    from_frames,
    longest_frame,
    longest_redacted,
    longest_redacted_header,
    picture_from_frames,
)
from service.core.errors import BY_CODE, InternalError
from service.core.parser_queue import QueuedFile
from service.core.worker_load import OCR, OCR_PAGE_BYTES
from service.documents.document import MOST_PNG_BYTES, Document, PagePicture, PictureRequest, RedactedPicture
from service.documents.limits import MEBIBYTE, DocumentLimits
from service.documents.redaction.values import RedactedFile, Redaction

DEAD = (asyncio.IncompleteReadError, ConnectionError, BadAnswer)
"""Errors that a crashed, killed or taken over parser shows its worker."""
_END_SECONDS = 1.0


class Parser:
    """A parser process. `number` is its name for the zygote, `client` whose files it reads, `files` how many so far.

    `halted` is True while it has no file and is stopped. It was busy with its files for `busy_seconds`. `held`
    names the file whose bytes it keeps, as more of that file's pages are to be recognized in it. `on_measured` gets the
    processor time of its present file.
    """

    def __init__(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.number = number
        self.client = ""
        self.files = 0
        self.halted = False
        self.busy_seconds = 0.0
        self.held: object | None = None
        self.on_measured: Callable[[float], None] | None = None
        self._reader = reader
        self._writer = writer
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    @property
    def usable(self) -> bool:
        """True until it is known to have ended."""
        return not self._ended.done() and not self._reader.at_eof()

    async def ask(self, header: bytes, data: bytes, limits: DocumentLimits, held: object | None = None) -> Document:
        """The document of a file; of one that it holds, no bytes are sent.

        Raises:
            GleanerError: the error that the reader raised.
            DEAD: the parser ended, or answered what no reader would.
        """
        longest = longest_frame(limits)
        if held is not None and held is self.held:
            data = b""
        self.held = held
        parsed = await self._answer(header, data, longest, limits)
        boxes = await self._read(longest) if parsed.has_layout else b""
        line_starts = await self._read(longest) if parsed.has_layout else b""
        confidence = await self._read(longest) if parsed.has_layout and parsed.has_confidence else b""
        return from_frames(parsed, boxes, line_starts, limits, confidence)

    async def draw(self, header: bytes, data: bytes, limits: DocumentLimits) -> PagePicture:
        """The picture of a page of a file, whose header says which; raises as `ask` does."""
        parsed = await self._answer(header, data, MEBIBYTE, limits)
        return picture_from_frames(parsed, await self._read(MOST_PNG_BYTES))

    async def _answer(self, header: bytes, data: bytes, longest: int, limits: DocumentLimits) -> ParsedHeader:
        """Send a file; the header of what it is answered with."""
        await self._send(header, data)
        parsed = decode_header(await self._read(longest), limits)
        _check(parsed)
        return parsed

    async def redact(self, header: bytes, data: bytes, limits: DocumentLimits) -> RedactedFile:
        """A file without what is to go; raises as `ask`."""
        await self._send(header, data)
        head = decode_redacted(await self._read(longest_redacted_header(limits)), limits)
        _check(head)
        return RedactedFile(await self._read(longest_redacted(len(data))), head.pages, head.removed)

    def note_processor_seconds(self, seconds: float) -> None:
        """Note what it has had of the processor since its fork: of that at least what is beyond its earlier files'
        time was for the present one."""
        if self.on_measured is not None:
            self.on_measured(seconds - self.busy_seconds)

    def note_end(self, exit_code: int) -> None:
        """Note that the process has ended: its exit code, or the negative number of the signal that ended it."""
        if not self._ended.done():
            self._ended.set_result(exit_code)

    async def exit_code(self) -> int | None:
        """Wait for the process's exit code; None if that is not known soon."""
        done, _ = await asyncio.wait((self._ended,), timeout=_END_SECONDS)
        return self._ended.result() if done else None

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()

    async def _send(self, *parts: bytes) -> None:
        for part in parts:
            self._writer.write(frame_prefix(part))
            self._writer.write(part)
        await self._writer.drain()

    async def _read(self, longest: int) -> bytes:
        length = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))[0]
        if length > longest:
            raise BadAnswer(f"a frame of {length:,} bytes")
        return await self._reader.readexactly(length)


def _check(head: ParsedHeader | RedactedHeader) -> None:
    if head.crash:
        raise BadAnswer(head.crash[:100])
    if head.error_code:
        raise BY_CODE.get(head.error_code, InternalError)(head.detail[:1000])


def cause_of_death(error: Exception, exit_code: int | None) -> str:
    """Cause of a parser's end: a signal, an answer that no reader would give, or its worker's observation."""
    if exit_code is not None and exit_code < 0:
        number = -exit_code
        return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return str(error) if isinstance(error, BadAnswer) else type(error).__name__


async def connect(number: int, ours: socket.socket) -> Parser:
    """The parser at the other end of a connected socket."""
    return Parser(number, *await asyncio.open_unix_connection(sock=ours, limit=MEBIBYTE))


MOST_SMALL_BYTES = 4 * MEBIBYTE

T = TypeVar("T")

_MAGIC = ((b"%PDF", "pdf"), (b"PK", "zip"), (b"<", "markup"))


@dataclass(frozen=True, slots=True)
class ParserWork(Generic[T]):
    """A parser's task on a file.

    Attributes:
        kind: by which its cost is learnt.
        cost_bytes: bytes of the file that its cost is learnt by; None: all of them.
        ask: has a parser do it.
        held: names the file if pages of it are recognized, in parsers that keep its bytes until it is released.
    """

    kind: str
    data: bytes
    ask: Callable[[Parser], Awaitable[T]]
    cost_bytes: int | None = None
    held: object | None = None

    def left_little(self, made: T) -> bool:
        """True if the file can have left little behind in its parser's memory, or is to stay there."""
        if self.held is not None:
            return True
        match made:
            case Document():
                size = len(made.text)
            case RedactedFile():
                size = len(made.data)
            case PagePicture():
                size = len(made.png)
            case _:
                size = 0
        return max(len(self.data), size) <= MOST_SMALL_BYTES


def document(
    data: bytes,
    media_type: str | None,
    name: str | None,
    limits: DocumentLimits,
    ocr_pages: tuple[int, ...] | None = None,
    ocr_forced: bool = False,
    ocr_again: RedactedPicture | None = None,
    held: object | None = None,
) -> ParserWork[Document]:
    """Its document is wanted; `ocr_pages`, `ocr_forced`, `ocr_again`: as `read_document` takes them."""
    header = file_header(media_type, name, limits, ocr_pages=ocr_pages, ocr_forced=ocr_forced, ocr_again=ocr_again)
    if ocr_pages:
        cost = len(ocr_pages) * OCR_PAGE_BYTES
        return ParserWork(OCR, data, lambda parser: parser.ask(header, data, limits, held), cost, held)
    return ParserWork(_format(data), data, lambda parser: parser.ask(header, data, limits))


def redacted(
    data: bytes, media_type: str | None, name: str | None, redaction: Redaction, limits: DocumentLimits
) -> ParserWork[RedactedFile]:
    """The file is wanted without what is to go."""
    header = file_header(media_type, name, limits, redaction=redaction)
    return ParserWork(f"redact {_format(data)}", data, lambda parser: parser.redact(header, data, limits))


def picture(data: bytes, page: PictureRequest, limits: DocumentLimits) -> ParserWork[PagePicture]:
    """The picture of a page is wanted."""
    header = file_header(None, None, limits, picture=page)
    return ParserWork("picture", data, lambda parser: parser.draw(header, data, limits))


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
