"""Registry of the open protocol adapters: imports them, mounts their routes, and finds a request's adapter.

An adapter that is closed is not imported.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from importlib import import_module

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from service.api.adapters.protocol_adapter import AdapterRoute, ProtocolAdapter
from service.api.calls import AppState
from service.api.connection.refusals import Translation
from service.api.http.response import CLIENT_CLOSED_REQUEST
from service.core.errors import GleanerError, InternalError, WrongMethod
from service.settings import Settings
from service.signals.routes import OTHER

Headers = Sequence[tuple[bytes, bytes]]
_PARAMETER = re.compile(r"\{(\w+)(:path)?\}")
_MATCH = "adapter_match"


@dataclass(frozen=True, slots=True)
class RouteMatch:
    """The adapter and the route that a request is for, and the path's parameters."""

    adapter: ProtocolAdapter
    route: AdapterRoute
    parameters: Mapping[str, str] = field(default_factory=dict)


class MountedRoute(Route):
    """A Starlette route that answers for an adapter, also errors, in its protocol's form.

    At `/`, where the console may be, only requests with the route's own method are the adapter's.
    """

    def __init__(self, adapter: ProtocolAdapter, route: AdapterRoute, allowed: Iterable[str]) -> None:
        super().__init__(route.path, self._answer, methods=[route.method], include_in_schema=False)
        self.app = self._answer
        self.adapter, self.route = adapter, route
        self._allowed = ", ".join(sorted(allowed))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as Starlette does, but no parameter may be empty."""
        match, found = super().matches(scope)
        if match is Match.NONE or not all(found["path_params"].values()):
            return Match.NONE, {}
        if self.route.header and all(name != self.route.header for name, _ in scope["headers"]):
            return Match.NONE, {}
        return (Match.NONE, {}) if match is Match.PARTIAL and self.path == "/" else (match, found)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse its method."""
        if scope["method"] == self.route.method:
            await self._answer(scope, receive, send)
            return
        response = self.adapter.refuse(WrongMethod(f"This path takes {self._allowed}."))
        response.headers["Allow"] = self._allowed
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._response(Request(scope, receive))
        except Exception as error:
            failed = InternalError(f"The service failed over this request ({type(error).__name__}).")
            await self.adapter.refuse(failed)(scope, receive, send)
            raise
        await response(scope, receive, send)

    async def _response(self, request: Request) -> ASGIApp:
        try:
            answer: ASGIApp = await self.route.handler(request, **request.path_params)
        except GleanerError as error:
            return self.adapter.refuse(error.with_traceback(None))
        except ClientDisconnect:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        return answer


class AdapterRegistry:
    """The open adapters with their mounted routes; those that ask for a header come first."""

    def __init__(self, adapters: Iterable[ProtocolAdapter]) -> None:
        self.adapters = tuple(adapters)
        pairs = [(adapter, route) for adapter in self.adapters for route in adapter.routes]
        self.routes = [
            MountedRoute(adapter, route, {each.method for _, each in pairs if each.path == route.path})
            for adapter, route in sorted(pairs, key=lambda pair: not pair[1].header)
        ]

    def find(self, method: str, path: str, headers: Headers) -> RouteMatch | None:
        """The adapter and the route of a request; None if it is for none."""
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        for route in self.routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                return RouteMatch(route.adapter, route.route, found["path_params"])
        return None

    def match(self, scope: Scope) -> RouteMatch | None:
        """`find` of a request's scope, which keeps what was found."""
        state = scope.setdefault("state", {})
        if _MATCH not in state:
            state[_MATCH] = self.find(scope["method"], scope["path"], scope["headers"])
        match: RouteMatch | None = state[_MATCH]
        return match

    def translation(self, method: str, path: str, headers: Headers, error: GleanerError) -> Translation | None:
        """The refusal of a request that was not read, in the form of the protocol that it is for."""
        match = self.find("GET" if method == "HEAD" else method, path, headers)
        if match is None:
            owner = self.owner(path)
            return None if owner is None else Translation(OTHER, owner.refuse(error))
        return Translation(match.adapter.name if match.route.works else OTHER, match.adapter.refuse(error))

    def owner(self, path: str) -> ProtocolAdapter | None:
        """The adapter under whose prefix a path is, whether or not one of its routes takes it."""
        return next((each for each in self.adapters if each.prefix and path.startswith(each.prefix)), None)

    @asynccontextmanager
    async def running(self, state: AppState, settings: Settings) -> AsyncIterator[None]:
        """Run what the open adapters need beside their routes while the context is open."""
        async with AsyncExitStack() as stack:
            for adapter in self.adapters:
                if adapter.running is not None:
                    await stack.enter_async_context(adapter.running(state, settings))
            yield

    def operations(self) -> Mapping[str, list[AdapterRoute]]:
        """The routes by path, as OpenAPI writes it."""
        found: dict[str, list[AdapterRoute]] = {}
        for mounted in self.routes:
            found.setdefault(_PARAMETER.sub(r"{\1}", mounted.path), []).append(mounted.route)
        return found


def open_adapters(names: Iterable[str]) -> AdapterRegistry:
    """Import the adapters of these names, each from the module of its name."""
    return AdapterRegistry(import_module(f"service.api.adapters.{name}").ADAPTER for name in names)
