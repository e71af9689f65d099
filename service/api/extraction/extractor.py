"""Extractor: takes one document from its bytes to its entities (parse → tokenize → infer → decode). No HTTP.

Files are parsed in processes of their own. Long texts are tokenized and decoded in threads, so that the event loop is
free meanwhile; short texts on the event loop itself, where that is done sooner than a thread would have begun: in
slices in which clients take turns (`text_queue`). Documents of a batch also begin in such turns.

The rule: nothing is done for a document that cannot be answered in time. Its deadline ends it at any stage, as its
client's disconnection does, and a long text is tokenized a piece at a time: texts of several requests take turns, and
each ends as soon as its tokens are more than the engine, or the worker's memory, would admit.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from service.api.engine.client import EngineClient
from service.api.engine.resubmission import NO_LOGITS, InferenceResult
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.page_pictures import PagePictures
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.result import build_result
from service.api.extraction.text_queue import TimeSlicer, TokenizationThrottle
from service.api.extraction.trace import StageTimer
from service.api.options import ExtractOptions
from service.api.parsers.pool import ParserPool
from service.api.schemas import DocumentResult
from service.core.admission.pacing import PacingTicket
from service.core.admission.policy import out_of_time, refuse_if_late, timed_out
from service.core.admission.size import DocumentMemory, MemoryLease, WorkEstimate
from service.core.errors import DeadlineExceeded, GleanerError, Overloaded, TooLongForDeadline
from service.core.worker_load import TextMeter
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import pages_in_file, read_placed_pages
from service.families.processor import Decoder, ModelInput, PreparedDocument, Processor, Task, WindowSizes, prepare
from service.families.registry import Processors
from service.host_memory import free_bytes
from service.text.tokenizer import SHORT_CHARACTERS
from service.text.values.reading import read_tables
from service.wire import FAILED, ModelStatus

SAMPLE_CHARACTERS = 16_384
"""Characters of a document that suffice to measure the engine's speed."""
SHORT_PAGES_BYTES = 16_384
"""Most bytes of the JSON of pages that is read on the event loop, which takes half a millisecond."""
UNFINISHED = "the deadline passed before the document was finished"

_T = TypeVar("_T")


class Extractor:
    """Extracts entities from documents, one call for each document."""

    def __init__(
        self,
        engine: EngineClient,
        parsers: ParserPool,
        threads: ThreadPoolExecutor,
        *,
        limits: DocumentLimits,
        window_tokens: int,
        overlap_tokens: int,
        ocr: PageRecognizer,
    ) -> None:
        self._engine = engine
        self._ocr = ocr
        self._parsers = parsers
        self._threads = threads
        self._limits = limits
        self.text = TextMeter()
        self._window_tokens = window_tokens
        self._overlap_tokens = overlap_tokens
        self._processors = Processors()
        self._pictures = PagePictures(parsers)
        self._time_slicer = TimeSlicer()
        self._throttle = TokenizationThrottle(lambda: engine.queue)
        self.memory = DocumentMemory(free_bytes)

    async def extract(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> DocumentResult:
        """One document's entities; `timer` gets the seconds of its stages.

        Raises:
            GleanerError: the document is bad, was refused, or failed.
        """
        return (await self.extract_with_document(source, request, timer))[0]

    async def extract_with_document(
        self, source: DocumentInput, request: ExtractRequest, timer: StageTimer
    ) -> tuple[DocumentResult, Document]:
        """The same, and the document as it was read."""
        now = time.monotonic()
        refuse_if_late(request.deadline_seconds, now)
        ticket = self._enter(source, request)
        try:
            async with asyncio.timeout(request.deadline_seconds - now):
                if not request.alone:
                    await self._throttle.turn(ticket)
                    await self._time_slicer.turn(request.queue)
                estimate = self._estimate(source, request, timer)
                with self.memory.lease() as lease, self._metered(estimate, timer):
                    return await self._extract(source, request, estimate, timer, lease, ticket)
        except (TimeoutError, DeadlineExceeded) as error:
            load = error if isinstance(error, DeadlineExceeded) else timed_out(UNFINISHED)
            raise out_of_time(timer.own_seconds, request.allowed_seconds, load) from None
        finally:
            self._throttle.leave(ticket)

    def _estimate(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> WorkEstimate:
        alone = self._engine.status.alone_tokens_per_second.get(request.model.revision)
        return request.estimate(source, time.monotonic(), timer.own_seconds, alone)

    def _enter(self, source: DocumentInput, request: ExtractRequest) -> PacingTicket:
        """The ticket of a document's text among its client's; that of a file is counted once it was read."""
        characters = len(source.text) if source.text is not None else 0
        client = (request.model.revision, request.client, request.options.priority.value)
        try:
            paced = not (request.alone or self._engine.status.limits_waiting)
            alone = self._engine.status.alone_tokens_per_second.get(request.model.revision, math.inf)
            most_tokens = alone * request.allowed_seconds
            return self._throttle.enter(
                client, characters, request.deadline_seconds, paced=paced, most_tokens=most_tokens
            )
        except Overloaded as error:
            self._engine.refusals.count(error.code, 1, round(self._throttle.estimate(client, characters)))
            raise

    @contextmanager
    def _metered(self, estimate: WorkEstimate, timer: StageTimer) -> Iterator[None]:
        """Count the work on a document's text when it comes, and learn from one that was answered."""
        kind, size, came = estimate.format, estimate.size, estimate.at_seconds
        expected = self.text.came(kind, size, came)
        try:
            yield
        except TooLongForDeadline:  # Nobody is asked for the rest.
            self.text.work.correct(expected, timer.work_seconds, came, time.monotonic())
            raise
        self.text.done(kind, size, timer.work_seconds)
        self.text.work.correct(expected, timer.work_seconds, came, time.monotonic())

    async def _extract(
        self,
        source: DocumentInput,
        request: ExtractRequest,
        estimate: WorkEstimate,
        timer: StageTimer,
        lease: MemoryLease,
        ticket: PacingTicket,
    ) -> tuple[DocumentResult, Document]:
        self._engine.refusals.check(estimate)
        with timer.measure("parse"):
            document = await self._document(source, request, timer)
            if not request.task.processor.is_read:
                await self.in_thread(lambda: request.task.processor.tokenizer)
            if (seen := request.task.processor.picture) is not None:
                document = await self._pictures.added(document, source, request, seen, lease)
        with timer.measure("tokenize"):
            prepared = await self._prepare(document, source, request, timer, lease, ticket)
            timer.tokens, timer.charged_tokens = sum(map(len, prepared.sequences)), prepared.charged_tokens
            self._throttle.count(ticket, timer.tokens)
            model_input = timer.working(prepared.model_input)
        timer.begun_seconds["queue"] = submitted = time.monotonic()
        try:
            inference = await self._infer(model_input, request, timer)
        except Overloaded as error:
            self._engine.refusals.remember(estimate, timer.tokens, error, time.monotonic())
            raise
        timer.batches = inference.batches
        timer.record("queue", submitted, inference.queue_seconds)
        timer.record("compute", submitted + inference.queue_seconds, inference.compute_seconds)
        refuse_if_late(request.deadline_seconds, time.monotonic())
        with timer.measure("decode"):

            def decode() -> DocumentResult:
                return build_result(source, document, request, prepared, prepared.findings(source.id, inference))

            result = await self._run(decode, request, timer, short=prepared.is_short)
            timer.failures = prepared.context.failures
            return result, document

    @property
    def held_tokens(self) -> float:
        """About as many tokens have the texts that wait until they are prepared."""
        return self._throttle.held_tokens

    def refuse_all_again(self, sources: Sequence[DocumentInput], request: ExtractRequest) -> None:
        """Refuse a request, before any of its work is begun, if the engine lately refused such documents as all of it.

        Raises:
            QueueFull, DeadlineExceeded: as the engine refused the earlier document.
        """
        self._engine.refusals.check_all([self._estimate(source, request, StageTimer()) for source in sources])

    def check_text(self, text: str) -> None:
        """Refuse a text that no document may have.

        Raises:
            DocumentTooLarge: it is too long.
        """
        self._limits.check_bytes(len(text))
        self._limits.check_characters(len(text))

    def processor(self, model: ModelStatus) -> Processor[Any]:
        return self._processors.get(model.revision, Path(model.folder))

    def task(self, model: ModelStatus, options: ExtractOptions, decoder: Decoder | None = None) -> Task:
        """What a request with these options asks of a model.

        Args:
            decoder: a protocol's own, for tags.

        Raises:
            InvalidOptions: the model cannot answer that, or has no use for an option.
        """
        sizes = WindowSizes(min(self._window_tokens, model.max_tokens), self._overlap_tokens)
        return self.processor(model).task(options, model, sizes, decoder)

    async def load_tokenizers(self, models: tuple[ModelStatus, ...]) -> None:
        """Read the tokenizers of new revisions, before a request needs them, and drop those of retired ones."""
        folders = {model.revision: Path(model.folder) for model in models if model.state != FAILED}
        await self.in_thread(lambda: self._processors.replace(folders))
        await self.in_thread(read_tables)

    async def _document(self, source: DocumentInput, request: ExtractRequest, timer: StageTimer) -> Document:
        if source.text is not None:
            self.check_text(source.text)
            return Document(source.text)
        if source.pages is not None or source.data[:1] == b"{":
            read = partial(_placed, source, self._limits)
            if (placed := await self._run(read, request, timer, short=source.size <= SHORT_PAGES_BYTES)) is not None:
                return placed
        return await self._ocr.read(source, request, timer.pages)

    async def _prepare(
        self,
        document: Document,
        source: DocumentInput,
        request: ExtractRequest,
        timer: StageTimer,
        lease: MemoryLease,
        ticket: PacingTicket,
    ) -> PreparedDocument:
        if len(document.text) <= SHORT_CHARACTERS:
            return await self._run(lambda: prepare(request.task, document), request, timer, short=True)
        async with request.long_texts:
            estimate = self._estimate(source, request, timer)
            self._engine.refusals.check(estimate)
            expected = self._throttle.estimate(ticket.client, len(document.text))
            steps, scores = request.task.prepare_in_steps(document), request.task.scores_a_token
            while isinstance(step := await self._work_in_thread(lambda: next(steps), timer), int):
                try:
                    self._check_tokens(step, expected, estimate)
                except TooLongForDeadline:
                    await self._measure(document, request)
                    raise
                lease.grow(step, scores)
            self._limits.check_tokens(len(step.tokens.ids))
            lease.grow(len(step.tokens.ids), scores)
            return step

    def _check_tokens(self, tokens: int, expected: float, estimate: WorkEstimate) -> None:
        """Refuse a document that has at least so many tokens, if that is certain by now."""
        self._limits.check_tokens(tokens)
        self._engine.refusals.check_tokens(estimate, tokens, self._engine.queue, time.monotonic(), expected)

    async def _measure(self, document: Document, request: ExtractRequest) -> None:
        """Give the engine the beginning of a document that was refused for good, to measure by if it has not of late.

        For this beginning it is allowed no time, so the engine refuses it too, and counts the document by that.
        """
        task, beginning = request.task, Document(document.text[:SAMPLE_CHARACTERS])
        with suppress(GleanerError):
            prepared = await self.in_thread(lambda: prepare(task, task.processor.readable(beginning)).model_input())
            if prepared.sequences:
                submission = request.submission(self._engine.new_key(), prepared, request.allowed_seconds)
                await self._engine.infer(submission, prepared.sequences, prepared.kept)

    async def _infer(self, model_input: ModelInput, request: ExtractRequest, timer: StageTimer) -> InferenceResult:
        if not model_input.sequences:
            return InferenceResult(NO_LOGITS, 0.0, 0.0)
        refuse_if_late(request.deadline_seconds, time.monotonic())
        key = timer.key = self._engine.new_key()
        submission = request.submission(key, model_input, timer.own_seconds)
        return await self._engine.infer(submission, model_input.sequences, model_input.kept)

    async def _run(self, work: Callable[[], _T], request: ExtractRequest, timer: StageTimer, *, short: bool) -> _T:
        """Run long work in a thread, short work in a slice of the event loop's time."""
        if not short:
            return await self._work_in_thread(work, timer)
        timed = partial(timer.working, work)
        return await self._time_slicer.run(timed, request.queue, at_once=request.alone)

    async def _work_in_thread(self, work: Callable[[], _T], timer: StageTimer) -> _T:
        return await self.in_thread(partial(timer.working_apart, work))

    async def in_thread(self, work: Callable[[], _T]) -> _T:
        """Run work on a text in one of the extractor's threads."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _placed(source: DocumentInput, limits: DocumentLimits) -> Document | None:
    """Read a source's pages of words; None for a file that has none."""
    pages = pages_in_file(source.data) if source.pages is None else source.pages
    return None if pages is None else read_placed_pages(pages, limits)
