"""Middleware around every request: the wait for a service that starts, and the two ports."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from service.api.extraction.trace import TraceBook
from service.api.middleware import NOWHERE, STARTING_SECONDS, AccessLog, ActiveRequests, InternalPort
from service.metrics.worker import WorkerMetrics


class _Starting:
    """An engine that starts; how long it was waited for."""

    def __init__(self, *, starting: bool = True) -> None:
        self.starting = starting
        self.waited: list[float] = []

    async def wait_while_starting(self, seconds: float) -> None:
        self.waited.append(seconds)


def status_of(engine: _Starting, method: str, path: str, query: bytes = b"") -> int:
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
    assert status_of(engine, method, path) == 200
    assert len(engine.waited) == waits


def test_nobody_waits_once_an_engine_has_served() -> None:
    engine = _Starting(starting=False)
    assert status_of(engine, "POST", "/extract") == 200
    assert engine.waited == []


@pytest.mark.parametrize(("query", "most"), [(b"", STARTING_SECONDS), (b"deadline_ms=100", 0.05)])
def test_the_wait_leaves_half_of_the_time_that_a_request_names(query: bytes, most: float) -> None:
    engine = _Starting()
    status_of(engine, "POST", "/extract", query)
    (waited,) = engine.waited
    assert 0 < waited <= most


PUBLIC, INTERNAL = 8080, 9090


def path_seen(path: str, port: int, *, console: bool = True) -> str:
    """The path that the application behind sees."""
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    scope = {"type": "http", "path": path, "server": ("127.0.0.1", port), "headers": [(b"host", b"x:9090")]}
    asyncio.run(InternalPort(app, INTERNAL, console=console)(scope, receive, send))
    return str(seen[0]["path"])


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/models", "/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json", "/console", "/console/live"],
)
def test_the_operators_routes_are_on_the_internal_port_alone(path: str) -> None:
    assert path_seen(path, INTERNAL) == path
    assert path_seen(path, PUBLIC) == NOWHERE
    assert path_seen(path + "/", PUBLIC) == NOWHERE


@pytest.mark.parametrize("path", ["/", "//metrics", "/anything", "/metricsx", ""])
def test_the_clients_routes_are_on_the_public_port_alone(path: str) -> None:
    assert path_seen(path, PUBLIC) == path
    assert path_seen(path, INTERNAL) == NOWHERE


@pytest.mark.parametrize("port", [PUBLIC, INTERNAL])
def test_the_probes_and_documents_are_on_both(port: int) -> None:
    paths = ["/livez", "/readyz", "/extract"]
    assert [path_seen(path, port) for path in paths] == paths


def test_without_a_console_documents_are_posted_to_the_public_port_alone() -> None:
    assert path_seen("/extract", INTERNAL, console=False) == NOWHERE
    assert path_seen("/extract", PUBLIC, console=False) == "/extract"


def test_what_is_no_request_passes() -> None:
    kinds: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        kinds.append(scope["type"])

    async def nothing(*_: object) -> Message:
        return {}

    asyncio.run(InternalPort(app, INTERNAL)({"type": "lifespan"}, nothing, nothing))  # type: ignore[arg-type]
    assert kinds == ["lifespan"]
