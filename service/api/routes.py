"""The HTTP routes: /extract, /livez, /readyz, /models, /metrics. A document's way is in `extraction`."""

from __future__ import annotations

import asyncio

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from service.api.calls import AppState, visit
from service.api.http.request_body import read_body
from service.api.http.response import json_response, ndjson_lines, unless_disconnected
from service.api.openapi.operations import EXTRACT, MODELS, READY, ROUTE
from service.core.types import Phase
from service.metrics.exposition import CONTENT_TYPE, exposition

NDJSON = "application/x-ndjson"

router = APIRouter()


@router.post("/extract", summary="Documents in, entities out", **EXTRACT)
async def extract(request: Request) -> Response:
    state: AppState = request.state.app_state
    visited = visit(request)
    body = await read_body(request, state.body_limits, visited.reader)
    call = visited.call(body)
    leases = state.worker.engine.leases
    call.refuse_again()
    if NDJSON in request.headers.get("accept", ""):
        lines = ndjson_lines(call.start, call.request, call.begun_seconds)
        leases.hold_while_alive(call.revision, lines)
        return StreamingResponse(lines, media_type=NDJSON)
    with leases.hold(call.revision):
        return await unless_disconnected(request, json_response(call.start(), body, call.request, call.begun_seconds))


@router.get("/livez", summary="Is the process alive?", **ROUTE)
async def livez() -> dict[str, str]:
    return {"status": "alive"}


@router.get("/readyz", summary="Is the service ready?", **READY)
async def readyz(request: Request) -> Response:
    engine = request.state.app_state.worker.engine
    status = engine.status
    ready = engine.connected and status.phase is Phase.READY
    phase = status.phase if engine.connected else Phase.LOADING
    report = {"phase": phase, "percent": status.percent if engine.connected else 0, "detail": status.detail}
    return Response(msgspec.json.encode(report), 200 if ready else 503, media_type="application/json")


@router.get("/models", summary="Which models are served?", **MODELS)
async def models(request: Request) -> Response:
    status = request.state.app_state.worker.engine.status
    shown = [
        {name: value for name, value in msgspec.to_builtins(model).items() if name != "folder"}
        for model in status.models
    ]
    body = {"models": shown, "device": status.device, "dtype": status.dtype, "start_seconds": status.start_seconds}
    return Response(msgspec.json.encode(body), media_type="application/json")


@router.get("/metrics", summary="Metrics for Prometheus", response_class=PlainTextResponse, **ROUTE)
async def metrics() -> Response:
    return Response(await asyncio.to_thread(exposition), headers={"Content-Type": CONTENT_TYPE})
