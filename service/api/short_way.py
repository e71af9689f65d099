"""The short way of an ASGI application: one route without the framework's layers, which cost more than its own work.

The framework still has the route, for its documentation and for every other method of its path.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]
OnError = Callable[[Request, Exception], Awaitable[Response]]


class ShortWay:
    """Lets `endpoint` answer POST requests to `path`, and the application all others.

    Args:
        on_error: makes the response to an error of these kinds that the endpoint raises.
        on_defect: to any other, which is then raised for the server to log.
    """

    def __init__(
        self, app: ASGIApp, path: str, endpoint: Endpoint, on_error: dict[type[Exception], OnError], on_defect: OnError
    ) -> None:
        self._app = app
        self._path = path
        self._endpoint = endpoint
        self._on_error = on_error
        self._on_defect = on_defect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._endpoint(request)
        except Exception as error:
            handler = next((each for kind, each in self._on_error.items() if isinstance(error, kind)), None)
            if handler is None:
                await (await self._on_defect(request, error))(scope, receive, send)
                raise
            response = await handler(request, error)
        await response(scope, receive, send)
