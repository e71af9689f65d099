"""Middleware around every request: the two ports, and the names of a service without keys."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from service.api.app import create_app
from service.api.extraction.trace import DocumentTrace, StageTimer, TraceBook
from service.api.middleware import (
    NOWHERE,
    AccessLog,
    ActiveRequests,
    InternalPort,
    OwnNames,
    host_name,
    is_loopback,
)
from service.metrics.worker import WorkerMetrics
from service.settings import Settings
from tests.support.metric_values import value

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


def status_of(method: str = "POST", **headers: str) -> int:
    """The status of an answer of a service without keys on a loopback address."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request"}

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": method, "path": "/extract", "headers": raw}
    asyncio.run(OwnNames(PlainTextResponse("an answer"))(scope, receive, send))
    return int(sent[0]["status"])


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:8080", "app.localhost:80", "127.9.9.9", ""])
def test_a_service_without_keys_answers_to_names_of_its_machine(host: str) -> None:
    assert status_of(host=host) == 200
    assert status_of(host="localhost", origin=f"http://{host}") == 200 or not host
    assert status_of(**{"host": host, "sec-fetch-site": "same-origin"}) == 200
    assert status_of(**{"host": host, "sec-fetch-site": "same-site"}) == 200


FOREIGN = ["evil.example", "evil.example:8080", "10.0.0.1", "localhost.evil.example", "[::2]:1", "127.0.0.1:80@evil"]
FOREIGN += [
    "localhost:80:80",
    "localhost/x",
    "[::1",
    "[::1]evil",
    "localhost:8o",
    "a@localhost",
    "localhost evil",
    "[]:1",
]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_name_that_only_leads_to_this_machine_is_refused(host: str) -> None:
    assert status_of(host=host) == 403
    assert status_of(host="localhost", origin=f"https://{host}") == 403


@pytest.mark.parametrize("origin", ["null", "file://", "chrome-extension://abc", "ftp://localhost", "localhost", ""])
def test_a_page_without_a_place_of_this_machine_is_refused(origin: str) -> None:
    assert status_of(host="localhost", origin=origin) == 403


def test_what_another_site_sends_is_refused_and_its_links_lead_here() -> None:
    """Frames, forms and scripts of other sites; a person may follow a link to the console."""
    cross = {"host": "localhost", "sec-fetch-site": "cross-site"}
    assert status_of(**cross) == 403
    assert status_of(**cross, **{"sec-fetch-mode": "navigate"}) == 403
    assert status_of("GET", **cross, **{"sec-fetch-mode": "no-cors"}) == 403
    assert status_of("GET", **cross, **{"sec-fetch-mode": "navigate"}) == 200


def test_without_these_headers_it_is_no_browser_that_asks() -> None:
    assert status_of() == 200


def test_the_name_in_a_host_header_is_found() -> None:
    assert [host_name(host) for host in ("a:1", "a", "[::1]:2", "[::1]", "a:b")] == ["a", "a", "::1", "::1", ""]
    assert is_loopback("LOCALHOST")
    assert not is_loopback("8.8.8.8")


@pytest.mark.parametrize(
    ("settings", "is_checked"),
    [
        ({}, True),
        ({"host": "::1", "console": "off"}, True),
        ({"host": "0.0.0.0"}, False),
        ({"console": "on"}, False),
        ({"api_keys": "one=0123456789abcdef0123456789abcdef"}, False),
    ],
    ids=str,
)
def test_names_are_checked_on_a_loopback_address_without_keys(settings: dict[str, Any], is_checked: bool) -> None:
    app: Any = create_app(Settings(**{"host": "127.0.0.1", **settings}))
    assert isinstance(app._app, OwnNames) is is_checked


def counted(status: int, *codes: str, code: str = "", route: str = "/extract", untimed: bool = False) -> WorkerMetrics:
    """What one request counts that is answered with this status and code, its documents with `codes`.

    Status 0: the application fails.
    """

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        if (trace := scope["state"]["trace"]) is not None:
            trace.code, trace.is_untimed = code, untimed
            for each in codes:
                trace.add(DocumentTrace("text", 5, None, 3, 1, 0, each, StageTimer(), 0.0))
        if not status:
            raise ValueError
        await send({"type": "http.response.start", "status": status, "headers": []})

    async def nothing(*_: object) -> Any:
        return {}

    metrics = WorkerMetrics()
    worker = SimpleNamespace(metrics=metrics, active_requests=ActiveRequests(), traces=TraceBook())
    state = {"app_state": SimpleNamespace(worker=worker, tracing=None)}
    with suppress(ValueError):
        scope = {"type": "http", "method": "POST", "path": route, "headers": [], "state": state}
        asyncio.run(AccessLog(app)(scope, nothing, nothing))
    return metrics


def failures(metrics: WorkerMetrics) -> dict[str, float]:
    (found,) = metrics.server_errors.collect()
    return {each.labels["code"]: each.value for each in found.samples if each.name.endswith("_total") and each.value}


@pytest.mark.parametrize(
    ("status", "codes", "code", "failed"),
    [
        (200, ("ok", "ok"), "", None),
        (200, ("ok", "unreadable_document", "queue_full"), "", None),
        (200, ("ok",) * 60 + ("poison_document", "poison_document"), "", "poison_document"),
        (422, ("unreadable_document",), "", None),
        (500, ("internal_error",), "", "internal_error"),
        (507, ("insufficient_memory",), "", "insufficient_memory"),
        (500, (), "model_error", "model_error"),
        (200, (), "model_error", "model_error"),
        (0, (), "", "internal_error"),
        (503, (), "engine_restarting", "engine_restarting"),
        (503, ("engine_restarting",), "", "engine_restarting"),
        *(
            (status, (), code, None)
            for status, code in ((503, "draining"), (503, "not_ready"), (504, "deadline_exceeded"))
        ),
        *((status, (), code, None) for status, code in ((503, "too_much_at_once"), (429, "queue_full"), (499, ""))),
    ],
)
def test_a_request_that_the_service_failed_counts_once_a_refusal_never(
    status: int, codes: tuple[str, ...], code: str, failed: str | None
) -> None:
    assert failures(counted(status, *codes, code=code)) == ({failed: 1.0} if failed else {})


def test_only_requests_for_work_are_the_services_to_fail() -> None:
    assert failures(counted(500, route="/models")) == {}


def test_an_adapters_probes_are_no_requests_for_work() -> None:
    app: Any = create_app(Settings(host="0.0.0.0", adapters="oip"))
    asked = [("POST", "/v2/models/tiny/infer"), ("GET", "/v2/health/ready"), ("GET", "/nothing")]
    scopes = [{"type": "http", "method": method, "path": path, "headers": []} for method, path in asked]
    assert [app._adapter_route(scope) for scope in scopes] == [("oip", True), ("other", False), None]


@pytest.mark.parametrize(("untimed", "times"), [(True, 0), (False, 1)])
def test_requests_whose_time_says_nothing_are_not_timed(untimed: bool, times: int) -> None:
    metrics = counted(200, untimed=untimed)
    assert value(metrics.requests, route="/extract", status="200") == 1
    (found,) = metrics.request_seconds.collect()
    assert sum(each.value for each in found.samples if each.name.endswith("_count")) == times


def test_the_openapi_document_is_encoded_once() -> None:
    app: Any = create_app(Settings(host="0.0.0.0"))
    (route,) = [each for each in app._app.routes if getattr(each, "path", "") == "/openapi.json"]
    first, second = (asyncio.run(route.endpoint()) for _ in range(2))
    assert first.body is second.body
    assert first.media_type == "application/json"
    assert "/extract" in json.loads(first.body)["paths"]
