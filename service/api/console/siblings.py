"""The other workers of this service: each listens on a socket in the runtime folder, and asks the others when asked.

A request's trace is in the memory of the worker that answered it, and the console's question reaches any of them.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

PREFIX = "console-"
ASK_SECONDS = 5.0
MOST_BYTES = 4 << 20
"""Of an answer."""

log = logging.getLogger(__name__)
Answer = Callable[[bytes], Awaitable[bytes]]


class Siblings:
    """This worker's socket, and the way to those of the others."""

    def __init__(self, folder: Path, answer: Answer) -> None:
        self._path = folder / f"{PREFIX}{os.getpid()}"
        self._answer = answer
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen; a service whose folder takes no socket goes on, and each worker knows its own requests only."""
        try:
            self._path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._reply, self._path, limit=MOST_BYTES)
        except OSError as error:
            log.warning("the console cannot be asked by other workers", extra={"error": str(error)})

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def ask(self, question: bytes) -> list[bytes]:
        """The answers of all other workers that answer soon; the question is one line."""
        others = [path for path in self._path.parent.glob(f"{PREFIX}*") if path != self._path]
        answers = await asyncio.gather(*(_ask(path, question) for path in others))
        return [answer for answer in answers if answer]

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.LimitOverrunError, ValueError):
            writer.write(await self._answer((await reader.readline()).strip()))
            await writer.drain()
        writer.close()


async def _ask(path: Path, question: bytes) -> bytes:
    """One worker's answer; nothing of one that has ended, or is too busy."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
            try:
                writer.write(question + b"\n")
                return await reader.read(-1)
            finally:
                writer.close()
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
        return b""
    except (TimeoutError, OSError):
        return b""
