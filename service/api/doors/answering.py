"""What doors have in common over HTTP: reading a body, and one answer made of its documents' results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api.bodies.door_json import DoorBody
from service.api.bodies.kinds import DoorJson
from service.api.bodies.received_body import ReceivedBody
from service.api.calls import Call, RequestContext
from service.api.doors.doorway import JSON
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body, read_all
from service.api.http.response import ENTITIES_AT_ONCE, REVISION_HEADER, DocumentOutcome, unless_disconnected
from service.api.schemas import DocumentResult, read_options
from service.core.errors import DocumentTooLarge, MalformedRequest

_D = TypeVar("_D", bound=DoorBody)


@dataclass(frozen=True, slots=True)
class Formed:
    """The content of an answer that is not JSON alone."""

    content: bytes
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


Form = Callable[[list[DocumentOutcome]], Any]
"""Makes an answer from documents as they ended: its content, or the value whose JSON that is.

Raises the error of a document that failed, where the protocol has no place for it.
"""


async def read(request: Request, context: RequestContext) -> ReceivedBody:
    """The body, within the limit of one request."""
    return await read_all(request, context.state.body_limits)


async def asked(body: ReceivedBody, context: RequestContext, kind: type[_D]) -> _D:
    """What a body asks for, as this type; raises as `JsonReader` does."""
    return await context.reader.read(body, DoorJson(kind), context.state.body_limits.documents)


def text_body(texts: Sequence[str], context: RequestContext, **options: Any) -> Body:
    """The texts as documents, with these options of /extract.

    Raises:
        MalformedRequest: there are none.
        DocumentTooLarge: more than one request may have.
        InvalidOptions: a bad value.
    """
    if not texts:
        raise MalformedRequest("There is no text in this request.")
    most = context.state.body_limits.documents
    if len(texts) > most:
        raise DocumentTooLarge(f"{len(texts)} texts came; one request may have {most}.")
    sources = tuple(DocumentInput(str(number), text=text) for number, text in enumerate(texts))
    return Body(sources, read_options(options), batch=len(texts) > 1)


async def answer(request: Request, call: Call, form: Form, media_type: str = JSON) -> Response:
    """The answer to a request whose body was read.

    Raises:
        GleanerError: what `form` raises.
    """
    return await unless_disconnected(request, _formed(call, form, media_type))


def results(outcomes: list[DocumentOutcome]) -> list[DocumentResult]:
    """The results of documents that must all have been answered; raises the error of the first that was not."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.result for outcome in outcomes]


async def _formed(call: Call, form: Form, media_type: str) -> Response:
    outcomes = await call.outcomes()
    if sum(len(each.result.entities) for each in outcomes) > ENTITIES_AT_ONCE:
        formed = await asyncio.to_thread(_encoded, form, outcomes, media_type)
    else:
        formed = _encoded(form, outcomes, media_type)
    headers = {REVISION_HEADER: call.revision, **formed.headers}
    return Response(formed.content, headers=headers, media_type=formed.media_type)


def _encoded(form: Form, outcomes: list[DocumentOutcome], media_type: str) -> Formed:
    found = form(outcomes)
    return found if isinstance(found, Formed) else Formed(msgspec.json.encode(found), media_type)
