"""What doors have in common over HTTP: letting a request in, and one answer made of its documents' results."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api.calls import AppState, Call, Visit, let_in
from service.api.doors.doorway import JSON
from service.api.extraction.request import DocumentInput
from service.api.http.answer_encoder import ENTITIES_AT_ONCE
from service.api.http.arrival import arrived_seconds
from service.api.http.request_body import Body, read_all
from service.api.http.response import DocumentOutcome, DoorAnswer, unless_disconnected
from service.api.schemas import DocumentResult, read_options
from service.core.errors import DocumentTooLarge, MalformedRequest

Form = Callable[[list[DocumentOutcome]], Any]
"""Makes the value whose JSON is the answer from documents as they ended; raises the error of one that failed."""


def visit(request: Request, headers: Mapping[str, str] | None = None) -> Visit:
    """Let a request in. `headers`: in the place of its own, where the protocol has keys elsewhere."""
    state: AppState = request.state.app_state
    begun = arrived_seconds(request.scope, time.monotonic())
    address = request.client.host if request.client else None
    return let_in(state, request.headers if headers is None else headers, address, begun)


async def read(request: Request, visited: Visit) -> bytes:
    """The body, within the limit of one request."""
    return await read_all(request, visited.state.body_limits)


def text_body(texts: Sequence[str], visited: Visit, **options: Any) -> Body:
    """The texts as documents, with these options of /extract.

    Raises:
        MalformedRequest: there are none.
        DocumentTooLarge: more than one request may have.
        InvalidOptions: a bad value.
    """
    if not texts:
        raise MalformedRequest("There is no text in this request.")
    most = visited.state.body_limits.documents
    if len(texts) > most:
        raise DocumentTooLarge(f"{len(texts)} texts came; one request may have {most}.")
    sources = tuple(DocumentInput(str(number), text=text) for number, text in enumerate(texts))
    return Body(sources, read_options(options), batch=len(texts) > 1)


async def answer(
    request: Request, visited: Visit, call: Call, form: Form, *, asks: bytes = b"", media_type: str = JSON
) -> Response:
    """The answer to a request whose body was read. `asks`: all that the answer depends on beside documents and options.

    Raises:
        GleanerError: what `form` raises.
    """

    async def answered(*, stays: bool) -> Response:
        work = _formed(call, form, media_type)
        return await (work if stays else unless_disconnected(request, work))

    name = hashlib.sha256(request.url.path.encode() + b"\n" + asks).hexdigest()
    idempotent, deadline = visited.state.idempotent, call.request.deadline_seconds
    return await idempotent.answer(request, visited.tenant.name, call.body, deadline, answered, form=name)


def results(outcomes: list[DocumentOutcome]) -> list[DocumentResult]:
    """The results of documents that must all have been answered; raises the error of the first that was not."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.result for outcome in outcomes]


async def _formed(call: Call, form: Form, media_type: str) -> Response:
    outcomes = await call.outcomes()
    if sum(len(each.result.entities) for each in outcomes) > ENTITIES_AT_ONCE:
        content = await asyncio.to_thread(_encoded, form, outcomes)
    else:
        content = _encoded(form, outcomes)
    final = all(outcome.error is None for outcome in outcomes)
    return DoorAnswer(content, call.revision, media_type=media_type, final=final)


def _encoded(form: Form, outcomes: list[DocumentOutcome]) -> bytes:
    return msgspec.json.encode(form(outcomes))
