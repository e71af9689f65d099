"""Builds the answer to /redact from documents as they finish: one JSON object, or the one redacted document itself."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass

import msgspec
from starlette.responses import Response

from service.api import problems
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.stage_timer import StageTimer
from service.api.extraction.trace import DocumentTrace
from service.api.http.request_body import Body
from service.api.redaction.redactor import Redactor
from service.api.redaction.schemas import RedactedResult, RedactOptions, RedactResult, RedactTiming
from service.api.schemas import ModelName
from service.core.errors import GleanerError, InternalError, Overloaded
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics

TEXT = "text/plain; charset=utf-8"
LARGE_BYTES = 256 * 1024
"""An answer with more file than this is encoded in a thread."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RedactionOutcome:
    """A finished document: its result, its stages, and the error if it failed."""

    result: RedactedResult
    timer: StageTimer
    error: GleanerError | None


async def redact_response(
    redactor: Redactor,
    metrics: WorkerMetrics,
    body: Body,
    request: ExtractRequest,
    options: RedactOptions,
    begun_seconds: float,
) -> Response:
    """One answer for all documents, in the order in which they were sent."""
    tasks = [asyncio.create_task(_finish(redactor, metrics, source, request, options)) for source in body.sources]
    try:
        outcomes = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors and (not body.batch or all(isinstance(outcome.error, Overloaded) for outcome in outcomes)):
        return problems.response(errors[0])
    if options.raw:
        return _document(outcomes[0].result)
    results = [outcome.result for outcome in outcomes]
    timing = _total(outcomes, time.monotonic() - begun_seconds)
    answer = RedactResult(ModelName(request.model.name, request.model.revision), results, timing)
    large = sum(len(result.file.data) for result in results if result.file) > LARGE_BYTES
    content = await asyncio.to_thread(msgspec.json.encode, answer) if large else msgspec.json.encode(answer)
    return Response(content, media_type="application/json")


def _document(result: RedactedResult) -> Response:
    if result.file is not None:
        return Response(result.file.data, media_type=result.file.media_type)
    return Response((result.text or "").encode("utf-8", "replace"), media_type=TEXT)


async def _finish(
    redactor: Redactor,
    metrics: WorkerMetrics,
    source: DocumentInput,
    request: ExtractRequest,
    options: RedactOptions,
) -> RedactionOutcome:
    timer = StageTimer()
    try:
        outcome = RedactionOutcome(await redactor.redact(source, request, options, timer), timer, None)
        request.charge_tokens(outcome.result.tokens)
    except GleanerError as error:
        outcome = _failed(source, timer, error)
    except Exception as error:
        log.exception("a document failed", extra={"event": LogEvent.DOCUMENT_FAILED})
        outcome = _failed(source, timer, InternalError(f"The service failed over this ({type(error).__name__})."))
    _count(metrics, outcome)
    _note(source, outcome, request)
    return outcome


def _failed(source: DocumentInput, timer: StageTimer, error: GleanerError) -> RedactionOutcome:
    empty = RedactedResult(source.id, 0, 0, [], None, None, None, [], [], [], problems.problem(error))
    return RedactionOutcome(empty, timer, error)


def _count(metrics: WorkerMetrics, outcome: RedactionOutcome) -> None:
    metrics.documents.labels(outcome.error.code if outcome.error else "ok").inc()
    metrics.redacted.inc(len(outcome.result.entities))
    metrics.rasterized_pages.inc(len(outcome.result.rasterized_pages))
    for stage, seconds in outcome.timer.seconds.items():
        metrics.stage_seconds.labels(stage).observe(seconds)


def _note(source: DocumentInput, outcome: RedactionOutcome, request: ExtractRequest) -> None:
    """Note a document in its request's trace."""
    if request.trace is None:
        return
    result, estimate = outcome.result, request.estimate(source, 0.0)
    code = outcome.error.code if outcome.error else "ok"
    request.trace.add(
        DocumentTrace(
            format=estimate.format,
            size=estimate.size,
            pages=result.pages,
            tokens=result.tokens,
            windows=0,
            entities=len(result.entities),
            code=code,
            timer=outcome.timer,
            ended_seconds=time.monotonic(),
        )
    )


def _total(outcomes: list[RedactionOutcome], total_seconds: float) -> RedactTiming:
    total = StageTimer()
    for outcome in outcomes:
        total.add(outcome.timer)
    stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in total.seconds.items()}
    return RedactTiming(**stages, total_ms=round(total_seconds * 1000, 3))
