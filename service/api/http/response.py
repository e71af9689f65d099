"""Responses: one JSON object for all documents of a request, or one NDJSON line for each as it is finished.

The rule: a document's failure is its own. In a batch the others get their results and the status is 200; only when
every document was refused for overload is the batch refused, so that clients and balancers back off. When a client
disconnects, its documents are cancelled, in the engine's queue too.

A long answer is encoded some thousand entities at a time, with a turn of the event loop in between: a million entities
take a quarter of a second to encode, in which nobody else would be answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import msgspec
from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from service.api import problems
from service.api.extraction.request import (
    ExtractRequest,
    FinishedDocument,
    error_of_all,
    gathered,
    total_timer,
)
from service.api.http.request_body import Body
from service.api.http.request_scope import DisconnectNotice, disconnect_notice, until_disconnect
from service.api.schemas import DocumentLine, DocumentResult, ExtractResult, ModelName
from service.core.errors import GleanerError

ENTITIES_AT_ONCE = 4_000
"""Most entities that are encoded on the event loop: about a millisecond of work."""

_encode = msgspec.json.Encoder().encode


async def encode_result(result: ExtractResult) -> bytes:
    """The JSON of an answer to all documents of a request."""
    if sum(len(each.entities) for each in result.documents) <= ENTITIES_AT_ONCE:
        return _encode(result)
    return _encode(replace(result, documents=[await _with_encoded_entities(each) for each in result.documents]))


async def encode_line(line: DocumentLine) -> bytes:
    """The JSON of one line of an NDJSON answer, without its line break."""
    if len(line.document.entities) <= ENTITIES_AT_ONCE:
        return _encode(line)
    return _encode(replace(line, document=await _with_encoded_entities(line.document)))


async def _with_encoded_entities(document: DocumentResult) -> DocumentResult:
    """A document that is ready to be encoded at once."""
    parts = []
    for start in range(0, len(document.entities), ENTITIES_AT_ONCE):
        parts.append(_encode(document.entities[start : start + ENTITIES_AT_ONCE])[1:-1])
        await asyncio.sleep(0)
    if not parts:
        return document
    parts[0] = b"[" + parts[0]
    parts[-1] += b"]"
    return replace(document, entities=msgspec.Raw(b",".join(parts)))


CLIENT_CLOSED_REQUEST = 499
"""nginx's status for a client that disconnected: shown by access logs and metrics, received by no client."""

UNBUFFERED = {"X-Accel-Buffering": "no"}
"""Headers of a stream: nginx, and what is built on it, would else hold it back until its buffers are full."""

REVISION_HEADER = "X-Gleaner-Revision"
"""Header with the revision that answered, where a protocol has no place for it."""

DocumentOutcome = FinishedDocument[DocumentResult]
"""Outcome of a document of /extract."""
DocumentTasks = list["asyncio.Task[DocumentOutcome]"]


async def json_response(
    tasks: DocumentTasks, body: Body, extract_request: ExtractRequest, begun_seconds: float
) -> Response:
    """One answer for all documents, in the order in which they were sent."""
    outcomes = await gathered(tasks)
    try:
        result = whole_result(outcomes, body, extract_request, begun_seconds)
    except GleanerError as error:
        return problems.response(error)
    return Response(await encode_result(result), media_type="application/json")


def whole_result(
    outcomes: list[DocumentOutcome], body: Body, extract_request: ExtractRequest, begun_seconds: float
) -> ExtractResult:
    """What all documents of a request came to.

    Raises:
        GleanerError: the only document failed, or all were refused for overload.
    """
    if (error := error_of_all(outcomes, batch=body.batch)) is not None:
        raise error
    timing = total_timer(outcomes).timing(time.monotonic() - begun_seconds)
    return ExtractResult(_model_name(extract_request), [outcome.result for outcome in outcomes], timing)


async def ndjson_lines(
    start: Callable[[], DocumentTasks], extract_request: ExtractRequest, begun_seconds: float
) -> AsyncIterator[bytes]:
    """One JSON line for each document, as soon as it is finished; `start` is called with the first read."""
    tasks = start()
    try:
        for next_outcome in asyncio.as_completed(tasks):
            outcome = await next_outcome
            timing = outcome.timer.timing(time.monotonic() - begun_seconds)
            yield await encode_line(DocumentLine(_model_name(extract_request), outcome.result, timing)) + b"\n"
    finally:
        for task in tasks:
            task.cancel()


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The response of `work`; when the client disconnects first, `work` is cancelled. The body must have been read.

    The HTTP server tells it at once (`disconnect`). Under another server a task waits for it.
    """
    disconnect, watching = disconnect_notice(request.scope), None
    if disconnect is None:
        disconnect = DisconnectNotice()
        watching = asyncio.create_task(_watch(request, disconnect))
    try:
        return await until_disconnect(work, disconnect)
    except ClientDisconnect:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.wait((watching,))


async def _watch(request: Request, disconnect: DisconnectNotice) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    disconnect.tell()


def _model_name(extract_request: ExtractRequest) -> ModelName:
    return ModelName(extract_request.model.name, extract_request.model.revision)
