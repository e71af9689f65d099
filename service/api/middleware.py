"""ASGI middleware around every request: request id, security headers, HEAD, access log, metrics, active requests."""

from __future__ import annotations

import logging
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.connection.prepared import SECURITY_HEADERS
from service.api.http.arrival import arrived_seconds
from service.api.tracing.request_trace import RequestFacts, RequestTrace, begin_trace
from service.metrics.worker import WorkerMetrics

WORK_ROUTES = frozenset({"/extract", "/redact"})
ROUTES = WORK_ROUTES | frozenset({"/livez", "/readyz", "/models", "/metrics", "/docs", "/openapi.json"})
TRACE_HEADERS = frozenset({b"traceparent", b"tracestate", b"baggage", b"b3"})
REQUEST_ID = re.compile(r"[\w.:/+=@~-]{1,128}", re.ASCII)
"""A client's request id that is taken over; any other is replaced, as it stands in logs and headers."""

log = logging.getLogger("gleaner.access")


@dataclass(slots=True)
class ActiveRequests:
    """The number of requests for work that this process is answering; heartbeats report it to the engine."""

    count: int = 0


class AccessLog:
    """Logs and counts requests. Plain ASGI, because starlette's middleware class would buffer streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["state"]
        worker, path, method = state["app_state"].worker, scope["path"], scope["method"]
        request_id = _request_id(scope)
        own_headers = [*SECURITY_HEADERS, (b"x-request-id", request_id.encode())]
        begun = arrived_seconds(scope, time.monotonic())
        status, works = 500, path in WORK_ROUTES

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _with(own_headers, message["headers"])}
            await send(message)

        worker.active_requests.count += works
        tracing = state["app_state"].tracing if works else None
        trace = begin_trace(begun) if tracing is not None else None
        if method == "HEAD":  # Routed as GET; the server sends no body, as it knows the method.
            scope = {**scope, "method": "GET"}
        try:
            await self._app(scope, receive, send_with_headers)
        finally:
            worker.active_requests.count -= works
            state["status"] = status
            ended, trace_id = time.monotonic(), ""
            if trace is not None:
                trace_id = _finish_trace(tracing, trace, RequestFacts(method, path, status, request_id), scope, ended)
            facts = {"request_id": request_id, **({"trace_id": trace_id} if trace_id else {})}
            _record(worker.metrics, path, method, status, ended - begun, facts)


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


def _finish_trace(tracing: Any, trace: RequestTrace, facts: RequestFacts, scope: Scope, ended: float) -> str:
    """The trace's id; of the headers, those that carry a caller's trace are read."""
    headers = {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"] if name in TRACE_HEADERS
    }
    trace_id: str = tracing.finish(trace, facts, headers, ended)
    return trace_id


def _record(metrics: WorkerMetrics, path: str, method: str, status: int, seconds: float, ids: dict[str, str]) -> None:
    route = path if path in ROUTES else "other"
    metrics.requests.labels(route, str(status)).inc()
    metrics.request_seconds.labels(route).observe(seconds)
    level = logging.INFO if route in WORK_ROUTES else logging.DEBUG
    facts = {**ids, "method": method, "route": route, "status": status}
    log.log(level, "request", extra={**facts, "milliseconds": round(seconds * 1000, 1)})
