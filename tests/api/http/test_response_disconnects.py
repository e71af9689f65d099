"""Work for a client that disconnects is cancelled."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message

from service.api.http.request_scope import DISCONNECT, DisconnectNotice
from service.api.http.response import CLIENT_CLOSED_REQUEST, unless_disconnected


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


def test_work_that_ends_is_the_answer_and_nothing_is_left_behind() -> None:
    async def scene() -> None:
        async def work() -> Response:
            return Response(b"done")

        answer = await unless_disconnected(Caller().request(), work())
        assert answer.body == b"done"
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(scene())


def test_where_the_server_tells_of_a_departure_no_task_waits_for_it() -> None:
    async def scene() -> None:
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

    asyncio.run(scene())


def test_the_work_for_a_client_that_has_left_before_ends_at_its_first_wait_with_what_it_began() -> None:
    async def scene() -> None:
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

    asyncio.run(scene())


def test_a_departure_after_the_answer_cancels_nothing() -> None:
    async def scene() -> None:
        disconnect = DisconnectNotice()

        async def work() -> Response:
            return Response(b"done")

        request = Request({"type": "http", "headers": [], "state": {DISCONNECT: disconnect}}, Caller().receive)
        assert (await unless_disconnected(request, work())).body == b"done"
        disconnect.tell()
        await asyncio.sleep(0)

    asyncio.run(scene())


def test_a_disconnect_cancels_the_work_and_waits_for_its_cleanup() -> None:
    async def scene() -> None:
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

    asyncio.run(scene())


def test_work_that_fails_fails_as_it_would_alone() -> None:
    async def scene() -> None:
        async def work() -> Response:
            raise ValueError("a bug")

        with pytest.raises(ValueError, match="a bug"):
            await unless_disconnected(Caller().request(), work())

    asyncio.run(scene())


def test_a_cancelled_request_cancels_the_work() -> None:
    async def scene() -> None:
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

    asyncio.run(scene())
