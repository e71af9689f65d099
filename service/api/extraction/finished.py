"""Finished documents: result, stages and error of each document of a request, whatever was done with it.

The rule: a document's failure is its own. It becomes a result that says so, is counted, and is noted in the request's
trace; what is no error of ours is logged and becomes one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from service.api import problems
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.trace import DocumentTrace, StageTimer
from service.api.problems import Problem
from service.core.errors import GleanerError, InternalError, Overloaded
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics

log = logging.getLogger(__name__)


class DocumentAnswer(Protocol):
    """What all results say of their document."""

    @property
    def pages(self) -> int | None: ...
    @property
    def tokens(self) -> int: ...
    @property
    def entities(self) -> Sized: ...


R = TypeVar("R", bound=DocumentAnswer)


@dataclass(frozen=True, slots=True)
class FinishedDocument(Generic[R]):
    """A finished document: its result, its stages, and the error if it failed."""

    result: R
    timer: StageTimer
    error: GleanerError | None

    @property
    def code(self) -> str:
        """`ok`, or its error's."""
        return self.error.code if self.error else "ok"


class DocumentWork(Protocol[R]):
    """What a request has done with each of its documents."""

    @property
    def metrics(self) -> WorkerMetrics:
        """Where documents are counted."""

    async def result(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> R:
        """The result of one document; `timer` gets the seconds of its stages. Raises GleanerError."""

    def failed(self, source: DocumentInput, problem: Problem) -> R:
        """The result of a document that failed."""

    def count(self, result: R) -> None:
        """Count what is in a result."""

    def windows(self, result: R) -> int:
        """The windows that its text was read in, as far as the result knows them."""


def start_all(
    work: DocumentWork[R], sources: Iterable[DocumentInput], request: ExtractRequest
) -> list[asyncio.Task[FinishedDocument[R]]]:
    """Start the work on all documents of a request, each in a task of its own."""
    return [asyncio.create_task(_finish(work, source, request)) for source in sources]


async def gathered(tasks: Sequence[asyncio.Task[FinishedDocument[R]]]) -> list[FinishedDocument[R]]:
    """All documents as they ended, in the order in which they were sent; cancelled with the caller."""
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def error_of_all(outcomes: Sequence[FinishedDocument[R]], *, batch: bool) -> GleanerError | None:
    """The error that is the whole request's: its only document failed, or all were refused for overload."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if errors and (not batch or all(isinstance(outcome.error, Overloaded) for outcome in outcomes)):
        return errors[0]
    return None


def total_timer(outcomes: Iterable[FinishedDocument[R]]) -> StageTimer:
    """The seconds of all documents together, stage by stage."""
    total = StageTimer()
    for outcome in outcomes:
        total.add(outcome.timer)
    return total


async def _finish(work: DocumentWork[R], source: DocumentInput, request: ExtractRequest) -> FinishedDocument[R]:
    timer = StageTimer()
    if request.trace is not None:
        request.trace.timer = timer
    error: GleanerError | None = None
    try:
        result = await work.result(source, request, timer)
        request.charge_tokens(result.tokens)
    except GleanerError as known:
        error = known.with_traceback(None)  # Which holds this frame, and so the document, in a circle.
    except Exception as unknown:
        log.exception("a document failed", extra={"event": LogEvent.DOCUMENT_FAILED})
        error = InternalError(f"The service failed over this ({type(unknown).__name__}).")
    if error is not None:
        result = work.failed(source, problems.problem(error))
    outcome = FinishedDocument(result, timer, error)
    work.metrics.documents.labels(outcome.code).inc()
    work.count(result)
    for stage, seconds in timer.seconds.items():
        work.metrics.stage_seconds.labels(stage).observe(seconds)
    _note(source, outcome, work.windows(result), request)
    return outcome


def _note(source: DocumentInput, outcome: FinishedDocument[R], windows: int, request: ExtractRequest) -> None:
    """Note a document in its request's trace."""
    if request.trace is None:
        return
    result, estimate = outcome.result, request.estimate(source, 0.0)
    request.trace.add(
        DocumentTrace(
            format=estimate.format,
            size=estimate.size,
            pages=result.pages,
            tokens=result.tokens,
            windows=windows,
            entities=len(result.entities),
            code=outcome.code,
            timer=outcome.timer,
            ended_seconds=time.monotonic(),
        )
    )
