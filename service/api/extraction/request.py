"""Extract request: its documents, what is wanted of them, the message that submits one, and how each has ended.

A document's failure is its own: it becomes a result that says so, is counted, and is noted in the request's trace; an
exception that is no GleanerError is logged and becomes an InternalError. A reader that failed is logged once by kind.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import msgspec

from service.api import problems
from service.api.extraction.trace import DocumentTrace, RequestTrace, StageTimer
from service.api.options import ExtractOptions
from service.api.problems import Problem
from service.core.admission.size import WorkEstimate
from service.core.errors import GleanerError, InternalError, MalformedRequest, Overloaded
from service.core.sequences import shape_of
from service.core.tenants import UNLIMITED, ClientQuota
from service.documents.format_detection import declared_format
from service.families.processor import ModelInput, Task
from service.logs import LogEvent
from service.metrics.worker import WorkerMetrics
from service.wire import ModelStatus, Submitted

log = logging.getLogger(__name__)

TEXT, PAGES, UNKNOWN = "text", "pages", "unknown"
"""Formats of an estimate besides those of files: a text, pages of words, a file that declares no format."""
LONG_TEXTS_AT_ONCE = 2
"""Long texts of one request that are tokenized at a time, in their order, so that the first are ready early."""


def _turns() -> asyncio.Semaphore:
    return asyncio.Semaphore(LONG_TEXTS_AT_ONCE)


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """One document as it was sent: `text`, the JSON of `pages`, or a file's `data` with its media type and name.

    `refused`: what is wrong with it, of one that is none.
    """

    id: str
    text: str | None = None
    data: bytes = b""
    media_type: str | None = None
    name: str | None = None
    refused: str = ""
    pages: msgspec.Raw | None = None

    @property
    def format(self) -> str:
        """Declared format."""
        if self.text is not None:
            return TEXT
        return PAGES if self.pages is not None else declared_format(self.media_type, self.name) or UNKNOWN

    @property
    def size(self) -> int:
        """Characters of a text, bytes of others."""
        return len(self.text) if self.text is not None else memoryview(self.pages or self.data).nbytes


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """The options of one request for each of its documents.

    Attributes:
        model: the revision that its options lead to.
        client: whose API key it has; fairness counts documents by client.
        sender: whose files may share a parser.
        deadline_seconds: absolute, on the monotonic clock.
        allowed_seconds: time from its arrival to its deadline.
        alone: True when the request has a single document.
        quota: what its client may take of the engine's queue.
        task: what its options ask of the model.
        charge_tokens: is told the tokens of every document that was answered.
        long_texts: held by its documents whose long texts are being tokenized.
        trace: where its documents are noted, if anywhere.
        keeps_found: entities of the model stay beside those that an invoice's XML states.
        reads_all_pictures: True if also those pictures of a page are recognized that do not look written on.
    """

    model: ModelStatus
    options: ExtractOptions
    task: Task
    client: str
    deadline_seconds: float
    allowed_seconds: float = math.inf
    alone: bool = False
    quota: ClientQuota = UNLIMITED
    charge_tokens: Callable[[int], None] = lambda _: None
    long_texts: asyncio.Semaphore = field(default_factory=_turns, compare=False, repr=False)
    sender: str = ""
    trace: RequestTrace | None = field(default=None, compare=False, repr=False)
    keeps_found: bool = False
    reads_all_pictures: bool = False

    @property
    def queue(self) -> tuple[str, bool]:
        """Where its short work waits for the event loop: lone documents are not behind their client's batches."""
        return self.client, self.alone

    def estimate(
        self, source: DocumentInput, now: float, own_seconds: float = 0.0, alone: float | None = None
    ) -> WorkEstimate:
        """The work of a document of this request, estimated from its size alone; `alone`: the engine's speed."""
        return WorkEstimate(
            model=self.model.revision,
            client=self.client,
            priority=self.options.priority,
            format=source.format,
            size=source.size,
            at_seconds=now,
            left_seconds=self.deadline_seconds - now,
            allowed_seconds=self.allowed_seconds - own_seconds,
            alone_tokens_per_second=alone,
        )

    def submission(self, key: str, model_input: ModelInput, own_seconds: float = 0.0) -> Submitted:
        """The message that submits a document of this request to the engine; its tokens travel beside it.

        `own_seconds`: what its preparation would have taken on an idle service too.
        """
        return Submitted(
            key=key,
            model=self.model.revision,
            client=self.client,
            priority=self.options.priority,
            deadline_seconds=self.deadline_seconds,
            attempt=0,
            quota=self.quota,
            response_kind=model_input.response_kind,
            special_tokens_at_end=model_input.special_tokens_at_end,
            least_score=model_input.least_score,
            allowed_seconds=max(self.allowed_seconds - own_seconds, 0.0),
            **shape_of(model_input.sequences),
        )


class DocumentAnswer(Protocol):
    """Facts that every result states of its document."""

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
    """The work on each document of a request."""

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
        if source.refused:
            raise MalformedRequest(source.refused)
        result = await work.result(source, request, timer)
        request.charge_tokens(timer.charged_tokens)
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
    for failure in timer.failures:
        if work.metrics.reading_failed(failure.reader, failure.error):
            log.error("a reader failed", extra={"event": LogEvent.READER_FAILED, **failure._asdict()})
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
