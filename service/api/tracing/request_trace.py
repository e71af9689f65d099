"""What is noted of a traced request: when its body had come, and the stage timers of its documents. No OpenTelemetry.

Whoever answers a request finds its notes in a context variable, which is empty while tracing is off.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field

from service.api.extraction.stage_timer import StageTimer

MOST_DOCUMENTS = 64
"""Documents of one request whose stages become spans; those of a larger batch are counted only."""


@dataclass(frozen=True, slots=True)
class RequestFacts:
    """What the root span says of a request."""

    method: str
    route: str
    status: int
    request_id: str


@dataclass(slots=True)
class RequestTrace:
    """The notes of one request. Times are seconds of the monotonic clock."""

    begun_seconds: float
    received_seconds: float | None = None
    documents: int = 0
    timers: list[StageTimer] = field(default_factory=list)

    def add(self, timer: StageTimer) -> None:
        """Note a document, which has begun or will."""
        self.documents += 1
        if len(self.timers) < MOST_DOCUMENTS:
            self.timers.append(timer)


_current: ContextVar[RequestTrace | None] = ContextVar("request_trace", default=None)


def begin_trace(begun_seconds: float) -> RequestTrace:
    """Notes for the request that this task answers."""
    trace = RequestTrace(begun_seconds)
    _current.set(trace)
    return trace


def body_received(now: float) -> None:
    """Note that the body of this task's request has been read."""
    if (trace := _current.get()) is not None:
        trace.received_seconds = now


def traced(timer: StageTimer) -> StageTimer:
    """The timer of one document of this task's request, noted."""
    if (trace := _current.get()) is not None:
        trace.add(timer)
    return timer
