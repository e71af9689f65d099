"""Protocol adapter: the routes of another service's protocol, translated to the one extraction call and back.

The rule: an adapter translates and never decides. Authorization, limits, deadlines and refusals are those of /extract;
an error keeps its status and its `Retry-After`, and only its body is the protocol's own. What all adapters share is
here: reading and decoding a body, extracting its texts, one answer made of the documents' results, refusals, and the
routes' OpenAPI operations.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.calls import AppState, Call, RequestContext
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body, read_all
from service.api.http.response import ENTITIES_AT_ONCE, REVISION_HEADER, DocumentOutcome, unless_disconnected
from service.api.json_body import decode_json
from service.api.options import read_options
from service.api.problems import MEDIA_TYPE, STATUS
from service.api.schemas import DocumentResult
from service.core.errors import DocumentTooLarge, GleanerError, MalformedRequest
from service.settings import Settings

JSON = "application/json"
_CREDENTIAL = re.compile(r"AWS4-HMAC-SHA256\s+(?:.*,\s*)?Credential=([^/,\s]{1,512})/")
_B = TypeVar("_B")

Handler = Callable[..., Awaitable[Any]]
"""Handler of a request and the path's parameters by name; returns an ASGI application, such as a response."""
Refuse = Callable[[GleanerError], Response]
Running = Callable[[AppState, Settings], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class AdapterRoute:
    """One route of an adapter.

    Attributes:
        path: as Starlette has paths: parameters are `{model}`, or `{model:path}` where slashes may be in them.
        operation: its OpenAPI operation.
        header: the route takes only requests with this header, in lower case; empty: all.
        works: True for a route that extracts entities.
    """

    method: str
    path: str
    handler: Handler
    operation: dict[str, Any]
    header: bytes = b""
    works: bool = True


@dataclass(frozen=True, slots=True)
class ProtocolAdapter:
    """One protocol.

    Attributes:
        refuse: makes the response to an error.
        running: what it runs beside its routes as long as the worker runs.
        prefix: of paths that are all the protocol's: what none of its routes takes is refused in its form. Empty: none.
    """

    name: str
    routes: tuple[AdapterRoute, ...]
    refuse: Refuse
    running: Running | None = None
    prefix: str = ""


def refusal(error: GleanerError, body: object, *, media_type: str = JSON, **headers: str) -> Response:
    """The response to an error: this body, under the error's own status."""
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(msgspec.json.encode(body), STATUS[error.code], {**problems.headers(error), **own}, media_type)


def headers_with_aws_key(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers, with the access key id of a signed request as its API key unless it has one.

    The signature is not checked, as no secret key is known here: the access key id alone is the key, and is worth
    keeping as one. Source: AWS Signature Version 4, the `Authorization` header.
    """
    found = _CREDENTIAL.match(headers.get("authorization", ""))
    if found is None or "x-api-key" in headers:
        return headers
    return {**headers, "x-api-key": found[1]}


async def receive_body(request: Request, context: RequestContext, *, is_json: bool = True) -> bytes:
    """The body, within the limit of JSON or of any request."""
    return await read_all(request, context.body_limits, is_json=is_json)


def decode_body(body: bytes, context: RequestContext, kind: type[_B]) -> _B:
    """The JSON of a body as this type; raises as `decode_json`."""
    limits = context.body_limits
    return limits.decode(body, lambda data: decode_json(data, kind, limits.documents))


def text_body(texts: Sequence[str], context: RequestContext, **options: Any) -> Body:
    """The texts as documents, with these options of /extract.

    Raises:
        MalformedRequest: there are none.
        DocumentTooLarge: more than one request may have.
        InvalidOptions: a bad value.
    """
    if not texts:
        raise MalformedRequest("There is no text in this request.")
    most = context.body_limits.documents
    if len(texts) > most:
        raise DocumentTooLarge(f"{len(texts)} texts came; one request may have {most}.")
    sources = tuple(DocumentInput(str(number), text=text) for number, text in enumerate(texts))
    return Body(sources, read_options(options), batch=len(texts) > 1)


@dataclass(frozen=True, slots=True)
class AnswerContent:
    """The content of an answer that is not JSON alone."""

    content: bytes
    media_type: str
    headers: Mapping[str, str] = field(default_factory=dict)


Render = Callable[[list[DocumentOutcome]], Any]
"""Maker of an answer from finished documents: an `AnswerContent`, or a value that becomes JSON.

Raises the error of a document that failed, where the protocol has no place for it.
"""


Before = Callable[[list[DocumentOutcome]], Awaitable[None]]
"""Work on finished documents that an answer waits for."""


async def respond(
    request: Request, call: Call, render: Render, media_type: str = JSON, *, before: Before | None = None
) -> Response:
    """Extract the call's documents and answer with what `render` makes of them; raises what it raises.

    `before`: what is done before `render` runs.
    """
    return await unless_disconnected(request, _extracted(call, render, media_type, before))


async def _extracted(call: Call, render: Render, media_type: str, before: Before | None) -> Response:
    outcomes = await call.outcomes()
    if before is not None:
        await before(outcomes)
    if sum(len(each.result.entities) for each in outcomes) > ENTITIES_AT_ONCE:
        answer = await asyncio.to_thread(_encoded, render, outcomes, media_type)
    else:
        answer = _encoded(render, outcomes, media_type)
    headers = {REVISION_HEADER: call.revision, **answer.headers}
    return Response(answer.content, headers=headers, media_type=answer.media_type)


def _encoded(render: Render, outcomes: list[DocumentOutcome], media_type: str) -> AnswerContent:
    answer = render(outcomes)
    return answer if isinstance(answer, AnswerContent) else AnswerContent(msgspec.json.encode(answer), media_type)


def results(outcomes: list[DocumentOutcome]) -> list[DocumentResult]:
    """The results of documents that must all have been answered; raises the error of the first that was not."""
    for outcome in outcomes:
        if outcome.error is not None:
            raise outcome.error
    return [outcome.result for outcome in outcomes]


Schemas = Mapping[str, Mapping[str, Any]]
"""A JSON schema by media type."""
BINARY = {"type": "string", "format": "binary"}
NOTHING: Schemas = {}
ERROR_TEXT: Schemas = {JSON: {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}}
"""The body `{"error": "…"}`, which several protocols have."""


def operation(
    summary: str, *, answer: Schemas, error: Schemas, body: Schemas | None = None, status: int = 200
) -> dict[str, Any]:
    """The OpenAPI operation of one route, whose good answer has this status; the summary begins with the protocol.

    Errors are in the protocol's form, but for those of a head that could not be read.
    """
    errors = _content({**error, MEDIA_TYPE: json_schemas.reference("Error")})
    refused = {"description": "Refused; with `Retry-After` where the same may succeed later.", "content": errors}
    described: dict[str, Any] = {
        "tags": [summary.partition(":")[0]],
        "summary": summary,
        "responses": {
            str(status): {"description": "As the protocol has it.", "content": _content(answer)},
            "4XX": refused,
            "5XX": refused,
        },
    }
    if body is not None:
        described["requestBody"] = {"required": True, "content": _content(body)}
    return described


def with_parameters(described: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The operation of a path with these parameters."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}} for name in names
    ]
    return {**described, "parameters": parameters}


def _content(by_type: Schemas) -> dict[str, Any]:
    return {name: {"schema": dict(schema)} for name, schema in by_type.items()}
