"""The middleware around every request: who waits, and how long, for a service that is about to be ready."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from service.api.extraction.trace import TraceBook
from service.api.middleware import STARTING_SECONDS, AccessLog, ActiveRequests
from service.metrics.worker import WorkerMetrics


class _Starting:
    """An engine that starts; how long it was waited for."""

    def __init__(self, *, starting: bool = True) -> None:
        self.starting = starting
        self.waited: list[float] = []

    async def wait_while_starting(self, seconds: float) -> None:
        self.waited.append(seconds)


def _asked(engine: _Starting, method: str, path: str, query: bytes = b"") -> int:
    """The status of the answer to a request."""
    sent: list[Message] = []
    worker = SimpleNamespace(
        engine=engine, active_requests=ActiveRequests(), metrics=WorkerMetrics(), traces=TraceBook()
    )
    state = {"app_state": SimpleNamespace(worker=worker, tracing=None)}
    scope: Scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": query}

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(AccessLog(PlainTextResponse("served"))({**scope, "state": state}, receive, send))
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("method", "path", "waits"),
    [("POST", "/extract", 1), ("GET", "/extract", 0), ("GET", "/livez", 0), ("GET", "/metrics", 0)],
)
def test_only_a_request_for_work_waits_for_an_engine_that_starts(method: str, path: str, waits: int) -> None:
    engine = _Starting()
    assert _asked(engine, method, path) == 200
    assert len(engine.waited) == waits


def test_nobody_waits_once_an_engine_has_served() -> None:
    engine = _Starting(starting=False)
    assert _asked(engine, "POST", "/extract") == 200
    assert engine.waited == []


@pytest.mark.parametrize(("query", "most"), [(b"", STARTING_SECONDS), (b"deadline_ms=100", 0.05)])
def test_the_wait_leaves_half_of_the_time_that_a_request_names(query: bytes, most: float) -> None:
    engine = _Starting()
    _asked(engine, "POST", "/extract", query)
    (waited,) = engine.waited
    assert 0 < waited <= most
