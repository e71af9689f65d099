"""The HTTP routes: /extract, /livez, /readyz, /models, /metrics. A document's way is in `extraction`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from service.api.engine.routing import find_model, refuse_unless_serving
from service.api.extraction.request import ExtractRequest
from service.api.http.auth import ApiKeys, presented_key, sender_of
from service.api.http.request_body import BodyLimits, read_body
from service.api.http.response import json_response, ndjson_lines, start_documents, unless_disconnected
from service.api.openapi import EXTRACT, MODELS, READY
from service.api.worker import Worker
from service.core.types import Phase
from service.metrics.exposition import CONTENT_TYPE, exposition

NDJSON = "application/x-ndjson"

router = APIRouter()


@dataclass(frozen=True, slots=True)
class AppState:
    """What the routes share within one worker process: `request.state.app_state`."""

    worker: Worker
    keys: ApiKeys
    body_limits: BodyLimits
    deadline_seconds: float


@router.post("/extract", summary="Documents in, entities out", **EXTRACT)
async def extract(request: Request) -> Response:
    begun = time.monotonic()
    state: AppState = request.state.app_state
    worker, engine = state.worker, state.worker.engine
    client = state.keys.client(presented_key(request.headers))
    refuse_unless_serving(engine.status, engine.connected)
    body = await read_body(request, state.body_limits)
    model = find_model(engine.status.models, body.options.model)
    milliseconds = body.options.deadline_ms
    deadline = begun + (milliseconds / 1000 if milliseconds else state.deadline_seconds)
    sender = sender_of(client, request.client.host if request.client else None)
    alone = len(body.sources) == 1
    extract_request = ExtractRequest(model, body.options, client, deadline, alone=alone, sender=sender)
    start = partial(start_documents, worker.extractor, worker.metrics, body, extract_request)
    if NDJSON in request.headers.get("accept", ""):
        lines = ndjson_lines(start, extract_request, begun)
        engine.leases.hold_while_alive(model.revision, lines)
        return StreamingResponse(lines, media_type=NDJSON)
    with engine.leases.hold(model.revision):
        return await unless_disconnected(request, json_response(start(), body, extract_request, begun))


@router.get("/livez", summary="Is the process alive?")
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


@router.get("/metrics", summary="Metrics for Prometheus")
async def metrics() -> Response:
    return Response(await asyncio.to_thread(exposition), headers={"Content-Type": CONTENT_TYPE})
