"""The route /redact: the same way in as /extract's, with the same keys, limits and deadlines."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from service.api.calls import AppState, visit
from service.api.http.request_body import read_body
from service.api.http.response import unless_disconnected
from service.api.redaction.answers import redact_response
from service.api.redaction.operation import REDACT
from service.api.redaction.schemas import RedactOptions
from service.core.errors import InvalidOptions

router = APIRouter()


@router.post("/redact", summary="Documents in, the same without what was found in them out", **REDACT)
async def redact(request: Request) -> Response:
    state: AppState = request.state.app_state
    worker = state.worker
    visited = visit(request)
    body = await read_body(request, state.body_limits, visited.reader, RedactOptions)
    options = body.options
    assert isinstance(options, RedactOptions), "read as such"
    if options.raw and len(body.sources) > 1:
        raise InvalidOptions(f"raw: the answer can be one document only, and {len(body.sources)} came.")
    worker.redactor.check(options)
    call = visited.call(body)
    call.refuse_again()
    with worker.engine.leases.hold(call.revision):
        work = redact_response(worker.redactor, worker.metrics, body, call.request, options, call.begun_seconds)
        return await unless_disconnected(request, work)
