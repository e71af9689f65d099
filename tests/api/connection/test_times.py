"""Time limits: nobody holds a connection for as long as he likes, and who goes on, however slowly, is served."""

from __future__ import annotations

import asyncio
import time

from tests.support.bounded_server import World, played

POST = b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


@played(head_seconds=0.3, body_seconds=0.3, idle_seconds=0.3)
async def test_silent_slow_and_idle_connections_are_closed(world: World) -> None:
    """A thousand silent and six hundred slow ones stayed open as long as they liked."""

    silent, slow_head, slow_body = [await world.caller() for _ in range(3)]
    slow_head.send(b"GET /livez HTTP/1.1\r\nHost:")
    slow_body.send(POST % 10 + b"abc")
    assert await silent.rest() == b""
    for caller in (slow_head, slow_body):
        reply = await caller.reply()
        assert (reply.status, reply.code) == (408, "too_slow")
        assert await caller.rest() == b""
    await world.until(lambda: world.disconnects == 1)
    idle = await world.caller()
    idle.send(POST % 1 + b"a")
    assert (await idle.reply()).status == 200
    assert await idle.rest() == b""


@played(body_seconds=60.0)
async def test_a_trickle_is_too_slow_whatever_came_before(world: World) -> None:
    """A minute passes by sweeps alone."""
    stalled, steady = await world.caller(), await world.caller()
    stalled.send(POST % 2_000_000)
    steady.send(POST % 120_000)
    await world.until(lambda: len(world.scopes) == 2)
    stalled.send(bytes(1_000_000))
    steady.send(bytes(40_000))
    await world.until(lambda: world.body_bytes == 1_040_000)
    later = time.monotonic() + 60.0
    world.connections.sweep(later)
    stalled.send(b"x")
    steady.send(bytes(40_000))
    await world.until(lambda: world.body_bytes == 1_080_001)
    world.connections.sweep(later + 60.0)
    assert (await stalled.reply()).code == "too_slow"
    await stalled.rest()
    steady.send(bytes(40_000))
    assert (await steady.reply()).body == b"120000"


@played(write_seconds=3.0)
async def test_an_unread_answer_is_dropped_and_a_slowly_read_one_is_not(world: World) -> None:
    """Sixty clients that read nothing of their 4 MB held 300 MB for as long as they liked."""

    greedy, patient = await world.caller(buffer_bytes=1 << 10), await world.caller(buffer_bytes=1 << 10)
    for caller in (greedy, patient):
        caller.send(b"GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
    read = 0
    while read < 8 << 20:
        piece = await patient.reader.read(200_000)
        assert piece
        read += len(piece)
        await asyncio.sleep(0.1)
    await world.until(lambda: len(world.connections.table) <= 1)
    assert len(await greedy.rest()) < 8 << 20


@played(body_seconds=0.2)
async def test_a_client_that_waits_to_be_asked_for_its_body_is_not_too_slow(world: World) -> None:
    caller = await world.caller()
    caller.send(b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    await world.until(lambda: len(world.scopes) == 1)
    await asyncio.sleep(0.6)
    world.held.set()
    assert await caller.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    caller.send(b"abc")
    assert (await caller.reply()).body == b"3"


@played(head_seconds=0.2, body_seconds=0.2, write_seconds=0.2, idle_seconds=5.0)
async def test_a_client_that_waits_for_a_long_answer_is_not_too_slow(world: World) -> None:
    caller = await world.caller()
    caller.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    await world.until(lambda: len(world.scopes) == 1)
    await asyncio.sleep(0.6)
    world.held.set()
    assert (await caller.reply()).status == 200


@played()
async def test_while_the_service_drains_each_answer_ends_its_connection(world: World) -> None:
    """Clients kept theirs to a service that was about to end, and met a reset."""

    before, under_way, refused = [await world.caller() for _ in range(3)]
    before.send(POST % 1 + b"a")
    assert "connection" not in (await before.reply()).headers
    under_way.send(b"GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
    await world.until(lambda: len(world.scopes) == 2)
    world.draining = True
    world.connections.sweep(time.monotonic())
    world.held.set()
    before.send(POST % 1 + b"a")
    refused.send(b"POST /extract?deadline_ms=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\na")
    time.sleep(0.05)
    for caller, status in ((before, 200), (under_way, 200), (refused, 504)):
        reply = await caller.reply()
        assert (reply.status, reply.headers["connection"]) == (status, "close")
        assert await caller.rest() == b""
