"""A small HTTP/1.1 load balancer: least outstanding requests, with backends that come and go under load.

As with AWS's, a deregistered backend gets no new requests and keeps its open ones, and a request that could not be
delivered is answered with 502 and not sent to another backend, since it may have been processed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable

BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
NO_BACKEND = b"HTTP/1.1 502 No Backend\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HEAD_LIMIT_BYTES = 65_536


class Backend:
    """One service process, with its outstanding requests and all that were ever sent to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.outstanding = 0
        self.sent = 0


def choose(backends: Iterable[Backend]) -> Backend | None:
    """The backend with the fewest outstanding requests; among equals, the one with the fewest ever."""
    return min(backends, key=lambda backend: (backend.outstanding, backend.sent), default=None)


class Balancer:
    """Listens on a free port of the loopback interface."""

    def __init__(self) -> None:
        self._backends: list[Backend] = []
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

    def register(self, backend: Backend) -> None:
        self._backends.append(backend)

    async def deregister(self, backend: Backend, delay_seconds: float) -> None:
        """Send it no new requests; returns when its open ones have ended, or after the delay."""
        self._backends.remove(backend)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_seconds):
                while backend.outstanding:
                    await asyncio.sleep(0.05)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one request of a connection, then close it."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await _read_request(reader)
            await self._forward(request, writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _forward(self, request: bytes, client: asyncio.StreamWriter) -> None:
        backend = choose(self._backends)
        if backend is None:
            client.write(NO_BACKEND)
            return
        backend.outstanding += 1
        backend.sent += 1
        try:
            client.write(await exchange(backend.port, request) or BAD_GATEWAY)
            await client.drain()
        finally:
            backend.outstanding -= 1


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of a request, with `Connection: close` in the head."""
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    fields = [line for line in lines[1:] if line and not line.lower().startswith(b"connection:")]
    lengths = [int(line.split(b":")[1]) for line in fields if line.lower().startswith(b"content-length:")]
    body = await reader.readexactly(lengths[0]) if lengths else b""
    return b"\r\n".join([lines[0], *fields, b"Connection: close", b"", b""]) + body


async def exchange(port: int, request: bytes) -> bytes:
    """The whole response to a request with `Connection: close`; empty without one."""
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
