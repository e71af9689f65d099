"""Turns of the event loop: a request that was taken on waits for the one in which its work begins."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.core.admission.head import AdmittedRequest, StartQueue


class RequestOwner(Protocol):
    """The connection of a request that waits."""

    def run(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Let an application answer a request."""

    def refuse_late(self, cycle: RequestResponseCycle) -> None:
        """Refuse a request whose deadline passed before its work began."""

    def forget(self, cycle: RequestResponseCycle) -> None:
        """Release what is held for a request that has ended."""


@dataclass(frozen=True, slots=True)
class QueuedStart:
    """A request that waits for its turn, in the order of those that begin."""

    owner: RequestOwner
    cycle: RequestResponseCycle
    app: Any
    admitted: AdmittedRequest

    def begin(self, now: float) -> None:
        """Begin its work, unless its client is gone, or refuse it where its deadline has passed."""
        if self.cycle.disconnected:
            self.owner.forget(self.cycle)
        elif now - self.admitted.arrived_seconds >= self.admitted.deadline_seconds:
            self.owner.refuse_late(self.cycle)
        else:
            self.owner.run(self.cycle, self.app)


class Turns:
    """The requests of one worker that wait, and the turns in which they begin, for as long as there are any."""

    def __init__(self) -> None:
        self._queue: StartQueue[QueuedStart] = StartQueue()
        self._coming = False

    def may_begin(self) -> bool:
        """True if a request's work may begin now; where many come at once, it is to wait."""
        return self._queue.may_begin(time.monotonic())

    def wait(self, request: QueuedStart) -> None:
        """Begin the work of a request in a later turn."""
        self._queue.wait(request, request.admitted)
        if not self._coming:
            self._call_next()

    def _call_next(self) -> None:
        self._coming = True
        asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        for request in self._queue.next_turn(time.monotonic()):
            request.begin(time.monotonic())
        self._coming = False
        if self._queue:
            self._call_next()
