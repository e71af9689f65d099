"""Bytes and places that a connection holds: of requests until their applications ended, of answers until read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.api.connection.connections import Connection, Connections, Transfer
from service.core.admission.head import AdmittedRequest
from service.core.connections.transfers import Pace


@dataclass(slots=True)
class InFlightRequest:
    """What is held for one request."""

    admitted: AdmittedRequest | None
    body: Transfer | None = None


class InFlightRequests:
    """The requests of one connection whose applications have not ended: the next may come when one is answered."""

    __slots__ = ("_requests", "_shared")

    def __init__(self, shared: Connections) -> None:
        self._shared = shared
        self._requests: dict[RequestResponseCycle, InFlightRequest] = {}

    def add(self, cycle: RequestResponseCycle, admitted: AdmittedRequest | None) -> AdmittedRequest | None:
        """Hold a request, unless it is held already; what it was admitted with."""
        return self._requests.setdefault(cycle, InFlightRequest(admitted)).admitted

    def hold_body(self, connection: Connection, cycle: RequestResponseCycle, count: int, whole: int) -> None:
        """Hold `count` more bytes of a body, of which `whole` have come, small ones having been free."""
        request = self._requests[cycle]
        if request.body is None:
            request.body, count = Transfer(connection), whole
        self._shared.hold(request.body, count)

    def finish_body(self, cycle: RequestResponseCycle) -> None:
        """A body is complete; its bytes are held on."""
        request = self._requests.get(cycle)
        if request is not None and request.body is not None:
            self._shared.budget.finish(request.body)

    def release(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""
        request = self._requests.pop(cycle)
        if request.body is not None:
            self._shared.budget.release(request.body)
        if request.admitted is not None:
            self._shared.finished(request.admitted, None if cycle.disconnected else cycle.scope["state"].get("status"))


class WriteBackpressure:
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
