"""ASGI middleware around every request: request id, access log line, metrics, and the count of active requests."""

from __future__ import annotations

import logging
import time
import uuid
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.http.arrival import arrived_seconds
from service.metrics.worker import WorkerMetrics

ROUTES = frozenset({"/extract", "/livez", "/readyz", "/models", "/metrics", "/docs", "/openapi.json"})

log = logging.getLogger("gleaner.access")


@dataclass(slots=True)
class ActiveRequests:
    """The number of /extract requests that this process is answering; heartbeats report it to the engine."""

    count: int = 0


class AccessLog:
    """Logs and counts requests. Plain ASGI, because starlette's middleware class would buffer streams."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        worker = scope["state"]["app_state"].worker
        request_id = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1") or uuid.uuid4().hex
        begun = arrived_seconds(scope, time.monotonic())
        status, works = 500, scope["path"] == "/extract"

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], (b"x-request-id", request_id.encode("latin-1"))]}
            await send(message)

        worker.active_requests.count += works
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            worker.active_requests.count -= works
            _record(worker.metrics, scope["path"], scope["method"], status, time.monotonic() - begun, request_id)


def _record(metrics: WorkerMetrics, path: str, method: str, status: int, seconds: float, request_id: str) -> None:
    route = path if path in ROUTES else "other"
    metrics.requests.labels(route, str(status)).inc()
    metrics.request_seconds.labels(route).observe(seconds)
    level = logging.INFO if route == "/extract" else logging.DEBUG
    facts = {"request_id": request_id, "method": method, "route": route, "status": status}
    log.log(level, "request", extra={**facts, "milliseconds": round(seconds * 1000, 1)})
