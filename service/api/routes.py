"""The HTTP routes: /extract, /livez, /readyz, /models, /metrics. A document's way is in `extraction`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from service.api.engine.routing import find_model, refuse_unless_serving
from service.api.extraction.request import ExtractRequest, refuse_if_late
from service.api.http.access import Access
from service.api.http.arrival import arrived_seconds
from service.api.http.auth import sender_of
from service.api.http.request_body import BodyLimits, read_body
from service.api.http.response import json_response, ndjson_lines, start_documents, unless_disconnected
from service.api.idempotency.requests import IdempotentRequests
from service.api.openapi.operations import EXTRACT, MODELS, READY, ROUTE
from service.api.worker import Worker
from service.core.types import Phase
from service.metrics.exposition import CONTENT_TYPE, exposition

if TYPE_CHECKING:
    from service.api.tracing.otel import OtelTracing

NDJSON = "application/x-ndjson"

router = APIRouter()


@dataclass(frozen=True, slots=True)
class AppState:
    """What the routes share within one worker process: `request.state.app_state`."""

    worker: Worker
    access: Access
    body_limits: BodyLimits
    deadline_seconds: float
    idempotent: IdempotentRequests
    tracing: OtelTracing | None = None


@router.post("/extract", summary="Documents in, entities out", **EXTRACT)
async def extract(request: Request) -> Response:
    begun = arrived_seconds(request.scope, time.monotonic())
    state: AppState = request.state.app_state
    worker, engine = state.worker, state.worker.engine
    tenant = state.access.enter(request.headers, request.client.host if request.client else "", begun)
    refuse_unless_serving(engine.status, engine.connected)
    refuse_if_late(begun + state.deadline_seconds, time.monotonic())
    body = await read_body(request, state.body_limits)
    model = find_model(engine.status.models, body.options.model)
    milliseconds = body.options.deadline_ms
    deadline = begun + (milliseconds / 1000 if milliseconds else state.deadline_seconds)
    state.access.brought(tenant, request.headers, body, begun)
    extract_request = ExtractRequest(
        model,
        body.options,
        tenant.name,
        deadline,
        alone=len(body.sources) == 1,
        quota=tenant.quota,
        charge_tokens=lambda tokens: state.access.served(tenant, tokens, time.monotonic()),
        sender=sender_of(tenant.name, request.client.host if request.client else None),
    )
    start = partial(start_documents, worker.extractor, worker.metrics, body, extract_request)

    async def answer(*, stays: bool) -> Response:
        if NDJSON in request.headers.get("accept", ""):
            lines = ndjson_lines(start, extract_request, begun)
            engine.leases.hold_while_alive(model.revision, lines)
            return StreamingResponse(lines, media_type=NDJSON)
        with engine.leases.hold(model.revision):
            work = json_response(start(), body, extract_request, begun)
            return await (work if stays else unless_disconnected(request, work))

    return await state.idempotent.answer(request, tenant.name, body, deadline, answer)


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
