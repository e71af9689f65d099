"""Documents as they end → the answer: one JSON object, or one line for each document as it is finished.

The rule: a document's failure is its own. In a batch the others get their results and the answer is 200; only when
every document was turned away for overload is the batch turned away, so that clients and balancers back off.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import msgspec
from starlette.responses import Response

from service.api import problems
from service.api.extraction.extractor import DocumentInput, Extractor, ExtractRequest, StageTimer
from service.api.http.request_body import Body
from service.api.schemas import DocumentLine, DocumentResult, ExtractResult, ModelName, Timing
from service.core.errors import GleanerError, InternalError, Overloaded
from service.metrics.worker import WorkerMetrics

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """One document's end: its result, the seconds it took by stage, and the error if there was one."""

    result: DocumentResult
    watch: StageTimer
    error: GleanerError | None


Endings = list["asyncio.Task[DocumentOutcome]"]


def begin(extractor: Extractor, metrics: WorkerMetrics, body: Body, order: ExtractRequest) -> Endings:
    """Start all documents of a request, each in a task of its own."""
    return [asyncio.create_task(_end(extractor, metrics, source, order)) for source in body.sources]


async def whole(endings: Endings, body: Body, order: ExtractRequest, begun: float) -> Response:
    """One answer for all documents, in the order in which they came."""
    try:
        ended = await asyncio.gather(*endings)
    finally:
        _cancel(endings)
    errors = [ending.error for ending in ended if ending.error is not None]
    if errors and (not body.batch or (len(errors) == len(ended) and all(isinstance(e, Overloaded) for e in errors))):
        return problems.response(errors[0])
    result = ExtractResult(_name(order), [ending.result for ending in ended], _sum(ended, time.monotonic() - begun))
    return Response(msgspec.json.encode(result), media_type="application/json")


async def lines(start: Callable[[], Endings], order: ExtractRequest, begun: float) -> AsyncIterator[bytes]:
    """One JSON line for each document, as soon as it is finished; nothing starts before somebody reads."""
    endings = start()
    try:
        for next_ending in asyncio.as_completed(endings):
            ending = await next_ending
            timing = ending.watch.timing(time.monotonic() - begun)
            yield msgspec.json.encode(DocumentLine(_name(order), ending.result, timing)) + b"\n"
    finally:
        _cancel(endings)


async def _end(
    extractor: Extractor, metrics: WorkerMetrics, source: DocumentInput, order: ExtractRequest
) -> DocumentOutcome:
    watch = StageTimer()
    try:
        ending = DocumentOutcome(await extractor.extract(source, order, watch), watch, None)
    except GleanerError as error:
        ending = _failed(source, watch, error)
    except Exception as error:
        log.exception("a document failed")
        ending = _failed(source, watch, InternalError(f"The service failed over this ({type(error).__name__})."))
    _count(metrics, ending)
    return ending


def _failed(source: DocumentInput, watch: StageTimer, error: GleanerError) -> DocumentOutcome:
    nothing = DocumentResult(source.id, None, [], 0, 0, 0, False, [], problems.problem(error))
    return DocumentOutcome(nothing, watch, error)


def _count(metrics: WorkerMetrics, ending: DocumentOutcome) -> None:
    metrics.documents.labels(ending.error.code if ending.error else "ok").inc()
    metrics.entities.inc(len(ending.result.entities))
    for stage, seconds in ending.watch.seconds.items():
        metrics.stage_seconds.labels(stage).observe(seconds)


def _cancel(endings: Endings) -> None:
    for ending in endings:
        ending.cancel()


def _name(order: ExtractRequest) -> ModelName:
    return ModelName(order.model.name, order.model.revision)


def _sum(ended: list[DocumentOutcome], total_seconds: float) -> Timing:
    total = StageTimer()
    for ending in ended:
        for stage, seconds in ending.watch.seconds.items():
            total.seconds[stage] = total.seconds.get(stage, 0.0) + seconds
    return total.timing(total_seconds)
