"""Parser: the socket of one parser process, over which files go and documents come back, and the work on one file."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from service.api.parsers.frames import (
    LENGTH,
    BadAnswer,
    FileHeader,
    ParsedHeader,
    RedactedHeader,
    decode_header,
    decode_redacted,
    encode_file,
    frame_prefix,
    from_frames,
    longest_frame,
    longest_redacted,
    longest_redacted_header,
    picture_from_frames,
)
from service.api.parsers.patterns import MOST_MATCHES, PARSER_SECONDS, Match, matches_from_frame
from service.core.errors import BY_CODE, InternalError
from service.core.worker_load import OCR, OCR_PAGE_BYTES
from service.documents.document import Document, PagePicture
from service.documents.limits import MEBIBYTE
from service.documents.redaction.values import RedactedFile

DEAD = (asyncio.IncompleteReadError, ConnectionError, BadAnswer)
"""Errors that a crashed, killed or taken over parser shows its worker."""
_END_SECONDS = 1.0

T = TypeVar("T")


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

    async def read_document(self, work: ParserWork[Document]) -> Document:
        """Have a file read; of one that it holds, no bytes are sent.

        Raises:
            GleanerError: the error that the reader raised.
            DEAD: the parser ended, or answered what no reader would.
        """
        limits = work.header.limits
        longest = longest_frame(limits)
        await self._send_or_hold(work)
        parsed = decode_header(await self._read(longest), limits)
        _check(parsed)
        boxes = await self._read(longest) if parsed.has_layout else b""
        line_starts = await self._read(longest) if parsed.has_layout else b""
        confidence = await self._read(longest) if parsed.has_layout and parsed.has_confidence else b""
        has_words = parsed.has_layout and parsed.has_words
        words = (await self._read(longest), await self._read(longest)) if has_words else (b"", b"")
        return from_frames(parsed, boxes, line_starts, limits, confidence, words)

    async def draw_page(self, work: ParserWork[PagePicture]) -> PagePicture:
        """Have a page of a file drawn, whose header says which; holds and raises as `read_document`."""
        wanted = work.header.picture
        assert wanted is not None, "asked by the pool"
        await self._send_or_hold(work)
        parsed = decode_header(await self._read(MEBIBYTE), work.header.limits)
        _check(parsed)
        return picture_from_frames(parsed, await self._read(wanted.most_bytes), wanted)

    async def redact_file(self, work: ParserWork[RedactedFile]) -> RedactedFile:
        """Have a file redacted; raises as `read_document`."""
        limits = work.header.limits
        await self._send(work.header, work.data)
        head = decode_redacted(await self._read(longest_redacted_header(limits)), limits)
        _check(head)
        return RedactedFile(await self._read(longest_redacted(len(work.data))), head.pages, head.removed)

    async def find_patterns(self, work: ParserWork[list[Match]]) -> list[Match]:
        """Have patterns searched for, which the header has; raises as `read_document`."""
        patterns = work.header.patterns
        assert patterns is not None, "asked by the pool"
        await self._send(work.header, work.data)
        _check(decode_header(await self._read(MEBIBYTE), work.header.limits))
        found = matches_from_frame(patterns, await self._read(16 * MOST_MATCHES))
        if found is None:
            raise BadAnswer("matches of other patterns")
        return found

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
        self._writer.close()

    async def _send_or_hold(self, work: ParserWork[T]) -> None:
        """Send a file, or nothing but its header if the process has it from before."""
        is_held = work.held is not None and work.held is self.held
        self.held = work.held
        await self._send(work.header, b"" if is_held else work.data)

    async def _send(self, header: FileHeader, data: bytes) -> None:
        for part in (encode_file(header), data):
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


MOST_SMALL_BYTES = 4 * MEBIBYTE
"""Most bytes or characters of a file and of its result after which its parser may read another file."""
_MAGIC = ((b"%PDF", "pdf"), (b"PK", "zip"), (b"<", "markup"))


@dataclass(frozen=True, slots=True)
class ParserWork(Generic[T]):
    """Work of a parser on a file.

    Attributes:
        ask: the method of `Parser` that has it done.
        held: name of the file if pages of it are recognized, in parsers that keep its bytes until it is released.
        on_ran: is told at the end, however it ends, the seconds that a parser worked on it.
    """

    header: FileHeader
    data: bytes
    ask: Callable[[Parser, ParserWork[T]], Awaitable[T]]
    held: object | None = None
    on_ran: Callable[[float], None] = lambda _: None

    @property
    def kind(self) -> str:
        """The kind of work, by which its cost is learnt: a guess by the file's first bytes."""
        if self.header.ocr_pages:
            return OCR
        if self.header.picture is not None:
            return "picture"
        if self.header.patterns is not None:
            return "patterns"
        format_ = next((name for magic, name in _MAGIC if self.data.startswith(magic)), "text")
        return format_ if self.header.redaction is None else f"redact {format_}"

    @property
    def cost_bytes(self) -> int:
        """Bytes by which its cost is learnt."""
        return len(self.header.ocr_pages) * OCR_PAGE_BYTES if self.header.ocr_pages else len(self.data)

    @property
    def limit_seconds(self) -> float:
        """Processor seconds for it, where they are fewer than a file's."""
        return math.inf if self.header.patterns is None else PARSER_SECONDS

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
                size = len(made.content)
            case list():
                size = 16 * len(made)
            case _:
                raise AssertionError("a parser makes nothing else")
        return max(len(self.data), size) <= MOST_SMALL_BYTES


def cause_of_death(error: Exception, exit_code: int | None) -> str:
    """Cause of a parser's end: a signal, an answer that no reader would give, or its worker's observation."""
    if exit_code is not None and exit_code < 0:
        number = -exit_code
        return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return str(error) if isinstance(error, BadAnswer) else type(error).__name__


async def connect(number: int, ours: socket.socket) -> Parser:
    """The parser at the other end of a connected socket."""
    return Parser(number, *await asyncio.open_unix_connection(sock=ours, limit=MEBIBYTE))
