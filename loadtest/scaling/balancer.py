"""A small load balancer: HTTP/1.1, least outstanding requests, targets that come and go while requests are under way.

What it imitates of AWS's: a target that was deregistered gets no new requests and keeps its open ones; a request that
could not be delivered is answered with 502 and not tried elsewhere, since it may have been worked on.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
NO_TARGET = b"HTTP/1.1 502 No Target\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HEAD_LIMIT_BYTES = 65_536


class Backend:
    """One service process, and how many requests it has."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.outstanding = 0
        self.sent = 0


def choose(targets: Iterable[Backend]) -> Backend | None:
    """The target with the fewest outstanding requests; among equals, the one that had the fewest ever."""
    return min(targets, key=lambda target: (target.outstanding, target.sent), default=None)


class Balancer:
    """Listens on a free port of the loopback."""

    def __init__(self) -> None:
        self._targets: list[Backend] = []
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_LIMIT_BYTES)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def register(self, target: Backend) -> None:
        self._targets.append(target)

    async def deregister(self, target: Backend, delay_seconds: float) -> None:
        """No new requests from now on; returns when the open ones have ended, or after the delay."""
        self._targets.remove(target)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_seconds):
                while target.outstanding:
                    await asyncio.sleep(0.05)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request of one connection; the answer closes it."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await _read_request(reader)
            await self._forward(request, writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _forward(self, request: bytes, client: asyncio.StreamWriter) -> None:
        target = choose(self._targets)
        if target is None:
            client.write(NO_TARGET)
            return
        target.outstanding += 1
        target.sent += 1
        try:
            client.write(await exchange(target.port, request) or BAD_GATEWAY)
            await client.drain()
        finally:
            target.outstanding -= 1


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body, with the head's `Connection` replaced: one request for each connection."""
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    fields = [line for line in lines[1:] if line and not line.lower().startswith(b"connection:")]
    lengths = [int(line.split(b":")[1]) for line in fields if line.lower().startswith(b"content-length:")]
    body = await reader.readexactly(lengths[0]) if lengths else b""
    return b"\r\n".join([lines[0], *fields, b"Connection: close", b"", b""]) + body


async def exchange(port: int, request: bytes) -> bytes:
    """The whole answer to a request that asks for the connection to be closed; empty when there is none."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    try:
        writer.write(request)
        return await reader.read(-1)
    except OSError:
        return b""
    finally:
        writer.close()
