"""Builds the answer from documents as they finish: one JSON object, or one NDJSON line for each document.

The rule: a document's failure is its own. In a batch the others get their results and the status is 200; only when
every document was refused for overload is the batch refused, so that clients and balancers back off. When a client
disconnects, its documents are cancelled, in the engine's queue too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from service.api import problems
from service.api.extraction.extractor import Extractor
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.stage_timer import StageTimer
from service.api.extraction.trace import DocumentTrace
from service.api.http.answer_encoder import encode_line, encode_result
from service.api.http.request_body import Body
from service.api.schemas import DocumentLine, DocumentResult, ExtractResult, ModelName, Timing
from service.core.errors import GleanerError, InternalError, Overloaded
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics

CLIENT_CLOSED_REQUEST = 499
"""nginx's status for a client that disconnected: shown by access logs and metrics, received by no client."""

UNWATCHED_SECONDS = 0.25
"""How long a request is answered before its client's connection is watched."""

REVISION_HEADER = "X-Gleaner-Revision"
"""Names the revision that answered, in answers whose protocol has no place for it."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """A finished document: its result, its stages, and the error if it failed."""

    result: DocumentResult
    timer: StageTimer
    error: GleanerError | None


class DoorAnswer(Response):
    """An answer in another protocol's form. `own`: its headers; `final`: another try would get it too."""

    def __init__(self, content: bytes, own: Mapping[str, str], *, media_type: str, final: bool = True) -> None:
        super().__init__(content, headers=own, media_type=media_type)
        self.own = tuple(own.items())
        self.final = final


DocumentTasks = list["asyncio.Task[DocumentOutcome]"]


def start_documents(
    extractor: Extractor, metrics: WorkerMetrics, body: Body, extract_request: ExtractRequest
) -> DocumentTasks:
    """Start to extract all documents of a request, each in a task of its own."""
    return [asyncio.create_task(_finish(extractor, metrics, source, extract_request)) for source in body.sources]


async def json_response(
    tasks: DocumentTasks, body: Body, extract_request: ExtractRequest, begun_seconds: float
) -> Response:
    """One answer for all documents, in the order in which they were sent."""
    try:
        outcomes = await asyncio.gather(*tasks)
    finally:
        _cancel(tasks)
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
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors and (not body.batch or _all_refused(errors, outcomes)):
        raise errors[0]
    timing = _total(outcomes, time.monotonic() - begun_seconds)
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
        _cancel(tasks)


async def unless_disconnected(request: Request, work: Coroutine[Any, Any, Response]) -> Response:
    """The response of `work`; when the client disconnects first, `work` is cancelled. The body must have been read.

    The client is watched once the work takes a while: most is done sooner, and a task costs more than it would spare.
    """
    answering = asyncio.current_task()
    assert answering is not None, "requests are answered by tasks"
    left = False
    watching: list[asyncio.Task[None]] = []

    async def watch() -> None:
        nonlocal left
        await _disconnect(request)
        left = True
        answering.cancel()

    def begin() -> None:
        watching.append(asyncio.create_task(watch()))

    beginning = asyncio.get_running_loop().call_later(UNWATCHED_SECONDS, begin)
    try:
        return await work
    except asyncio.CancelledError:
        if left and not answering.uncancel():
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        raise
    finally:
        beginning.cancel()
        for task in watching:
            task.cancel()
            await asyncio.wait((task,))


async def _disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _finish(
    extractor: Extractor, metrics: WorkerMetrics, source: DocumentInput, extract_request: ExtractRequest
) -> DocumentOutcome:
    timer = StageTimer()
    try:
        outcome = DocumentOutcome(await extractor.extract(source, extract_request, timer), timer, None)
        extract_request.charge_tokens(outcome.result.tokens)
    except GleanerError as error:
        outcome = _failed(source, timer, error)
    except Exception as error:
        log.exception("a document failed", extra={"event": LogEvent.DOCUMENT_FAILED})
        outcome = _failed(source, timer, InternalError(f"The service failed over this ({type(error).__name__})."))
    _count(metrics, outcome)
    _note(source, outcome, extract_request)
    return outcome


def _failed(source: DocumentInput, timer: StageTimer, error: GleanerError) -> DocumentOutcome:
    empty = DocumentResult(source.id, None, [], 0, 0, 0, False, [], problems.problem(error))
    return DocumentOutcome(empty, timer, error)


def _count(metrics: WorkerMetrics, outcome: DocumentOutcome) -> None:
    metrics.documents.labels(outcome.error.code if outcome.error else "ok").inc()
    metrics.entities.inc(len(outcome.result.entities))
    for stage, seconds in outcome.timer.seconds.items():
        metrics.stage_seconds.labels(stage).observe(seconds)


def _note(source: DocumentInput, outcome: DocumentOutcome, extract_request: ExtractRequest) -> None:
    """Note a document in its request's trace."""
    if extract_request.trace is None:
        return
    result, estimate = outcome.result, extract_request.estimate(source, 0.0)
    extract_request.trace.add(
        DocumentTrace(
            format=estimate.format,
            size=estimate.size,
            pages=result.pages,
            tokens=result.tokens,
            windows=result.windows,
            entities=len(result.entities),
            code=outcome.error.code if outcome.error else "ok",
            timer=outcome.timer,
            ended_seconds=time.monotonic(),
        )
    )


def _all_refused(errors: list[GleanerError], outcomes: list[DocumentOutcome]) -> bool:
    return len(errors) == len(outcomes) and all(isinstance(error, Overloaded) for error in errors)


def _cancel(tasks: DocumentTasks) -> None:
    for task in tasks:
        task.cancel()


def _model_name(extract_request: ExtractRequest) -> ModelName:
    return ModelName(extract_request.model.name, extract_request.model.revision)


def _total(outcomes: list[DocumentOutcome], total_seconds: float) -> Timing:
    total = StageTimer()
    for outcome in outcomes:
        total.add(outcome.timer)
    return total.timing(total_seconds)
