from __future__ import annotations

import asyncio

import pytest

from loadtest.client.connection import Reply
from loadtest.client.pool import Pool
from loadtest.client.target import Target

REQUEST = b"POST /extract HTTP/1.1\r\nHost: here\r\nContent-Length: 0\r\n\r\n"
REQUESTS = 3


async def _in_turn(header: str) -> tuple[list[Reply], int]:
    """The replies to requests one after another, of a server that says this beside its answer; and its connections."""
    opened: list[asyncio.Task[None] | None] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(asyncio.current_task())
        while await reader.read(len(REQUEST)):
            writer.write(f"HTTP/1.1 200 OK\r\n{header}Content-Length: 2\r\n\r\n{{}}".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        pool, replies = Pool(Target(*server.sockets[0].getsockname()), 10), []
        for _ in range(REQUESTS):
            ended: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
            pool.send(REQUEST, ended.set_result)
            replies.append(await ended)
        pool.close()
        await asyncio.gather(*filter(None, opened), return_exceptions=True)
    return replies, len(opened)


@pytest.mark.parametrize(("header", "connections"), [("", 1), ("Connection: close\r\n", REQUESTS)])
def test_a_connection_carries_requests_for_as_long_as_the_server_keeps_it(header: str, connections: int) -> None:
    assert asyncio.run(_in_turn(header)) == ([Reply(200, "", b"{}")] * REQUESTS, connections)


async def _given_up_too_late() -> tuple[Reply, int, int]:
    """The reply to a request whose connection an earlier one had, which is given up meanwhile; connections, resends."""
    opened: list[asyncio.Task[None] | None] = []
    late = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(asyncio.current_task())
        for wait in (False, True):
            await reader.readexactly(len(REQUEST))
            if wait:
                await late.wait()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        pool, loop = Pool(Target(*server.sockets[0].getsockname()), 10), asyncio.get_running_loop()
        first, second = loop.create_future(), loop.create_future()
        errand = pool.send(REQUEST, first.set_result)
        await first
        pool.send(REQUEST, second.set_result)
        errand.give_up()
        late.set()
        reply = await second
        pool.close()
        await asyncio.gather(*filter(None, opened), return_exceptions=True)
    return reply, len(opened), pool.resent


def test_a_request_that_is_over_takes_its_connection_from_nobody_when_it_is_given_up() -> None:
    assert asyncio.run(_given_up_too_late()) == (Reply(200, "", b"{}"), 1, 0)
