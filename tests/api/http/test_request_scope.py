"""Request scope: deadlines from arrival, and work that ends with its client."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from service.api import routes
from service.api.calls import AppState
from service.api.engine.routing import CanaryRouter
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.http.request_scope import DISCONNECT, DisconnectNotice, request_start_time
from service.api.http.response import CLIENT_CLOSED_REQUEST, unless_disconnected
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
    access = cast(Access, SimpleNamespace(tenant=lambda *_: Tenant("a"), admit=lambda *_: None))
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


def test_a_request_past_its_deadline_is_refused_before_its_body_is_read() -> None:
    sender = FakeSender()
    with pytest.raises(DeadlineExceeded):
        answer(sender, 11.0)
    assert sender.asked == 0


class Caller:
    """A client's connection as ASGI has it, which a test can end."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.messages: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive(self) -> Message:
        if self.messages:
            return self.messages.pop()
        await self.gone.wait()
        return {"type": "http.disconnect"}

    def request(self) -> Request:
        return Request({"type": "http", "headers": []}, self.receive)


async def test_work_that_ends_is_the_answer_and_nothing_is_left_behind() -> None:
    async def work() -> Response:
        return Response(b"done")

    answer = await unless_disconnected(Caller().request(), work())
    assert answer.body == b"done"
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_where_the_server_tells_of_a_departure_no_task_waits_for_it() -> None:
    disconnect, cleaned = DisconnectNotice(), asyncio.Event()
    request = Request({"type": "http", "headers": [], "state": {DISCONNECT: disconnect}}, Caller().receive)

    async def work() -> Response:
        assert asyncio.all_tasks() == {asyncio.current_task()}
        disconnect.tell()
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()
        raise AssertionError("nothing sets the event")

    answer = await unless_disconnected(request, work())
    assert answer.status_code == CLIENT_CLOSED_REQUEST
    assert cleaned.is_set()


async def test_work_for_a_client_that_has_left_ends_at_its_first_wait() -> None:
    disconnect = DisconnectNotice()
    disconnect.tell()
    documents = [asyncio.create_task(asyncio.Event().wait())]

    async def work() -> Response:
        try:
            await asyncio.gather(*documents)
        finally:
            for each in documents:
                each.cancel()
        raise AssertionError("nothing sets the event")

    request = Request({"type": "http", "headers": [], "state": {DISCONNECT: disconnect}}, Caller().receive)
    answer = await unless_disconnected(request, work())
    assert answer.status_code == CLIENT_CLOSED_REQUEST
    await asyncio.wait(documents)
    assert documents[0].cancelled()


async def test_a_departure_after_the_answer_cancels_nothing() -> None:
    disconnect = DisconnectNotice()

    async def work() -> Response:
        return Response(b"done")

    request = Request({"type": "http", "headers": [], "state": {DISCONNECT: disconnect}}, Caller().receive)
    assert (await unless_disconnected(request, work())).body == b"done"
    disconnect.tell()
    await asyncio.sleep(0)


async def test_a_disconnect_cancels_the_work_and_waits_for_its_cleanup() -> None:
    caller, cleaned = Caller(), asyncio.Event()

    async def work() -> Response:
        caller.gone.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.set()
        raise AssertionError("nothing sets the event")

    answer = await unless_disconnected(caller.request(), work())
    assert answer.status_code == CLIENT_CLOSED_REQUEST
    assert cleaned.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_work_that_fails_fails_as_it_would_alone() -> None:
    async def work() -> Response:
        raise ValueError("a bug")

    with pytest.raises(ValueError, match="a bug"):
        await unless_disconnected(Caller().request(), work())


async def test_a_cancelled_request_cancels_the_work() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> Response:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError("nothing sets the event")

    serving = asyncio.create_task(unless_disconnected(Caller().request(), work()))
    await begun.wait()
    serving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await serving
    assert cancelled.is_set()
