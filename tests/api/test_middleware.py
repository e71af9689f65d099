"""Middleware around every request: the two ports."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from service.api.middleware import NOWHERE, InternalPort

PUBLIC, INTERNAL = 8080, 9090


def path_seen(path: str, port: int, *, console: bool = True) -> str:
    """The path that the application behind sees."""
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        raise AssertionError

    scope = {"type": "http", "path": path, "server": ("127.0.0.1", port), "headers": [(b"host", b"x:9090")]}
    asyncio.run(InternalPort(app, INTERNAL, console=console)(scope, receive, send))
    return str(seen[0]["path"])


@pytest.mark.parametrize(
    "path",
    ["/metrics", "/models", "/docs", "/docs/oauth2-redirect", "/redoc", "/openapi.json", "/console", "/console/live"],
)
def test_the_operators_routes_are_on_the_internal_port_alone(path: str) -> None:
    assert path_seen(path, INTERNAL) == path
    assert path_seen(path, PUBLIC) == NOWHERE
    assert path_seen(path + "/", PUBLIC) == NOWHERE


@pytest.mark.parametrize("path", ["/", "//metrics", "/anything", "/metricsx", ""])
def test_the_clients_routes_are_on_the_public_port_alone(path: str) -> None:
    assert path_seen(path, PUBLIC) == path
    assert path_seen(path, INTERNAL) == NOWHERE


@pytest.mark.parametrize("port", [PUBLIC, INTERNAL])
def test_the_probes_and_documents_are_on_both(port: int) -> None:
    paths = ["/livez", "/readyz", "/extract"]
    assert [path_seen(path, port) for path in paths] == paths


def test_without_a_console_documents_are_posted_to_the_public_port_alone() -> None:
    assert path_seen("/extract", INTERNAL, console=False) == NOWHERE
    assert path_seen("/extract", PUBLIC, console=False) == "/extract"


def test_what_is_no_request_passes() -> None:
    kinds: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        kinds.append(scope["type"])

    async def nothing(*_: object) -> Message:
        return {}

    asyncio.run(InternalPort(app, INTERNAL)({"type": "lifespan"}, nothing, nothing))  # type: ignore[arg-type]
    assert kinds == ["lifespan"]
