"""TLS: connections are counted from their accept on, and a handshake has a time."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from tests.support.bounded_server import Caller, World, played

POST = b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
GET = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"


@pytest.mark.parametrize("begin", [b"", HELLO[:1], HELLO, b"GET /livez HTTP/1.1\r\n\r\n", b"\0" * 300])
@played(tls=True, handshake_seconds=0.5)
async def test_a_connection_without_a_handshake_is_counted_and_closed(world: World, begin: bytes) -> None:
    """Three thousand stayed for a minute each, beside the limit of connections."""

    silent = [await world.caller(encrypts=False) for _ in range(20)]
    await world.until(lambda: len(world.connections.table) == 20)
    for caller in silent:
        caller.send(begin)
    for caller in silent:
        assert await caller.is_closed()
    await world.until(lambda: len(world.connections.table) == 0)


@played(tls=True, handshake_seconds=0.5)
async def test_a_handshake_that_trickles_is_closed(world: World) -> None:
    caller = await world.caller(encrypts=False)
    for byte in HELLO * 5:
        if caller.has_ended:
            break
        caller.send(bytes([byte]))
        await asyncio.sleep(0.03)
    assert caller.has_ended


@played(tls=True, connections=20, handshake_seconds=20.0)
async def test_silent_handshakes_do_not_keep_an_honest_client_out(world: World) -> None:
    for _ in range(200):
        await world.caller(encrypts=False)
    await asyncio.sleep(0.1)
    assert len(world.connections.table) <= 20 + world.connections.limits.health_only_connections

    async def admitted() -> Caller:
        while True:
            with contextlib.suppress(OSError):
                return await world.caller()
            await asyncio.sleep(0.05)

    caller = await asyncio.wait_for(admitted(), 18.0)  # Before the silent ones are closed.
    caller.send(POST % 2 + b"ab")
    assert (await caller.reply()).body == b"2"


@played(tls=True)
async def test_requests_over_tls_are_answered_on_one_connection(world: World) -> None:
    caller = await world.caller()
    for body in (b"ab", bytes(300_000), b""):
        caller.send(POST % len(body) + body)
        assert (await caller.reply()).body == b"%d" % len(body)
    caller.send(GET)
    assert (await caller.reply()).status == 200
    assert {scope["scheme"] for scope in world.scopes} == {"https"}
    assert len(world.connections.table) == 1
    caller.close()
    await world.until(lambda: len(world.connections.table) == 0)
