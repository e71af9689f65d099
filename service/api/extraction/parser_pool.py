"""A pool of parser processes: a hostile file can crash its parser, but neither the worker nor other documents.

Owns the processes: which are free, which must be killed, which are started again. When a parser dies over a file, the
file is tried once more in a fresh process (the first may have been killed from outside); a second death is the file's
fault.
"""

from __future__ import annotations

import asyncio
import logging
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from service.api.extraction.parser_process import FileHeader, decode_header, frame_prefix, from_frames
from service.core.errors import BY_CODE, InternalError, UnreadableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.logs import LogEvent

TRIES = 2
COMMAND = (sys.executable, "-m", "service.api.extraction.parser_process")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ParseLimits:
    """Limits of parsing one file: its content, seconds, and bytes of the parser's memory."""

    document: DocumentLimits
    seconds: float
    memory_bytes: int


class ParserPool:
    """A fixed number of parser processes, each reading one file at a time."""

    def __init__(self, size: int, limits: ParseLimits, on_death: Callable[[], None]) -> None:
        self._size = size
        self._limits = limits
        self._on_death = on_death
        self._free: asyncio.Queue[_Parser] = asyncio.Queue()
        self._parsers: list[_Parser] = []

    async def start(self) -> None:
        """Start all processes, so that the first file does not wait for one."""
        self._parsers = [_Parser(self._limits.memory_bytes) for _ in range(self._size)]
        for parser in self._parsers:
            await parser.start()
            self._free.put_nowait(parser)

    async def stop(self) -> None:
        """Kill all processes."""
        for parser in self._parsers:
            await parser.stop()

    async def parse(self, data: bytes, media_type: str | None, name: str | None) -> Document:
        """Parse one file.

        Raises:
            GleanerError: the error that the reader raised (`service/documents/reader.py`).
            UnreadableDocument: parsing took too long or too much memory, or crashed two parsers.
        """
        parser = await self._free.get()
        try:
            return await self._parse(parser, data, media_type, name)
        except BaseException:
            # The parser may be in the middle of a frame, so what it writes next could not be understood.
            if not parser.idle:
                await parser.stop()
            raise
        finally:
            self._free.put_nowait(parser)

    async def _parse(self, parser: _Parser, data: bytes, media_type: str | None, name: str | None) -> Document:
        head = msgspec.msgpack.encode(FileHeader(media_type, name, self._limits.document))
        for _ in range(TRIES):
            try:
                async with asyncio.timeout(self._limits.seconds):
                    return await parser.parse(head, data)
            except TimeoutError:
                self._on_death()
                raise UnreadableDocument(f"Reading the file took longer than {self._limits.seconds:g} s.") from None
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                reason = type(error).__name__
                fields = {"event": LogEvent.PARSER_DIED, "reason": reason, "bytes": len(data)}
                log.warning("a parser died over a file", extra=fields)
                self._on_death()
                await parser.stop()
        raise UnreadableDocument("The file crashes its parser; it is damaged or hostile.")


class _Parser:
    """One parser process; started again by the next file after it was stopped or died."""

    def __init__(self, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        self._process: asyncio.subprocess.Process | None = None
        self.idle = True

    async def start(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            self._process = await asyncio.create_subprocess_exec(*COMMAND, stdin=pipe, stdout=pipe)
            self._write(self._process, struct.pack("<Q", self._memory_bytes))
        return self._process

    async def stop(self) -> None:
        process, self._process = self._process, None
        self.idle = True
        if process is not None and process.returncode is None:
            process.kill()
            await process.wait()

    async def parse(self, head: bytes, data: bytes) -> Document:
        process = await self.start()
        assert process.stdin is not None
        self.idle = False
        for part in (head, data):
            self._write(process, part)
        await process.stdin.drain()
        parsed = decode_header(await self._read(process))
        boxes = await self._read(process) if parsed.has_layout else b""
        line_starts = await self._read(process) if parsed.has_layout else b""
        self.idle = True
        if parsed.error_code:
            raise BY_CODE.get(parsed.error_code, InternalError)(parsed.detail)
        return from_frames(parsed, boxes, line_starts)

    @staticmethod
    def _write(process: asyncio.subprocess.Process, data: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(frame_prefix(data))
        process.stdin.write(data)

    @staticmethod
    async def _read(process: asyncio.subprocess.Process) -> bytes:
        assert process.stdout is not None
        length = struct.unpack("<I", await process.stdout.readexactly(4))[0]
        return await process.stdout.readexactly(length)
