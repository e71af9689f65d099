"""ASGI application of one API worker: FastAPI with all routes, inside the access log and the internal port."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any

from fastapi import FastAPI, Request
from gunicorn.arbiter import Arbiter
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Scope

from service.api import docs_page, problems
from service.api.adapters.protocol_adapter import Refuse
from service.api.adapters.registry import AdapterRegistry, open_adapters
from service.api.calls import AppState, open_tracing
from service.api.connection.connections import Connections, connection_limits
from service.api.console import routes as console_routes
from service.api.console.console import open_console
from service.api.engine.routing import CanaryRouter
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.http.response import CLIENT_CLOSED_REQUEST
from service.api.middleware import ROUTES, UNNAMED, AccessLog, InternalPort, OwnNames, RouteName, is_loopback
from service.api.openapi import openapi_document
from service.api.routes import router
from service.api.worker import Worker, open_worker
from service.core.errors import GleanerError, InternalError, MalformedRequest, UnknownRoute, WrongMethod
from service.core.types import Phase
from service.environment import distribution_version
from service.process import exit_now, raise_open_files
from service.settings import Settings

log = logging.getLogger(__name__)


def create_app(settings: Settings, *, replaces: bool = False) -> ASGIApp:
    """Build the application; its lifespan starts and stops the worker's parts.

    Args:
        replaces: the worker replaces one that ended, beside others that serve. It accepts no connections until the
            engine has answered it: before that it would refuse requests that the others answer.
    """
    registry = open_adapters(settings.adapters)
    app = FastAPI(
        version=distribution_version(),
        lifespan=lambda app: _lifespan(app, settings, registry, replaces),
        routes=router.routes,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.router.routes.extend(registry.routes)
    console = settings.console != "off"
    if console:
        app.include_router(console_routes.router)
    keyed = bool(settings.api_keys_file or settings.api_keys)
    app.openapi = cache(partial(openapi_document, app.version, registry.operations(), keyed=keyed))  # type: ignore[method-assign]
    app.add_api_route("/openapi.json", _page_of(app.openapi), include_in_schema=False)
    app.router.routes.extend(docs_page.ROUTES)
    app.add_exception_handler(GleanerError, _problem)
    app.add_exception_handler(ClientDisconnect, _disconnected)
    app.add_exception_handler(HTTPException, partial(_not_routed, registry))
    app.add_exception_handler(Exception, _failed)
    inner: ASGIApp = app
    if settings.internal_port:
        inner = InternalPort(
            app, settings.internal_port, lambda scope: registry.match(scope) is not None, console=console
        )
    if not keyed and is_loopback(settings.host) and settings.console != "on":
        inner = OwnNames(inner)
    return AccessLog(inner, partial(_adapter_route, registry))


@asynccontextmanager
async def _lifespan(
    app: FastAPI, settings: Settings, registry: AdapterRegistry, replaces: bool
) -> AsyncIterator[dict[str, Any]]:
    async with open_worker(settings) as worker, _access(settings, worker) as access:
        worker.starting.add_done_callback(_end_if_failed)
        app_state = AppState(
            worker=worker,
            access=access,
            body_limits=BodyLimits(settings.max_request_bytes),
            deadline_seconds=settings.deadline_ms / 1000,
            canary=CanaryRouter(settings.canary_percent),
            tracing=open_tracing(app.version),
        )
        limits = connection_limits(settings, raise_open_files())
        connections = Connections(
            limits,
            worker.metrics,
            backlog_seconds=lambda: worker.engine.backlog_seconds,
            on_overload=worker.engine.count_unread,
            translate=registry.translation,
            starting=lambda: worker.engine.starting,
            draining=lambda: worker.engine.status.phase is Phase.DRAINING,
        )
        async with (
            open_console(settings, worker) as console,
            connections.watched(),
            registry.running(app_state, settings),
        ):
            if replaces:
                await worker.wait_for_engine(alone=settings.front_workers == 1)
            yield {"app_state": app_state, "connections": connections, "console": console}
        if app_state.tracing is not None:
            await asyncio.to_thread(app_state.tracing.stop)


def _end_if_failed(starting: asyncio.Task[None]) -> None:
    """End this process, and by its exit code the API, if the worker's parts cannot be started."""
    if not starting.cancelled() and (error := starting.exception()) is not None:
        log.critical("the worker cannot start: %s", error)
        exit_now(Arbiter.WORKER_BOOT_ERROR)


@asynccontextmanager
async def _access(settings: Settings, worker: Worker) -> AsyncIterator[Access]:
    """Access control of a worker; its keys file is followed while the context is open."""
    access = Access(settings, worker.metrics)
    access.keys.load()
    following = asyncio.create_task(access.keys.follow())
    try:
        yield access
    finally:
        following.cancel()


def _page_of(document: Callable[[], dict[str, Any]]) -> Callable[[], Awaitable[Response]]:
    """A route that answers with a document, which is encoded once."""

    @cache
    def encoded() -> bytes:
        return json.dumps(document(), ensure_ascii=False, separators=(",", ":")).encode()

    async def page() -> Response:
        return Response(encoded(), media_type="application/json")

    return page


def _adapter_route(registry: AdapterRegistry, scope: Scope) -> RouteName | None:
    match = registry.match(scope)
    if match is None:
        return None
    return RouteName(match.adapter.name, True) if match.route.works else UNNAMED


async def _disconnected(_request: Request, _error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, GleanerError)
    return _noted(request, error)


def _noted(request: Request, error: GleanerError, refuse: Refuse = problems.response) -> Response:
    """An error's response, with its code in the request's trace."""
    if (trace := request.scope["state"].get("trace")) is not None:
        trace.code = error.code
    return refuse(error)


async def _not_routed(registry: AdapterRegistry, request: Request, error: Exception) -> Response:
    """The problem document, or the path's adapter's refusal, in place of the framework's own 404, 405 and 400."""
    assert isinstance(error, HTTPException)
    path, allowed = request.url.path.rstrip("/"), (error.headers or {}).get("Allow", "")
    meant = f" Do you mean {path}?" if path in ROUTES else ""
    kinds: dict[int, GleanerError] = {
        404: UnknownRoute(f"There is nothing at this path; /docs lists what there is.{meant}"),
        405: WrongMethod(f"This path does not take {request.method}, but {allowed}."),
    }
    owner = registry.owner(request.url.path)
    refuse = problems.response if owner is None else owner.refuse
    answer = _noted(request, kinds.get(error.status_code) or MalformedRequest(str(error.detail)), refuse)
    answer.headers.update(error.headers or {})
    return answer


async def _failed(request: Request, error: Exception) -> Response:
    """The answer to a defect; the server logs its traceback."""
    return _noted(request, InternalError(f"The service failed over this request ({type(error).__name__})."))
