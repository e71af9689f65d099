"""Start limiter: admitted requests wait here until their work begins, a few in each turn of the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from service.core.admission.head import AdmittedRequest, StartQueue
from service.core.admission.policy import ADMIT

LOOK_SECONDS = 0.01
"""How often it is looked whether the first engine has started, while requests wait for that."""


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
    """A request that waits until its work begins."""

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


class StartLimiter:
    """The waiting requests of one worker. `starting`: True while the first engine starts, for which all wait a moment.

    Workers do not read the engine's status in the same moment: a client that heard from one that the service is ready
    must not be refused by another.
    """

    def __init__(self, starting: Callable[[], bool] = lambda: False) -> None:
        self._queue: StartQueue[QueuedStart] = StartQueue()
        self._starting = starting
        self._coming = False

    def start(self, request: QueuedStart) -> None:
        """Begin the work of a request now, or in a later turn."""
        if self._queue.decide(time.monotonic(), starting=self._starting()) is ADMIT:
            request.owner.run(request.cycle, request.app)
            return
        self._queue.wait(request, request.admitted)
        if not self._coming:
            self._call_next()

    def _call_next(self) -> None:
        self._coming = True
        loop = asyncio.get_running_loop()
        if self._starting():
            loop.call_later(LOOK_SECONDS, self._next)
        else:
            loop.call_soon(self._next)

    def _next(self) -> None:
        for request in self._queue.next_turn(time.monotonic(), starting=self._starting()):
            request.begin(time.monotonic())
        self._coming = False
        if self._queue:
            self._call_next()
