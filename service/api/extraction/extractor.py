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
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from service.api.engine.client import EngineClient
from service.api.engine.resubmission import NO_LOGITS, InferenceResult
from service.api.extraction.labels import check_labels, given_labels, given_records
from service.api.extraction.ocr import PageRecognizer
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.result import build_result, find_entities, find_records
from service.api.extraction.text_queue import TimeSlicer, TokenizationThrottle
from service.api.extraction.trace import StageTimer
from service.api.options import ExtractOptions
from service.api.parsers.pool import ParserPool
from service.api.schemas import DocumentResult
from service.core.admission.pacing import PacingTicket
from service.core.admission.policy import refuse_if_late, timed_out
from service.core.admission.size import DocumentMemory, MemoryLease, WorkEstimate
from service.core.errors import InvalidOptions, Overloaded
from service.core.labels.label_set import LabelSet
from service.core.types import ResponseKind
from service.core.worker_load import TextMeter
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.host_memory import free_bytes
from service.text.pipeline import Prepared, WordStarts, kept_rows, prepare_in_steps
from service.text.tokenizer import SHORT_CHARACTERS, TextTokenizer
from service.text.tokenizers import ModelTokenizer, Tokenizers
from service.text.values.reading import read_tables
from service.text.words.word_tokenizer import WordTokenizer
from service.wire import FAILED, ModelStatus

SHORT_TOKENS = 1_024
"""Documents up to this length are decoded on the event loop: about a millisecond, and 25 if every word is an entity."""

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
        self._tokenizers = Tokenizers()
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
                estimate = request.estimate(source, time.monotonic())
                with self.memory.lease() as lease, self._metered(estimate, timer):
                    return await self._extract(source, request, estimate, timer, lease, ticket)
        except TimeoutError:
            raise timed_out("the deadline passed before the document was finished") from None
        finally:
            self._throttle.leave(ticket)

    def _enter(self, source: DocumentInput, request: ExtractRequest) -> PacingTicket:
        """The ticket of a document's text among its client's; that of a file is counted once it was read."""
        characters = len(source.text) if source.text is not None else 0
        client = (request.model.revision, request.client, request.options.priority.value)
        try:
            paced = not (request.alone or self._engine.status.limits_waiting)
            return self._throttle.enter(client, characters, request.deadline_seconds, paced=paced)
        except Overloaded as error:
            self._engine.refusals.count(error.code, 1, round(self._throttle.estimate(client, characters)))
            raise

    @contextmanager
    def _metered(self, estimate: WorkEstimate, timer: StageTimer) -> Iterator[None]:
        """Count the work on a document's text when it comes, and learn from one that was answered."""
        kind, size, came = estimate.format, estimate.size, estimate.at_seconds
        expected = self.text.came(kind, size, came)
        yield
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
            document = await self._document(source, request)
        with timer.measure("tokenize"):
            tokenizer = await self._tokenizer(request.model)
            prepared = await self._prepare(tokenizer, document.text, source, request, timer, lease)
            timer.tokens = sum(map(len, prepared.sequences))
            self._throttle.count(ticket, timer.tokens)
            words = timer.working(partial(request.word_starts, tokenizer, prepared))
        timer.begun_seconds["queue"] = submitted = time.monotonic()
        try:
            inference = await self._infer(tokenizer, prepared, words, request, timer)
        except Overloaded as error:
            self._engine.refusals.remember(estimate, timer.tokens, error, time.monotonic())
            raise
        timer.batches = inference.batches
        timer.record("queue", submitted, inference.queue_seconds)
        timer.record("compute", submitted + inference.queue_seconds, inference.compute_seconds)
        refuse_if_late(request.deadline_seconds, time.monotonic())
        with timer.measure("decode"):

            def decode() -> DocumentResult:
                found = find_entities(source, document, tokenizer, prepared, words, inference, request)
                records = find_records(prepared, inference, request)
                return build_result(source, document, request, prepared, found, records)

            is_short = len(prepared.tokens.ids) <= SHORT_TOKENS and len(document.text) <= SHORT_CHARACTERS
            is_short = is_short and not request.wants_records
            return await self._run(decode, request, timer, short=is_short), document

    @property
    def held_tokens(self) -> float:
        """About as many tokens have the texts that wait until they are prepared."""
        return self._throttle.held_tokens

    def refuse_all_again(self, sources: Sequence[DocumentInput], request: ExtractRequest) -> None:
        """Refuse a request, before any of its work is begun, if the engine lately refused such documents as all of it.

        Raises:
            QueueFull, DeadlineExceeded: as the engine refused the earlier document.
        """
        now = time.monotonic()
        self._engine.refusals.check_all([request.estimate(source, now) for source in sources])

    def check_text(self, text: str) -> None:
        """Refuse a text that no document may have.

        Raises:
            DocumentTooLarge: it is too long.
        """
        self._limits.check_bytes(len(text))
        self._limits.check_characters(len(text))

    def labels_of(self, model: ModelStatus, options: ExtractOptions, *, plain: bool) -> LabelSet | None:
        """The labels that a model is given; None for one that has its own, of which the options name no other.

        Args:
            plain: False where a protocol has a decoder of its own, for tags.

        Raises:
            InvalidOptions: as `given_labels` and `check_labels`.
        """
        tokenizer = self._tokenizers.loaded(model.revision)
        if not model.free_labels:
            check_labels(model, tokenizer if isinstance(tokenizer, TextTokenizer) else None, options)
            return None
        if not plain:
            raise InvalidOptions(
                f"model: {model.name} is given its labels by each request, and this protocol has none."
            )
        words = tokenizer or self._tokenizers.get(model.revision, Path(model.folder))
        assert isinstance(words, WordTokenizer), "its folder says so"
        given = given_labels if options.records is None else given_records
        return given(model, words, options, self._longest(model))

    def _longest(self, model: ModelStatus) -> int:
        """Tokens of its longest sequence."""
        return min(self._window_tokens, model.max_tokens)

    async def load_tokenizers(self, models: tuple[ModelStatus, ...]) -> None:
        """Read the tokenizers of new revisions, before a request needs them, and drop those of retired ones."""
        folders = {model.revision: Path(model.folder) for model in models if model.state != FAILED}
        await self.in_thread(lambda: self._tokenizers.replace(folders))
        await self.in_thread(read_tables)

    async def _tokenizer(self, model: ModelStatus) -> ModelTokenizer:
        if loaded := self._tokenizers.loaded(model.revision):
            return loaded
        return await self.in_thread(lambda: self._tokenizers.get(model.revision, Path(model.folder)))

    async def _document(self, source: DocumentInput, request: ExtractRequest) -> Document:
        if source.text is not None:
            self.check_text(source.text)
            return Document(source.text)
        return await self._ocr.read(source, request)

    async def _prepare(
        self,
        tokenizer: ModelTokenizer,
        text: str,
        source: DocumentInput,
        request: ExtractRequest,
        timer: StageTimer,
        lease: MemoryLease,
    ) -> Prepared:
        if len(text) <= SHORT_CHARACTERS:
            return await self._run(lambda: self._prepared(tokenizer, text, request), request, timer, short=True)
        async with request.long_texts:
            estimate = request.estimate(source, time.monotonic())
            self._engine.refusals.check(estimate)
            steps, scores = self._steps(tokenizer, text, request), request.scores_a_token
            while not isinstance(step := await self._work_in_thread(partial(next, steps), timer), Prepared):
                self._check_tokens(step, estimate)
                lease.grow(step, scores)
            self._limits.check_tokens(len(step.tokens.ids))
            lease.grow(len(step.tokens.ids), scores)
            return step

    def _prepared(self, tokenizer: ModelTokenizer, text: str, request: ExtractRequest) -> Prepared:
        *_, prepared = self._steps(tokenizer, text, request)
        assert isinstance(prepared, Prepared), "the last step is the result"
        return prepared

    def _steps(self, tokenizer: ModelTokenizer, text: str, request: ExtractRequest) -> Iterator[int | Prepared]:
        longest, overlap = self._longest(request.model), self._overlap_tokens
        if isinstance(tokenizer, TextTokenizer):
            return prepare_in_steps(tokenizer, text, longest=longest, overlap=overlap)
        assert request.labels is not None, "it is given labels"
        return tokenizer.prepare_in_steps(text, request.labels, longest=longest, overlap=overlap)

    def _check_tokens(self, tokens: int, estimate: WorkEstimate) -> None:
        """Refuse a document that has at least so many tokens, if that is certain by now."""
        self._limits.check_tokens(tokens)
        self._engine.refusals.check_tokens(estimate, tokens, self._engine.queue, time.monotonic())

    async def _infer(
        self,
        tokenizer: ModelTokenizer,
        prepared: Prepared,
        words: WordStarts | None,
        request: ExtractRequest,
        timer: StageTimer,
    ) -> InferenceResult:
        if not prepared.sequences:
            return InferenceResult(NO_LOGITS, 0.0, 0.0)
        refuse_if_late(request.deadline_seconds, time.monotonic())
        key = timer.key = self._engine.new_key()
        if request.labels is not None:
            submission = request.submission(
                key, prepared.sequences, ResponseKind.SPANS, least_score=request.labels.least_limit
            )
            return await self._engine.infer(submission, prepared.sequences, ())
        assert isinstance(tokenizer, TextTokenizer), "labels are free where it is none"
        if words is not None:
            submission = request.submission(
                key, [words.sequence], ResponseKind.WORD_TAGS, special_tokens_at_end=len(tokenizer.suffix)
            )
            return await self._engine.infer(submission, [words.sequence], ((0, len(words.firsts)),))
        submission = request.submission(key, prepared.sequences)
        return await self._engine.infer(submission, prepared.sequences, kept_rows(tokenizer, prepared))

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
