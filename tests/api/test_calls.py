"""What a request meets on its way to the engine, and in which order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from service.api import routes
from service.api.calls import AppState
from service.api.engine.canary import CanaryRouter
from service.api.engine.leases import RevisionLeases
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.http.access import Access
from service.api.http.json_reader import RequestJsonReader
from service.api.http.request_body import BodyLimits, read_body
from service.api.idempotency.requests import HEADER, IdempotentRequests
from service.api.idempotency.store import AnswerStore
from service.api.parsers.pool import ParserPool
from service.api.worker import Worker
from service.core.errors import QueueFull
from service.core.tenants import Tenant
from service.core.types import Phase
from service.metrics.worker import WorkerMetrics
from service.wire import Status
from tests.support.engine_endpoint import MODEL


class FullQueue:
    """An extractor whose engine lately refused such documents."""

    def refuse_all_again(self, sources: Sequence[DocumentInput], request: ExtractRequest) -> None:
        raise QueueFull("The queue is full.")


def state_of(folder: Path) -> AppState:
    metrics = WorkerMetrics()
    engine = SimpleNamespace(
        status=Status("1", Phase.READY, admitting=True, models=(MODEL,)), connected=True, leases=RevisionLeases()
    )
    worker = SimpleNamespace(engine=engine, parsers=None, metrics=metrics, extractor=FullQueue())
    access = SimpleNamespace(enter=lambda *_: Tenant("a"), brought=lambda *_: None)
    idempotent = IdempotentRequests(AnswerStore(folder, 600.0, 100_000), metrics)
    return AppState(
        cast(Worker, worker), cast(Access, access), BodyLimits(1_000, 3), 10.0, idempotent, CanaryRouter(0.0)
    )


def request_of(state: AppState, key: str) -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"text": "a"}', "more_body": False}

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/extract",
        "headers": [(b"content-type", b"application/json"), (HEADER.lower().encode(), key.encode())],
        "query_string": b"",
        "state": {"app_state": state, "arrived_seconds": time.monotonic()},
    }
    return Request(scope, receive)


async def answer_once(state: AppState, key: str) -> None:
    """Keep an answer to the request with this key."""
    request = request_of(state, key)
    body = await read_body(request, state.body_limits, RequestJsonReader(cast(ParserPool, None), "a", 1e9))

    async def answer(*, stays: bool) -> Response:
        return Response(b'{"documents":[{"error":null}]}', media_type="application/json")

    await state.idempotent.answer(request, "a", body, time.monotonic() + 10.0, answer)


def test_an_answer_is_given_again_also_while_such_documents_are_refused(tmp_path: Path) -> None:
    state = state_of(tmp_path)

    async def scene() -> Response:
        await answer_once(state, "known")
        with pytest.raises(QueueFull):
            await routes.extract(request_of(state, "new"))
        return await routes.extract(request_of(state, "known"))

    response = asyncio.run(scene())
    assert (response.status_code, response.headers["Idempotent-Replayed"]) == (200, "true")
