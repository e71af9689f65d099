"""Connections to one target: kept while idle, opened when none is free; no request waits for another's answer.

The last one freed is the first one taken again: under light load few stay warm. A server may close an idle connection
at the moment in which we write to it; such a request is sent once more on a new one, and counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from loadtest.client.connection import Connection, Reply
from loadtest.client.target import Target

CONNECT_SECONDS = 10.0
Ended = Callable[[Reply], None]


class Pool:
    """All connections of one generator process."""

    def __init__(self, target: Target, most: int) -> None:
        self._most = most
        self._idle: list[Connection] = []
        self.aim(target)
        self.open = 0
        self.most_open = 0
        self.resent = 0
        self.exhausted = 0

    def aim(self, target: Target) -> None:
        """From now on, requests go there; what is under way ends where it began, as behind a balancer."""
        idle, self._idle = self._idle, []
        self.target, self._tls = target, target.tls_context()
        for connection in idle:
            self.drop(connection)

    def send(self, request: bytes, ended: Ended) -> Errand:
        """Send now, whatever else is under way; `ended` is called once."""
        errand = Errand(self, request, ended)
        connection = self._warm()
        if connection is not None:
            errand.carry(connection, self.target)
        elif self.open >= self._most:
            self.exhausted += 1
            errand.end(Reply(0, "", b"", "no_connection_left"))
        else:
            errand.dial()
        return errand

    def close(self) -> None:
        for connection in self._idle:
            connection.close()

    async def connect(self) -> Connection:
        """A new connection to the present target.

        Raises:
            OSError, TimeoutError: there is none to be had.
        """
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        loop, target = asyncio.get_running_loop(), self.target
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                _, connection = await loop.create_connection(Connection, target.host, target.port, ssl=self._tls)
        except BaseException:
            self.open -= 1
            raise
        return connection

    def keep(self, connection: Connection, target: Target) -> None:
        """Take back a connection that can carry another request, if requests still go to its target."""
        if target == self.target:
            self._idle.append(connection)
        else:
            self.drop(connection)

    def drop(self, connection: Connection) -> None:
        self.open -= 1
        connection.close()

    def _warm(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open:
                return connection
            self.open -= 1
        return None


class Errand:
    """One request on its way."""

    __slots__ = ("_connection", "_ended", "_pool", "_request", "_task", "over")

    def __init__(self, pool: Pool, request: bytes, ended: Ended) -> None:
        self._pool = pool
        self._request = request
        self._ended = ended
        self._task: asyncio.Task[None] | None = None
        self._connection: Connection | None = None
        self.over = False

    def dial(self) -> None:
        """Open a connection for it."""
        self._task = asyncio.get_running_loop().create_task(self._dial())

    def carry(self, connection: Connection, target: Target) -> None:
        """Send it on this connection, which goes to this target."""
        used, self._connection = connection.carried > 0, connection

        def done(reply: Reply, reusable: bool) -> None:
            if reusable:
                self._pool.keep(connection, target)
            else:
                self._pool.drop(connection)
            if reply.status == 0 and used and connection.untouched and not self.over:
                self._pool.resent += 1
                self.dial()
            else:
                self.end(reply)

        connection.send(self._request, done)

    def give_up(self) -> None:
        """Nobody waits for the answer any more; once it is there, the connection may be another's already."""
        if self.over:
            return
        self.end(Reply(0, "", b"", "timeout"))
        if self._connection is not None and self._connection.is_open:
            self._connection.close()
        elif self._task is not None:
            self._task.cancel()

    def end(self, reply: Reply) -> None:
        if not self.over:
            self.over = True
            self._ended(reply)

    async def _dial(self) -> None:
        target = self._pool.target
        try:
            connection = await self._pool.connect()
        except (OSError, TimeoutError) as error:
            self.end(Reply(0, "", b"", _why(error)))
            return
        self.carry(connection, target)


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection_refused"
    return "connect_timeout" if isinstance(error, TimeoutError) else "connect_failed"
