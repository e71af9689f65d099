"""A server of the bounded protocol in the test's own event loop, a small application behind it, and raw clients."""

from __future__ import annotations

import asyncio
import json
import ssl
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import uvloop
from uvicorn.config import Config
from uvicorn.server import ServerState

from service.api.connection.connections import Connections
from service.api.connection.protocol import BoundedHttpProtocol
from service.api.connection.tls import TlsHandshake
from service.core.admission.head import OK
from service.core.connections.connection_table import ConnectionLimits
from service.metrics.worker import WorkerMetrics
from tests.support.async_tests import Scene, as_test
from tests.support.certificates import make_certificate

LIMIT_SECONDS = 120.0
PROTOCOL: type[Any] = BoundedHttpProtocol
BIG_ANSWER_BYTES = 8 << 20


@dataclass
class Reply:
    """One response as it came: `body` is what its Content-Length said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        assert self.headers["content-type"] == "application/problem+json", self
        return str(json.loads(self.body)["code"])


class Caller:
    """One connection, as a client that need not be honest."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    @property
    def has_ended(self) -> bool:
        """True once the server's end of data has come, or a reset."""
        return self.reader.at_eof() or self.writer.is_closing()

    async def pour(self, piece: bytes, most_bytes: int) -> int:
        """Send a piece again and again until the server closes or stops reading; the bytes that it took."""
        sent = 0
        try:
            while sent < most_bytes and not self.has_ended:
                self.writer.write(piece)
                async with asyncio.timeout(2.0):
                    await self.writer.drain()
                sent += len(piece)
        except (OSError, TimeoutError):
            pass
        return sent

    async def reply(self) -> Reply:
        """The next response that is not `100 Continue`."""
        while True:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            status = int(head[0].split(" ")[1])
            if status != 100:
                break
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
        return Reply(status, headers, await self.reader.readexactly(int(headers["content-length"])))

    async def rest(self) -> bytes:
        """All that comes until the server closes."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""

    async def is_closed(self) -> bool:
        """True once the server has closed; its last bytes are dropped."""
        return await self.rest() is not None

    def close(self) -> None:
        self.writer.close()


@dataclass
class World:
    """One server, its connections, and what its application saw."""

    connections: Connections
    port: int = 0
    trust: ssl.SSLContext | None = None
    scopes: list[dict[str, Any]] = field(default_factory=list)
    held: asyncio.Event = field(default_factory=asyncio.Event)
    disconnects: int = 0
    callers: list[Caller] = field(default_factory=list)
    backlog_seconds: float = 0.0
    draining: bool = False
    overloads: list[tuple[str, int]] = field(default_factory=list)
    slow_seconds: float = 0.1
    body_bytes: int = 0

    async def caller(self, buffer_bytes: int = 1 << 20, *, encrypts: bool = True) -> Caller:
        trust = self.trust if encrypts else None
        opened = await asyncio.open_connection("127.0.0.1", self.port, limit=buffer_bytes, ssl=trust)
        self.callers.append(Caller(*opened))
        return self.callers[-1]

    async def ask(self, head: str, body: bytes = b"") -> Reply:
        """One request over a connection of its own."""
        caller = await self.caller()
        caller.send(head.encode() + body)
        try:
            return await caller.reply()
        finally:
            caller.close()

    async def until(self, holds: Callable[[], bool], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "the condition did not come true"
            await asyncio.sleep(0.01)

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        """Reads the body and answers its length; /big answers much, /slow blocks the loop; /unread and /hold wait.

        /early answers before it reads.
        """
        self.scopes.append(scope)
        if scope["path"] == "/unread":
            await self.held.wait()
        length = 0
        while scope["path"] != "/early":
            message = await receive()
            if message["type"] == "http.disconnect":
                self.disconnects += 1
                return
            length += len(message["body"])
            self.body_bytes += len(message["body"])
            if not message["more_body"]:
                break
        if scope["path"] == "/slow":
            time.sleep(self.slow_seconds)
        if scope["path"] == "/hold":
            await self.held.wait()
        body = bytes(BIG_ANSWER_BYTES) if scope["path"] == "/big" else str(length).encode()
        scope["state"]["code"] = OK
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@cache
def _contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server's context with a certificate of its own, and a client's that trusts it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_certificate(Path(folder))
        server.load_cert_chain(certificate, key)
        return server, ssl.create_default_context(cafile=certificate)


@asynccontextmanager
async def _world(limits: ConnectionLimits, *, tls: bool) -> AsyncIterator[World]:
    connections = Connections(
        limits,
        WorkerMetrics(),
        backlog_seconds=lambda: world.backlog_seconds,
        draining=lambda: world.draining,
        on_overload=lambda code, count: world.overloads.append((code, count)),
    )
    world = World(connections)
    config = Config(
        world.application, interface="asgi3", lifespan="off", ws="none", log_config=None, server_header=False
    )
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    protocol: Any = PROTOCOL
    if tls:
        context, world.trust = _contexts()
        protocol = partial(TlsHandshake, context)
    server = await loop.create_server(
        lambda: protocol(config, state, {"connections": world.connections}), "127.0.0.1", 0, backlog=4_096
    )
    world.port = server.sockets[0].getsockname()[1]
    async with world.connections.watched():
        try:
            yield world
        finally:
            for caller in world.callers:
                caller.writer.transport.abort()
            server.close()
        world.held.set()
        for connection in list(state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.gather(*state.tasks, return_exceptions=True)
        await asyncio.sleep(0.01)


def played(*, tls: bool = False, **limits: Any) -> Callable[[Scene], Callable[..., None]]:
    """Make a test of a scene with a server of these limits, which speaks TLS or not."""

    def decorate(scene: Scene) -> Callable[..., None]:
        async def whole(**arguments: Any) -> None:
            async with asyncio.timeout(LIMIT_SECONDS), _world(ConnectionLimits(**limits), tls=tls) as world:
                await scene(world, **arguments)

        return as_test(scene, lambda **arguments: uvloop.run(whole(**arguments)))

    return decorate
