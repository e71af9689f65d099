"""HTTP routes: /extract, /redact, /livez, /readyz, /models, /metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response, StreamingResponse

from service.api.calls import AppState, authorize_request
from service.api.http.request_body import read_body
from service.api.http.response import UNBUFFERED, json_response, ndjson_lines, unless_disconnected
from service.api.redaction.answers import redact_response
from service.api.redaction.schemas import RedactOptions
from service.core.errors import InvalidOptions
from service.core.fields.role_weights import FITTED_ON
from service.core.types import Phase
from service.metrics.prometheus import CONTENT_TYPE, exposition
from service.text.pipeline import answered_labels

NDJSON = "application/x-ndjson"


class DirectRoute(APIRoute):
    """A FastAPI route whose endpoint takes the request and returns the response itself.

    FastAPI's parameter injection and response models, which would cost more than the rest of the framework together,
    are left out; `openapi.py` describes the routes.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The endpoint."""
        handler: Callable[[Request], Coroutine[Any, Any, Response]] = self.endpoint
        return handler


router = APIRouter(route_class=DirectRoute)


@router.post("/extract")
async def extract(request: Request) -> Response:
    state: AppState = request.state.app_state
    context = authorize_request(request)
    body = await read_body(request, context.body_limits)
    call = context.call(body)
    leases = state.worker.engine.leases
    call.refuse_again()
    if NDJSON in request.headers.get("accept", ""):
        lines = ndjson_lines(call.start, call.request, call.begun_seconds)
        leases.hold_while_alive(call.revision, lines)
        return StreamingResponse(lines, headers=UNBUFFERED, media_type=NDJSON)
    with leases.hold(call.revision):
        return await unless_disconnected(request, json_response(call.start(), body, call.request, call.begun_seconds))


@router.post("/redact")
async def redact(request: Request) -> Response:
    state: AppState = request.state.app_state
    worker = state.worker
    context = authorize_request(request)
    body = await read_body(request, context.body_limits, RedactOptions)
    options = body.options
    assert isinstance(options, RedactOptions), "read as such"
    if options.raw and len(body.sources) > 1:
        raise InvalidOptions(f"raw: the answer can be one document only, and {len(body.sources)} came.")
    worker.redactor.check(options)
    call = context.call(body)
    call.refuse_again()
    with worker.engine.leases.hold(call.revision):
        work = redact_response(worker.redactor, worker.metrics, body, call.request, options, call.begun_seconds)
        return await unless_disconnected(request, work)


@router.get("/livez")
async def livez(_request: Request) -> Response:
    return Response(b'{"status":"alive"}', media_type="application/json")


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    state: AppState = request.state.app_state
    engine, status = state.worker.engine, state.worker.engine.status
    ready = engine.connected and status.phase is Phase.READY
    phase = status.phase if engine.connected else Phase.LOADING
    detail = status.detail if state.worker.starting.done() else "the parsers start"
    report = {"phase": phase, "percent": status.percent if engine.connected else 0, "detail": detail}
    return Response(msgspec.json.encode(report), 200 if ready else 503, media_type="application/json")


@router.get("/models")
async def models(request: Request) -> Response:
    status = request.state.app_state.worker.engine.status
    shown = [
        {name: value for name, value in msgspec.to_builtins(model).items() if name != "folder"}
        | {"entity_labels": answered_labels(model.labels, has_rules=False)}
        for model in status.models
    ]
    body = {
        "models": shown,
        "device": status.device,
        "dtype": status.dtype,
        "start_seconds": status.start_seconds,
        "fields_fitted_on": FITTED_ON,
    }
    return Response(msgspec.json.encode(body), media_type="application/json")


@router.get("/metrics")
async def metrics(_request: Request) -> Response:
    return Response(await asyncio.to_thread(exposition), headers={"Content-Type": CONTENT_TYPE})
