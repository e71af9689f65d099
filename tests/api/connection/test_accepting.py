"""How many connections a worker accepts in one turn of its event loop: a health check waits behind those before it."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing
from types import SimpleNamespace

import pytest
import uvloop
from uvicorn_worker import UvicornWorker

from service.api.connection.uvicorn_worker import ACCEPTS_A_TURN, BoundedUvicornWorker, several

CALLERS = 10 * ACCEPTS_A_TURN


def test_many_connections_are_accepted_in_a_turn() -> None:
    """One was, so that the last of 5,500 waited for 5,499 turns."""
    assert uvloop.run(_turns()) <= CALLERS / ACCEPTS_A_TURN + 3


async def _turns() -> int:
    """The turns in which the callers that came at once are accepted."""
    loop, accepted = asyncio.get_running_loop(), 0

    class Connection(asyncio.Protocol):
        def connection_made(self, _transport: asyncio.BaseTransport) -> None:
            nonlocal accepted
            accepted += 1

    with closing(socket.create_server(("127.0.0.1", 0), backlog=2 * CALLERS)) as listening:
        sockets = several([listening], ACCEPTS_A_TURN)
        servers = [await loop.create_server(Connection, sock=each, backlog=2 * CALLERS) for each in sockets]
        callers = [socket.create_connection(listening.getsockname()) for _ in range(CALLERS)]
        turns = 0
        while accepted < CALLERS:
            assert turns < 2 * CALLERS
            turns += 1
            await asyncio.sleep(0)
        for caller in callers:
            caller.close()
        for server in servers:
            server.close()
    return turns


@pytest.mark.parametrize(("workers", "each"), [(1, ACCEPTS_A_TURN), (4, 4), (100, 2)])
def test_workers_share_what_is_accepted_in_a_turn(monkeypatch: pytest.MonkeyPatch, workers: int, each: int) -> None:
    served: list[list[int]] = []

    async def serve(worker: UvicornWorker) -> None:
        served.append([listening.getsockname()[1] for listening in worker.sockets])

    monkeypatch.setattr(UvicornWorker, "_serve", serve)
    worker = BoundedUvicornWorker.__new__(BoundedUvicornWorker)
    worker.cfg = SimpleNamespace(workers=workers, is_ssl=False)
    with closing(socket.create_server(("127.0.0.1", 0))) as one, closing(socket.create_server(("127.0.0.1", 0))) as two:
        worker.sockets = [one, two]
        asyncio.run(worker._serve())
        ports = [listening.getsockname()[1] for listening in (one, two)]
    for listening in worker.sockets:
        listening.close()
    assert sorted(served[0]) == sorted(ports * each)
