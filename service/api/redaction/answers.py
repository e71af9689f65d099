"""Builds the answer to /redact from documents as they finish: one JSON object, or the one redacted document itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from starlette.responses import Response

from service.api import problems
from service.api.extraction.request import (
    DocumentInput,
    ExtractRequest,
    FinishedDocument,
    error_of_all,
    gathered,
    start_all,
    total_timer,
)
from service.api.extraction.trace import StageTimer
from service.api.http.request_body import Body
from service.api.problems import Problem
from service.api.redaction.document_redactor import Redactor
from service.api.redaction.schemas import RedactedResult, RedactOptions, RedactResult, RedactTiming
from service.api.schemas import ModelName
from service.metrics.worker import WorkerMetrics

TEXT = "text/plain; charset=utf-8"
LARGE_BYTES = 256 * 1024
"""Bytes of files above which an answer is encoded in a thread."""
UNREAD_HEADER = "X-Gleaner-Unread-Pages"
"""Header with the pages that were not read in full, where the answer is the document itself."""
MOST_RANGES = 100
"""Most ranges of pages in a header, so that proxies take it."""

RedactionOutcome = FinishedDocument[RedactedResult]
"""Outcome of a document of /redact."""


@dataclass(frozen=True, slots=True)
class Redacting:
    """Redacted documents, as the work on them."""

    redactor: Redactor
    metrics: WorkerMetrics
    options: RedactOptions

    async def result(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> RedactedResult:
        return await self.redactor.redact(source, request, self.options, timer)

    def failed(self, source: DocumentInput, problem: Problem) -> RedactedResult:
        return RedactedResult(source.id, 0, 0, [], None, None, None, [], [], [], problem)

    def count(self, result: RedactedResult) -> None:
        """What went, and pages that became pictures."""
        self.metrics.redacted.inc(len(result.entities))
        self.metrics.rasterized_pages.inc(len(result.rasterized_pages))

    def windows(self, result: RedactedResult) -> int:
        return 0


async def redacted_outcomes(
    redactor: Redactor, metrics: WorkerMetrics, body: Body, request: ExtractRequest, options: RedactOptions
) -> list[RedactionOutcome]:
    """All documents of a request as they ended, in the order in which they were sent; cancelled with the caller."""
    return await gathered(start_all(Redacting(redactor, metrics, options), body.sources, request))


async def redact_response(
    redactor: Redactor,
    metrics: WorkerMetrics,
    body: Body,
    request: ExtractRequest,
    options: RedactOptions,
    begun_seconds: float,
) -> Response:
    """One answer for all documents, in the order in which they were sent."""
    outcomes = await redacted_outcomes(redactor, metrics, body, request, options)
    if (error := error_of_all(outcomes, batch=body.batch)) is not None:
        return problems.response(error)
    if options.raw:
        return _document(outcomes[0].result)
    results = [outcome.result for outcome in outcomes]
    timing = redact_timing(total_timer(outcomes), time.monotonic() - begun_seconds)
    answer = RedactResult(ModelName(request.model.name, request.model.revision), results, timing)
    large = sum(len(result.file.data) for result in results if result.file) > LARGE_BYTES
    content = await asyncio.to_thread(msgspec.json.encode, answer) if large else msgspec.json.encode(answer)
    return Response(content, media_type="application/json")


def _document(result: RedactedResult) -> Response:
    headers = {UNREAD_HEADER: page_ranges(result.unread_pages)} if result.unread_pages else {}
    if result.file is not None:
        return Response(result.file.data, headers=headers, media_type=result.file.media_type)
    return Response((result.text or "").encode("utf-8", "replace"), headers=headers, media_type=TEXT)


def page_ranges(pages: Sequence[int]) -> str:
    """Sorted page numbers as `1-3,7`; the last of `MOST_RANGES` ranges goes to the last page."""
    ranges: list[list[int]] = []
    for page in pages:
        if ranges and (page == ranges[-1][1] + 1 or len(ranges) == MOST_RANGES):
            ranges[-1][1] = page
        else:
            ranges.append([page, page])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def redact_timing(timer: StageTimer, total_seconds: float) -> RedactTiming:
    """The stages in milliseconds beside the request's own total."""
    stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in timer.seconds.items()}
    return RedactTiming(**stages, total_ms=round(total_seconds * 1000, 3))
