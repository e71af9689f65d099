"""ASGI middleware around every request.

`AccessLog`: request id, security headers, HEAD, access log, metrics, count of active requests.
`OwnNames`: refuses what another site's page sends to a service of this machine that has no keys.
`InternalPort`: operators' routes on a port of their own, and nothing else there but the probes, and documents, which
the operators' console posts. Which port a request came in on is read off its socket, so no header can claim another.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api import problems
from service.api.connection.refusals import SECURITY_HEADERS
from service.api.extraction.trace import RequestTrace
from service.api.http.request_scope import request_start_time
from service.core.admission.head import OK
from service.core.errors import ForeignHost
from service.signals.routes import OTHER, OWN_WORK_ROUTES

ROUTES = OWN_WORK_ROUTES | {"/livez", "/readyz", "/models", "/metrics", "/docs", "/openapi.json", "/console"}
TRACE_HEADERS = frozenset({b"traceparent", b"tracestate", b"baggage", b"b3"})
REQUEST_ID = re.compile(r"[\w.:/+=@~-]{1,128}", re.ASCII)
"""A client's request id that is taken over; any other is replaced, as it stands in logs and headers."""
INTERNAL = frozenset({"metrics", "models", "docs", "redoc", "openapi.json", "console"})
PROBES = frozenset({"livez", "readyz"})
DOCUMENTS = frozenset({"extract"})
UNAUTHORIZED = 401
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::[0-9]{0,5})?", re.ASCII)
"""A Host header: an address in brackets or a name, and a port."""
NOWHERE = "/nowhere"
"""Label of a path of the other port, which is as unknown here as any."""


class RouteName(NamedTuple):
    """A route's name in metrics and logs. `works`: it extracts entities."""

    name: str
    works: bool


UNNAMED, CONSOLE = RouteName(OTHER, False), RouteName("/console", False)
RouteAt = Callable[[Scope], RouteName | None]
"""The route of an adapter that a request is for."""

log = logging.getLogger("gleaner.access")


@dataclass(slots=True)
class ActiveRequests:
    """The number of requests for work that this process is answering; heartbeats report it to the engine."""

    count: int = 0


class AccessLog:
    """Logs and counts requests. Plain ASGI, because starlette's middleware class would buffer streams."""

    def __init__(self, app: ASGIApp, adapter_route: RouteAt = lambda _scope: None) -> None:
        self._app = app
        self._adapter_route = adapter_route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["state"]
        worker, path, method = state["app_state"].worker, scope["path"], scope["method"]
        request_id = _request_id(scope)
        own_headers = [*SECURITY_HEADERS, (b"x-request-id", request_id.encode())]
        begun = request_start_time(scope, time.monotonic())
        if method == "HEAD":  # Routed as GET; the server sends no body, as it knows the method.
            scope = {**scope, "method": "GET"}
        route = (
            RouteName(path, path in OWN_WORK_ROUTES) if path in ROUTES else self._adapter_route(scope) or _page_at(path)
        )
        status = 500

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _with(own_headers, message["headers"])}
            await send(message)

        trace = state["trace"] = RequestTrace(request_id, begun) if route.works else None
        worker.active_requests.count += route.works
        if trace is not None:
            worker.traces.begin(trace)
        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            worker.active_requests.count -= route.works
            state["code"] = OK if status == 200 else trace.code if trace else ""
            ids, ended = {"request_id": request_id}, time.monotonic()
            if status == UNAUTHORIZED and scope.get("client"):
                ids["address"] = scope["client"][0]
            if trace is not None:
                ids |= trace.facts
                trace.method, trace.route, trace.status, trace.ended_seconds = method, route.name, status, ended
                worker.traces.add(trace)
                if (tracing := state["app_state"].tracing) is not None:
                    ids["trace_id"] = tracing.finish(trace, _callers_trace(scope))
            seconds = None if trace and trace.is_untimed else ended - begun
            worker.metrics.answered(route.name, status, seconds, trace and trace.server_error)
            _log(route, method, status, ended - begun, ids)


class OwnNames:
    """Refuses requests whose Host or Origin header names no loopback host, or that another site sends. Plain ASGI.

    A page of another site may have its own name lead to a loopback address (DNS rebinding) and then read what a browser
    on this machine may read, or have this machine work for it; these headers, which a browser writes, give it away.
    A frame without an origin sends `Origin: null`. A link of another site may lead a person to the console.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http" and not _is_own(scope["method"], scope["headers"]):
            app = problems.response(
                ForeignHost(
                    "A service without API keys answers to localhost only, and no page of another site. Give it keys, "
                    "have a proxy send its Host header as localhost, or set GLEANER_CONSOLE=on to open it to all names."
                )
            )
        await app(scope, receive, send)


def _is_own(method: str, headers: list[tuple[bytes, bytes]]) -> bool:
    said = {name: value.decode("latin-1") for name, value in headers}
    is_link = method in ("GET", "HEAD") and said.get(b"sec-fetch-mode") == "navigate"
    is_foreign = said.get(b"sec-fetch-site") == "cross-site" and not is_link
    return not is_foreign and all(map(is_loopback, _named_hosts(headers)))


def _named_hosts(headers: list[tuple[bytes, bytes]]) -> Iterator[str]:
    for name, value in headers:
        text = value.decode("latin-1")
        if name == b"host" and text:
            yield host_name(text)
        elif name == b"origin":
            scheme, _, host = text.partition("://")
            yield host_name(host) if scheme in ("http", "https") else ""


def host_name(host: str) -> str:
    """The name or address in a Host header, without its port; empty if the header is none."""
    found = _HOST.fullmatch(host)
    return found[1] or found[2] if found else ""


def is_loopback(name: str) -> bool:
    """True for `localhost` and for addresses that lead nowhere else."""
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost" or name.lower().endswith(".localhost")


class InternalPort:
    """Hides the operators' routes on every port but one, and all others there. Plain ASGI.

    Args:
        is_adapter: true for a client's request whose path looks like an operator's (POST /models/…).
        console: the console is on that port, and posts its documents there.
    """

    def __init__(
        self,
        app: ASGIApp,
        port: int,
        is_adapter: Callable[[Scope], bool] = lambda _scope: False,
        *,
        console: bool = True,
    ) -> None:
        self._app = app
        self._port = port
        self._is_adapter = is_adapter
        self._anywhere = PROBES | DOCUMENTS if console else PROBES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_hidden(scope):
            scope = {**scope, "path": NOWHERE, "raw_path": NOWHERE.encode()}
        await self._app(scope, receive, send)

    def _is_hidden(self, scope: Scope) -> bool:
        name = scope["path"].removeprefix("/").partition("/")[0]
        on_internal_port: bool = scope["server"][1] == self._port
        internal = name in INTERNAL and not self._is_adapter(scope)
        return name not in self._anywhere and internal != on_internal_port


def _page_at(path: str) -> RouteName:
    return CONSOLE if path == "/" or path.startswith("/console/") else UNNAMED


def _callers_trace(scope: Scope) -> dict[str, str]:
    """The headers that carry a caller's trace."""
    headers = scope["headers"]
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers if name in TRACE_HEADERS}


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id":
            sent: str = value.decode("latin-1")
            return sent if REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
    return uuid.uuid4().hex


def _with(own: list[tuple[bytes, bytes]], headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, and those of ours that it has not set itself."""
    names = {name for name, _ in headers}
    return [*headers, *(each for each in own if each[0] not in names)]


def _log(route: RouteName, method: str, status: int, seconds: float, ids: dict[str, str]) -> None:
    level = logging.INFO if route.works else logging.DEBUG
    facts = {**ids, "method": method, "route": route.name, "status": status}
    log.log(level, "request", extra={**facts, "milliseconds": round(seconds * 1000, 1)})
