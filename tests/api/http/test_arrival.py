"""A deadline counts from a request's first byte, wherever the server says when that came."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.types import Message

from service.api import routes
from service.api.calls import AppState
from service.api.engine.routing import CanaryRouter
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.http.request_scope import request_start_time
from service.api.worker import Worker
from service.core.admission.size import RefusalCache
from service.core.errors import DeadlineExceeded
from service.core.tenants import Tenant
from service.core.types import Phase
from service.wire import Status
from tests.support.engine_endpoint import MODEL


@pytest.mark.parametrize(
    ("scope", "arrived"),
    [
        ({"state": {"arrived_seconds": 7.5}}, 7.5),
        ({"state": {"arrived_seconds": 12.0}}, 10.0),
        ({"state": {"arrived_seconds": "7"}}, 10.0),
        ({"state": {}}, 10.0),
        ({}, 10.0),
    ],
)
def test_a_request_came_when_the_server_says_and_never_later_than_now(scope: dict[str, Any], arrived: float) -> None:
    assert request_start_time(scope, 10.0) == arrived


class FakeSender:
    """A client that counts how often its body is asked for."""

    asked = 0

    async def receive(self) -> Message:
        self.asked += 1
        return {"type": "http.request", "body": b'{"text": "a"}', "more_body": False}


def answer(sender: FakeSender, waited_seconds: float) -> object:
    """What /extract makes of a request that has waited so long, with a deadline of ten seconds by default."""
    engine = SimpleNamespace(
        status=Status("1", Phase.READY, admitting=True, models=(MODEL,)), connected=True, refusals=RefusalCache()
    )
    worker = cast(Worker, SimpleNamespace(engine=engine))
    access = cast(Access, SimpleNamespace(enter=lambda *_: Tenant("a")))
    state = AppState(worker, access, BodyLimits(1_000, 3), 10.0, CanaryRouter(0.0))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/extract",
        "headers": [(b"content-type", b"application/json")],
        "query_string": b"",
        "state": {"app_state": state, "arrived_seconds": time.monotonic() - waited_seconds},
    }
    return asyncio.run(routes.extract(Request(scope, sender.receive)))


def test_a_request_that_waited_beyond_its_deadline_is_refused_before_its_body_is_asked_for() -> None:
    sender = FakeSender()
    with pytest.raises(DeadlineExceeded):
        answer(sender, 11.0)
    assert sender.asked == 0
