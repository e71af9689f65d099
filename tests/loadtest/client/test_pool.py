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
