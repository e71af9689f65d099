"""Raw HTTP connections: a client keeps one open and reads answers as they come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from loadtest.workload.mix import Pairs

CLOSED = "closed without an answer"
MOST_HEAD_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class RawConnection:
    """One connection; its answers come as the service sends them."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        """Send without waiting for the other side to take it."""
        self.writer.write(data)

    async def answer(self) -> str:
        """The next final response in two words, its status and its problem's code; `CLOSED` if none comes any more."""
        try:
            while True:
                head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                status = int(head.split(" ", 2)[1])
                if status >= 200:
                    return f"{status} {await self._code(head)}"
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, IndexError):
            return CLOSED

    async def _code(self, head: str) -> str:
        fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await self.reader.readexactly(int(fields.get("content-length", "0")))
        if not fields.get("content-type", "").startswith("application/problem+json"):
            return "ok" if head.split(" ", 2)[1] == "200" else "untyped"
        return str(json.loads(body)["code"])


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[RawConnection]:
    """A connection to a service.

    Raises:
        OSError: there is none to be had.
    """
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=MOST_HEAD_BYTES)
    try:
        yield RawConnection(reader, writer)
    finally:
        writer.transport.abort()


def head(method: str, target: str, headers: Pairs = (), length: int | None = None) -> bytes:
    """The head of a request; without `length` it has no body."""
    fields = [f"{method} {target} HTTP/1.1", "Host: attacked", *(f"{name}: {value}" for name, value in headers)]
    if length is not None:
        fields.append(f"Content-Length: {length}")
    return "\r\n".join((*fields, "", "")).encode()
