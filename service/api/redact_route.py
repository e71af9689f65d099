"""The route /redact: the same way in as /extract's, with the same keys, limits, deadlines and idempotency."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from service.api.engine.routing import find_model, refuse_unless_serving
from service.api.extraction.request import ExtractRequest, refuse_if_late
from service.api.http.arrival import arrived_seconds
from service.api.http.auth import sender_of
from service.api.http.request_body import read_body
from service.api.http.response import unless_disconnected
from service.api.redaction.answers import redact_response
from service.api.redaction.operation import REDACT
from service.api.redaction.schemas import RedactOptions
from service.api.routes import AppState
from service.core.errors import InvalidOptions

router = APIRouter()


@router.post("/redact", summary="Documents in, the same without what was found in them out", **REDACT)
async def redact(request: Request) -> Response:
    begun = arrived_seconds(request.scope, time.monotonic())
    state: AppState = request.state.app_state
    worker, engine = state.worker, state.worker.engine
    address = request.client.host if request.client else ""
    tenant = state.access.enter(request.headers, address, begun)
    refuse_unless_serving(engine.status, engine.connected)
    refuse_if_late(begun + state.deadline_seconds, time.monotonic())
    body = await read_body(request, state.body_limits, RedactOptions)
    options = body.options
    assert isinstance(options, RedactOptions), "read as such"
    if options.raw and len(body.sources) > 1:
        raise InvalidOptions(f"raw: the answer can be one document only, and {len(body.sources)} came.")
    worker.redactor.check(options)
    model = find_model(engine.status.models, options.model)
    seconds = options.deadline_ms / 1000 if options.deadline_ms else state.deadline_seconds
    state.access.brought(tenant, request.headers, body, begun)
    extract_request = ExtractRequest(
        model,
        options,
        tenant.name,
        begun + seconds,
        alone=len(body.sources) == 1,
        quota=tenant.quota,
        charge_tokens=lambda tokens: state.access.served(tenant, tokens, time.monotonic()),
        sender=sender_of(tenant.name, address or None),
    )

    async def answer(*, stays: bool) -> Response:
        with engine.leases.hold(model.revision):
            work = redact_response(worker.redactor, worker.metrics, body, extract_request, options, begun)
            return await (work if stays else unless_disconnected(request, work))

    return await state.idempotent.answer(request, tenant.name, body, extract_request.deadline_seconds, answer)
