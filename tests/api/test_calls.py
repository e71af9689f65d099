"""What a request meets on its way to the engine, and in which order."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.types import Message

from service.api import routes
from service.api.calls import AppState
from service.api.engine.client import RevisionLeases
from service.api.engine.routing import CanaryRouter
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.worker import Worker
from service.core.errors import QueueFull
from service.core.tenants import Tenant
from service.core.types import Phase
from service.metrics.worker import WorkerMetrics
from service.wire import Status
from tests.support.engine_endpoint import MODEL


class FullQueue:
    """An extractor whose engine lately refused such documents."""

    def task(self, *_: object) -> None:
        """Nothing is asked of the model."""

    def refuse_all_again(self, sources: Sequence[DocumentInput], request: ExtractRequest) -> None:
        raise QueueFull("The queue is full.")


def state_of() -> AppState:
    metrics = WorkerMetrics()
    engine = SimpleNamespace(
        status=Status("1", Phase.READY, admitting=True, models=(MODEL,)), connected=True, leases=RevisionLeases()
    )
    worker = SimpleNamespace(engine=engine, parsers=None, metrics=metrics, extractor=FullQueue())
    access = SimpleNamespace(
        tenant=lambda *_: Tenant("a"),
        admit=lambda *_: None,
        charge=lambda *_: None,
        body_limits=lambda *given: given[2],
    )
    return AppState(cast(Worker, worker), cast(Access, access), BodyLimits(1_000, 3), 10.0, CanaryRouter(0.0))


def request_of(state: AppState) -> Request:
    async def receive() -> Message:
        return {"type": "http.request", "body": b'{"text": "a"}', "more_body": False}

    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/extract",
        "headers": [(b"content-type", b"application/json")],
        "query_string": b"",
        "state": {"app_state": state, "arrived_seconds": time.monotonic()},
    }
    return Request(scope, receive)


def test_documents_that_were_just_refused_are_refused_before_any_work() -> None:
    with pytest.raises(QueueFull):
        asyncio.run(routes.extract(request_of(state_of())))
