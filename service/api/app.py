"""The ASGI application of one front worker: routes, error handlers and the access log around a `Worker`."""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp

from service.api import problems
from service.api.http.access import Access
from service.api.http.request_body import BodyLimits
from service.api.http.response import CLIENT_CLOSED_REQUEST
from service.api.idempotency.requests import IdempotentRequests
from service.api.idempotency.store import AnswerStore
from service.api.internal_port import InternalPort
from service.api.middleware import AccessLog
from service.api.routes import AppState, router
from service.api.worker import Worker, open_worker
from service.core.errors import GleanerError
from service.settings import Settings

DESCRIPTION = """Posts documents of any length (text, PDF, DOCX, HTML), gets entities with exact offsets, scores,
pages and boxes. Nothing is ever truncated."""


def create_app(settings: Settings) -> ASGIApp:
    """Build the application; its lifespan starts and stops the worker's parts."""
    app = FastAPI(
        title="Gleaner",
        description=DESCRIPTION,
        version=importlib.metadata.version("gleaner"),
        lifespan=lambda app: _lifespan(app, settings),
        routes=router.routes,
    )
    app.add_exception_handler(GleanerError, _problem)
    app.add_exception_handler(ClientDisconnect, _disconnected)
    return AccessLog(InternalPort(app, settings.internal_port) if settings.internal_port else app)


@asynccontextmanager
async def _lifespan(app: FastAPI, settings: Settings) -> AsyncIterator[dict[str, AppState]]:
    async with open_worker(settings) as worker, _access(settings, worker) as access:
        app_state = AppState(
            worker=worker,
            access=access,
            body_limits=BodyLimits(settings.max_request_bytes, settings.max_request_documents),
            deadline_seconds=settings.deadline_ms / 1000,
            idempotent=IdempotentRequests(_answer_store(settings), worker.metrics),
        )
        yield {"app_state": app_state}


@asynccontextmanager
async def _access(settings: Settings, worker: Worker) -> AsyncIterator[Access]:
    """The access to a worker, whose keys file is followed meanwhile."""
    access = Access(settings, worker.metrics)
    access.keys.load()
    following = asyncio.create_task(access.keys.follow())
    try:
        yield access
    finally:
        following.cancel()


def _answer_store(settings: Settings) -> AnswerStore | None:
    if not settings.idempotency_seconds:
        return None
    folder = settings.sockets / "answers"
    return AnswerStore(folder, settings.idempotency_seconds, settings.idempotency_client_bytes)


async def _disconnected(_request: Request, _error: Exception) -> Response:
    return Response(status_code=CLIENT_CLOSED_REQUEST)


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, GleanerError)
    return problems.response(error)
