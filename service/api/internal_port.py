"""The internal port: what is for operators alone is answered there, and nothing else is but the probes, and documents,
which the operators' console posts.

Which port a request came in on is read off its socket, so no header can claim another.
"""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

INTERNAL = frozenset({"metrics", "models", "docs", "redoc", "openapi.json", "console"})
PROBES = frozenset({"livez", "readyz"})
DOCUMENTS = frozenset({"extract"})
NOWHERE = "/nowhere"
"""No route: to the other port's callers a path is as unknown as any."""


class InternalPort:
    """Hides the operators' routes on every port but one, and all others there. Plain ASGI.

    `is_door`: true for a request that is for clients though its path looks like an operator's (POST /models/…);
    `console`: it is on that port, and posts its documents there.
    """

    def __init__(
        self, app: ASGIApp, port: int, is_door: Callable[[Scope], bool] = lambda _scope: False, *, console: bool = True
    ) -> None:
        self._app = app
        self._port = port
        self._is_door = is_door
        self._anywhere = PROBES | DOCUMENTS if console else PROBES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_hidden(scope):
            scope = {**scope, "path": NOWHERE, "raw_path": NOWHERE.encode()}
        await self._app(scope, receive, send)

    def _is_hidden(self, scope: Scope) -> bool:
        name = scope["path"].removeprefix("/").partition("/")[0]
        on_internal_port: bool = scope["server"][1] == self._port
        internal = name in INTERNAL and not self._is_door(scope)
        return name not in self._anywhere and internal != on_internal_port
