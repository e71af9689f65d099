"""What is held for the requests of one connection until their applications have ended: a place, and a body's bytes."""

from __future__ import annotations

from dataclasses import dataclass

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.api.connection.connections import Connection, Connections, Transfer
from service.core.connections.admission import Admitted


@dataclass(slots=True)
class HeldRequest:
    """What is held for one request."""

    admitted: Admitted | None
    body: Transfer | None = None


class HeldRequests:
    """The requests of one connection whose applications have not ended: the next may come when one is answered."""

    __slots__ = ("_requests", "_shared")

    def __init__(self, shared: Connections) -> None:
        self._shared = shared
        self._requests: dict[RequestResponseCycle, HeldRequest] = {}

    def add(self, cycle: RequestResponseCycle, admitted: Admitted | None) -> Admitted | None:
        """Hold a request, unless it is held already; what it was admitted with."""
        return self._requests.setdefault(cycle, HeldRequest(admitted)).admitted

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
