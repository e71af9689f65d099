"""The part of an answer that a client has not read yet: held from the worker's budget, and watched for its pace."""

from __future__ import annotations

import asyncio

from service.api.connection.connections import Connection, Connections, Transfer
from service.core.connections.pace import Pace


class UnreadAnswer:
    """What waits in a transport's write buffer, from when it is over a mark until it is under another."""

    def __init__(self, shared: Connections) -> None:
        self._shared = shared
        self._transfer: Transfer | None = None
        self._pace: Pace | None = None
        self._unread_bytes = 0

    def holds(self, transfer: object) -> bool:
        """True for the transfer of this answer."""
        return self._transfer is not None and transfer is self._transfer

    def pause(self, connection: Connection, transport: asyncio.WriteTransport, now: float) -> None:
        """Much waits to be read on this connection: hold it."""
        if self._transfer is None:
            self._unread_bytes = transport.get_write_buffer_size()
            self._transfer = Transfer(connection)
            self._pace = Pace(self._shared.limits.write_seconds, now)
            self._shared.hold(self._transfer, self._unread_bytes)

    def release(self) -> None:
        """Most is read, or nobody will."""
        if self._transfer is not None:
            self._shared.budget.release(self._transfer)
            self._transfer = self._pace = None

    @property
    def waits(self) -> bool:
        """True while much waits to be read."""
        return self._pace is not None

    def is_too_slow(self, transport: asyncio.WriteTransport, now: float) -> bool:
        """True when too little was read in the last window."""
        if self._pace is None:
            return False
        unread = transport.get_write_buffer_size()
        self._pace.moved(self._unread_bytes - unread)
        self._unread_bytes = unread
        return self._pace.is_too_slow(now)
