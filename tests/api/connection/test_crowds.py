"""Crowds of connections and of bytes: those beyond a limit are told so at once, and cannot keep others out."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import AsyncIterator

from service.api.connection.protocol import BoundedHttpProtocol
from tests.support.bounded_server import LIMIT_SECONDS, Caller, World, played
from tests.support.garbage import uncollected

GET = b"GET %s HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /extract HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
MIB = 1 << 20


async def crowd(world: World, count: int, path: bytes = b"/hold") -> list[Caller]:
    """Connections whose requests are being answered."""
    callers = [await world.caller() for _ in range(count)]
    for caller in callers:
        caller.send(GET % path)
    await world.until(lambda: len(world.scopes) == count)
    return callers


@played(connections=20)
async def test_connections_beyond_the_limit_are_refused_but_for_health(world: World) -> None:
    await crowd(world, 20)
    for request in (POST % 5 + b"12345", GET % b"/models"):
        caller = await world.caller()
        caller.send(request)
        reply = await caller.reply()
        assert (reply.status, reply.code) == (503, "too_much_at_once")
        assert int(reply.headers["retry-after"]) >= 1
        assert await caller.rest() == b""
    health = await world.caller()
    health.send(GET % b"/livez")
    assert (await health.reply()).status == 200
    assert await health.rest() == b""


def already_asking(world: World, request: bytes) -> socket.socket:
    """A connection whose request has come before the event loop has looked at it."""
    caller = socket.create_connection(("127.0.0.1", world.port), timeout=LIMIT_SECONDS)
    caller.sendall(request)
    return caller


async def answer(caller: socket.socket) -> bytes:
    """All that a server says before it closes."""
    with caller:
        return b"".join([each async for each in _parts(caller)])


async def _parts(caller: socket.socket) -> AsyncIterator[bytes]:
    caller.setblocking(False)
    while part := await asyncio.get_running_loop().sock_recv(caller, 1 << 16):
        yield part


@played(connections=20)
async def test_far_beyond_the_limit_all_but_health_is_refused_unread(world: World) -> None:
    await crowd(world, 20)
    brief = [await world.caller() for _ in range(16)]
    await world.until(lambda: len(world.connections.table) == 36)
    for request in (POST % 5 + b"12345", GET % b"/models", b"not HTTP at all"):
        refused = await answer(already_asking(world, request))
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"too_much_at_once" in refused
    for path in (b"/livez", b"/readyz", b"/v2/health/live"):
        assert (await answer(already_asking(world, GET % path))).startswith(b"HTTP/1.1 200 "), path
    late = await world.caller()
    late.send(GET % b"/livez")
    assert (await late.reply()).status == 200
    silent = [await each.reply() for each in (brief[0], await world.caller())]
    assert [(each.status, each.code) for each in silent] == [(503, "too_much_at_once")] * 2


@played(connections=20)
async def test_silent_connections_make_room_for_those_that_ask(world: World) -> None:
    silent = [await world.caller() for _ in range(20)]
    silent[0].send(b"GET /li")
    await world.until(lambda: len(world.connections.table) == 20)
    await asyncio.sleep(1.1)
    for number in range(5):
        caller = await world.caller()
        caller.send(POST % 1 + b"a")
        assert (await caller.reply()).status == 200, number
    assert (await silent[0].reply()).code == "too_much_at_once"


@played(connections=20, linger_seconds=1.0)
async def test_slow_bodies_make_room_too_and_steady_ones_do_not(world: World) -> None:
    callers = [await world.caller() for _ in range(20)]
    for caller in callers:
        caller.send(POST % 100_000 + bytes(20_000))
    for _ in range(14):
        callers[0].send(bytes(1_000))
        await asyncio.sleep(0.2)
    for number in range(5):
        caller = await world.caller()
        caller.send(POST % 1 + b"a")
        assert (await caller.reply()).status == 200, number
        caller.close()
    callers[0].send(bytes(66_000))
    assert (await callers[0].reply()).body == b"100000"


@played(held_bytes=16 * MIB)
async def test_unfinished_bodies_hold_at_most_the_budget_and_the_largest_pays(world: World) -> None:
    """Fifteen unfinished bodies of 235 MB killed a worker of 4 GB, and two filled the disk for all others' forms."""

    large = [await world.caller() for _ in range(4)]
    for caller in large:
        caller.send(POST % (8 * MIB) + bytes(7 * MIB))
    tasks = [asyncio.create_task(each.reply()) for each in large]
    await world.until(lambda: sum(task.done() for task in tasks) >= 2)
    replies = [task.result() for task in tasks if task.done()]
    assert {(reply.status, reply.code) for reply in replies} == {(503, "too_much_at_once")}
    assert world.connections.budget.held_bytes <= 16 * MIB
    small = await world.caller()
    small.send(POST % MIB + bytes(MIB))
    assert (await small.reply()).body == str(MIB).encode()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@played()
async def test_held_bytes_are_freed_at_a_disconnect_and_after_the_answer(world: World) -> None:
    leaver = await world.caller()
    leaver.send(POST % (4 * MIB) + bytes(2 * MIB))
    await world.until(lambda: world.connections.budget.held_bytes >= 2 * MIB)
    leaver.close()
    await world.until(lambda: world.connections.budget.held_bytes == 0)
    assert (await world.ask((POST % MIB).decode(), bytes(MIB))).status == 200
    await world.until(lambda: world.connections.budget.held_bytes == 0)
    await world.until(lambda: world.connections.overload.in_flight == 0)


@played(held_bytes=16 * MIB, idle_seconds=0.5)
async def test_unread_answers_count_too(world: World) -> None:
    callers = [await world.caller(buffer_bytes=1 << 10) for _ in range(8)]
    for caller in callers:
        caller.send(GET % b"/big")
    await world.until(lambda: len(world.scopes) == 8)
    await asyncio.sleep(0.2)
    assert world.connections.budget.held_bytes <= 16 * MIB
    whole = [len(await caller.rest()) >= 8 * MIB for caller in callers]
    assert 1 <= whole.count(True) <= 7


@played(connections=100)
async def test_a_crowd_at_once_is_answered_or_told_so_each_and_every_one(world: World) -> None:
    async def one() -> int:
        caller = await world.caller()
        caller.send(POST % 5 + b"12345")
        status = (await caller.reply()).status
        await asyncio.sleep(0.2)
        return status

    statuses = await asyncio.gather(*(one() for _ in range(600)))
    assert set(statuses) == {200, 503}


@played()
async def test_a_connection_leaves_nothing_to_collect(world: World) -> None:
    """Each left some 35 objects in circles, and to look through all that lived stopped the event loop for 0.1 s."""

    async def one(number: int) -> None:
        caller = await world.caller()
        caller.send(POST % (200_000 if number % 4 == 0 else 5) + bytes(200_000 if number % 4 == 0 else 5))
        if number % 3:
            assert (await caller.reply()).status == 200
        caller.close()

    await one(1)
    await world.until(lambda: not len(world.connections.table))
    world.callers.clear()
    with uncollected():
        for number in range(60):
            await one(number)
        await world.until(lambda: not len(world.connections.table))
        await world.until(lambda: not any(type(each) is BoundedHttpProtocol for each in gc.get_objects()))
