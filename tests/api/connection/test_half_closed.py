"""Clients that shut down their write side: they have left, whatever they still read, and hold nothing for long."""

from __future__ import annotations

import asyncio
import socket

import pytest

from service.api.http.request_scope import DISCONNECT
from tests.support.bounded_server import World, played

POST = b"POST /%s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


@played()
async def test_an_answer_sent_before_a_half_close_is_read_by_the_client(world: World) -> None:
    caller = await world.caller()
    caller.send(POST % (b"extract", 2) + b"ab")
    assert (await caller.reply()).body == b"2"
    caller.writer.write_eof()
    assert await caller.rest() == b""


@played()
async def test_a_half_closed_client_counts_as_disconnected(world: World) -> None:
    """Most who give up close both sides, which looks no different from here; their work must not go on."""

    caller = await world.caller()
    caller.send(POST % (b"hold", 100_000) + bytes(100_000))
    await world.until(lambda: world.connections.budget.held_bytes > 0)
    await world.until(lambda: len(world.scopes) == 1)
    caller.writer.write_eof()
    assert await caller.rest() == b"", "an end without an answer, not a reset"
    world.held.set()
    await world.until(lambda: world.connections.budget.held_bytes == 0 and len(world.connections.table) == 0)
    await world.until(lambda: world.connections.overload.in_flight == 0)
    assert (await world.ask("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")).status == 200


@played()
async def test_nothing_begins_for_a_client_gone_before_its_request_is_read(world: World) -> None:
    with socket.create_connection(("127.0.0.1", world.port)) as client:
        client.sendall(POST % (b"extract", 2) + b"ab")
        client.shutdown(socket.SHUT_WR)  # And only now does the event loop go on.
        assert await asyncio.to_thread(client.recv, 100) == b""
    await world.until(lambda: len(world.connections.table) == 0)
    assert not world.scopes
    assert world.connections.overload.in_flight == 0


@played()
async def test_a_body_that_ends_in_the_middle_frees_what_it_held(world: World) -> None:
    caller = await world.caller()
    caller.send(POST % (b"extract", 1_000_000) + bytes(200_000))
    await world.until(lambda: world.connections.budget.held_bytes > 0)
    caller.writer.write_eof()
    assert await caller.rest() == b""
    await world.until(lambda: world.connections.budget.held_bytes == 0 and len(world.connections.table) == 0)
    assert world.disconnects == 1


@pytest.mark.parametrize("ends", [True, False], ids=["write side shut down", "asked to close"])
@played(write_seconds=1.0)
async def test_an_answer_that_is_never_read_on_a_closing_connection_is_dropped(world: World, ends: bool) -> None:
    """Such a connection is closing, and would wait for its reader for ever: 4,096 of them shut a worker's door."""

    caller = await world.caller(buffer_bytes=1_024)
    caller.writer.transport.pause_reading()  # type: ignore[attr-defined]
    caller.send(b"GET /big HTTP/1.1\r\nHost: a\r\n%s\r\n" % (b"" if ends else b"Connection: close\r\n"))
    await world.until(lambda: world.connections.budget.held_bytes > 0)
    if ends:
        caller.writer.write_eof()
    await world.until(lambda: len(world.connections.table) == 0)
    assert world.connections.budget.held_bytes == 0


@played()
async def test_a_client_that_leaves_after_a_long_body_is_noticed(world: World) -> None:
    """Reading is paused while a long body waits for its application, which reads it once and never again."""

    caller = await world.caller()
    caller.send(POST % (b"hold", 1_000_000) + bytes(1_000_000))
    await world.until(lambda: len(world.scopes) == 1 and world.connections.budget.held_bytes >= 1_000_000)
    disconnect = world.scopes[0]["state"][DISCONNECT]
    caller.writer.close()
    await world.until(lambda: disconnect.has_left)
    world.held.set()
