"""The middleware around every request: who waits for a service that is about to be ready."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Scope

from service.api.extraction.trace import TraceBook
from service.api.middleware import AccessLog, ActiveRequests
from service.metrics.worker import WorkerMetrics


class _Opening:
    """An engine that serves as soon as somebody waits for it."""

    def __init__(self) -> None:
        self.opened = False

    async def wait_until_open(self) -> None:
        self.opened = True


def _scope(path: str, engine: _Opening) -> Scope:
    worker = SimpleNamespace(
        engine=engine, active_requests=ActiveRequests(), metrics=WorkerMetrics(), traces=TraceBook()
    )
    state = {"app_state": SimpleNamespace(worker=worker, tracing=None)}
    return {"type": "http", "method": "GET", "path": path, "headers": [], "state": state}


@pytest.mark.parametrize(("path", "waited"), [("/extract", True), ("/livez", False), ("/metrics", False)])
def test_only_a_request_for_work_waits_for_an_engine_that_was_never_ready(path: str, waited: bool) -> None:
    engine, sent = _Opening(), []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(AccessLog(PlainTextResponse("served"))(_scope(path, engine), receive, send))
    assert (engine.opened, sent[0]["status"]) == (waited, 200)
