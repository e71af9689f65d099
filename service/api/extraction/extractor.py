"""One document from its bytes to its entities: parse → tokenize → judge → decode. Knows nothing of HTTP.

Parsing runs in processes of its own, tokenizing and decoding of long texts in threads, so that the event loop only
waits; a short text is done with sooner than a thread would have heard of it: at once if it came alone, else in turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from service.api.engine.client import EngineClient
from service.api.engine.pending import InferenceResult
from service.api.engine.refusal_cache import WorkEstimate
from service.api.extraction.parser_pool import ParserPool
from service.api.extraction.time_slicer import TimeSlicer
from service.api.schemas import DocumentResult, EntityResult, Options, Timing
from service.core.arrays import TokenIds
from service.core.decoding.normalize import normalise
from service.core.decoding.offsets import OffsetMap
from service.core.decoding.spans import Entity
from service.core.errors import DeadlineExceeded, Overloaded
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.text.pipeline import Prepared, decode_entities, prepare
from service.text.tokenizer import TextTokenizer, Tokenizers
from service.wire import ModelStatus

SCORE_DIGITS = 6
"""Of a score as it is shown, which is also the one that `min_score` looks at."""
SHORT_CHARACTERS = 4_096
"""Up to here a text is tokenized on the event loop: about a millisecond."""
SHORT_TOKENS = 1_024
"""Up to here what was judged of it is decoded there: about a millisecond, and some 25 if every word is an entity."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DocumentInput:
    """A document as it came: text, or a file's bytes with what was said of its format."""

    id: str
    text: str | None = None
    data: bytes = b""
    media_type: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True)
class ExtractRequest:
    """What one request wants of each of its documents; `alone`: there is only one."""

    model: ModelStatus
    options: Options
    client: str
    deadline_seconds: float
    alone: bool = False


@dataclass(slots=True)
class StageTimer:
    """Seconds by stage of one document."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = time.monotonic() - begun

    def timing(self, total_seconds: float) -> Timing:
        stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in self.seconds.items()}
        return Timing(**stages, total_ms=round(total_seconds * 1000, 3))


class Extractor:
    """The way of one document through a worker."""

    def __init__(
        self,
        engine: EngineClient,
        parsers: ParserPool,
        threads: ThreadPoolExecutor,
        *,
        limits: DocumentLimits,
        window_tokens: int,
        overlap_tokens: int,
    ) -> None:
        self._engine = engine
        self._parsers = parsers
        self._threads = threads
        self._limits = limits
        self._window_tokens = window_tokens
        self._overlap_tokens = overlap_tokens
        self._tokenizers = Tokenizers()
        self._turns = TimeSlicer()

    async def extract(self, source: DocumentInput, order: ExtractRequest, watch: StageTimer) -> DocumentResult:
        """The document's entities.

        Raises:
            GleanerError: whatever stands in the way, typed.
        """
        want = _want(source, order, time.monotonic())
        self._engine.door.check(want)
        with watch.stage("parse"):
            document = await self._document(source, order)
        with watch.stage("tokenize"):
            tokenizer = await self._tokenizer(order.model)
            tokenize = partial(self._prepare, tokenizer, document.text, order)
            prepared = await self._work(tokenize, order, short=len(document.text) <= SHORT_CHARACTERS)
        try:
            judgement = await self._judge(prepared.sequences, order)
        except Overloaded as error:
            self._engine.door.remember(want, sum(map(len, prepared.sequences)), error, time.monotonic())
            raise
        watch.seconds.update(queue=judgement.queue_seconds, compute=judgement.compute_seconds)
        with watch.stage("decode"):
            decode = partial(_result, source, document, order, tokenizer, prepared, judgement)
            return await self._work(decode, order, short=len(prepared.tokens.ids) <= SHORT_TOKENS)

    async def learn(self, models: tuple[ModelStatus, ...]) -> None:
        """Read the tokenizers of revisions that are new, so that no request waits for them, and forget the others'."""
        folders = {model.revision: Path(model.folder) for model in models}
        await self._in_thread(lambda: self._tokenizers.keep(folders))

    async def _tokenizer(self, model: ModelStatus) -> TextTokenizer:
        if known := self._tokenizers.known(model.revision):
            return known
        return await self._in_thread(lambda: self._tokenizers.get(model.revision, Path(model.folder)))

    async def _document(self, source: DocumentInput, order: ExtractRequest) -> Document:
        if source.text is not None:
            self._limits.check_bytes(len(source.text))
            self._limits.check_characters(len(source.text))
            return Document(source.text)
        left = order.deadline_seconds - time.monotonic()
        try:
            async with asyncio.timeout(left):
                return await self._parsers.parse(source.data, source.media_type, source.name)
        except TimeoutError:
            raise DeadlineExceeded("the deadline passed while the document was read") from None

    def _prepare(self, tokenizer: TextTokenizer, text: str, order: ExtractRequest) -> Prepared:
        longest = min(self._window_tokens, order.model.max_tokens)
        return prepare(tokenizer, text, longest=longest, overlap=self._overlap_tokens)

    async def _judge(self, sequences: list[TokenIds], order: ExtractRequest) -> InferenceResult:
        if not sequences:
            return InferenceResult([], 0.0, 0.0)
        return await self._engine.judge(
            order.model.revision,
            sequences,
            client=order.client,
            priority=order.options.priority,
            deadline_seconds=order.deadline_seconds,
        )

    async def _work(self, work: Callable[[], Result], order: ExtractRequest, *, short: bool) -> Result:
        """Long work in a thread; short work on the event loop, where that of a batch lets others in between."""
        if not short:
            return await self._in_thread(work)
        return work() if order.alone else await self._turns.take(work)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def _want(source: DocumentInput, order: ExtractRequest, now: float) -> WorkEstimate:
    """What the document asks for, before anything is done for it."""
    return WorkEstimate(
        model=order.model.revision,
        client=order.client,
        priority=order.options.priority,
        media_type="text" if source.text is not None else source.media_type or "",
        size=len(source.text) if source.text is not None else len(source.data),
        at_seconds=now,
        left_seconds=order.deadline_seconds - now,
    )


def _result(
    source: DocumentInput,
    document: Document,
    order: ExtractRequest,
    tokenizer: TextTokenizer,
    prepared: Prepared,
    judgement: InferenceResult,
) -> DocumentResult:
    options, text = order.options, document.text
    found = decode_entities(tokenizer, prepared, judgement.rows, order.model.labels, options.aggregation)
    units = OffsetMap(text, options.offsets)
    scored = ((each, round(each.score, SCORE_DIGITS)) for each in found)
    entities = [_entity(each, score, document, units) for each, score in scored if _is_wanted(each, score, options)]
    return DocumentResult(
        id=source.id,
        pages=len(document.pages) if document.pages else None,
        unread_pages=list(document.unread_pages),
        characters=len(text),
        tokens=len(prepared.tokens.ids),
        windows=len(prepared.windows),
        truncated=False,
        entities=entities,
        error=None,
        text=text if options.include_text else msgspec.UNSET,
    )


def _is_wanted(entity: Entity, score: float, options: Options) -> bool:
    return score >= options.min_score and (options.labels is None or entity.label in options.labels)


def _entity(entity: Entity, score: float, document: Document, units: OffsetMap) -> EntityResult:
    return EntityResult(
        label=entity.label,
        text=entity.text,
        start=units[entity.start],
        end=units[entity.end],
        score=score,
        value=normalise(entity.label, entity.text),
        page=document.page_at(entity.start),
        boxes=document.boxes(entity.start, entity.end),
    )
