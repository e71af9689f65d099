"""The short way: one route answered without the framework, all else as before, errors answered where they are known."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from service.api.short_way import ShortWay


async def _framework(_scope: Scope, _receive: Receive, send: Send) -> None:
    await Response(b"framework")(_scope, _receive, send)


async def _endpoint(request: Request) -> Response:
    match request.headers.get("x-fail"):
        case "known":
            raise KeyError("known")
        case "defect":
            raise ValueError("defect")
    return Response(b"endpoint")


async def _known(_request: Request, error: Exception) -> Response:
    return Response(repr(error), 404)


async def _defect(_request: Request, error: Exception) -> Response:
    return Response(repr(error), 500)


def ask(method: str, path: str, fail: str = "") -> tuple[int, bytes]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": method, "path": path, "headers": [(b"x-fail", fail.encode())]}
    app = ShortWay(_framework, "/extract", _endpoint, {KeyError: _known}, _defect)
    try:
        asyncio.run(app(scope, receive, send))
    finally:
        status, body = sent
    return status["status"], body["body"]


def test_only_its_own_path_and_method_go_the_short_way() -> None:
    assert ask("POST", "/extract") == (200, b"endpoint")
    assert ask("GET", "/extract") == (200, b"framework")
    assert ask("POST", "/extract/") == (200, b"framework")


def test_a_known_error_is_answered() -> None:
    assert ask("POST", "/extract", "known") == (404, b"KeyError('known')")


def test_a_defect_is_answered_and_left_to_the_server() -> None:
    with pytest.raises(ValueError, match="defect"):
        ask("POST", "/extract", "defect")
