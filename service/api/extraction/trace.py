"""Traces of requests: when each stage of each document began and how long it took, in the memory of one worker.

A trace holds sizes, times and codes; never a document's text, name or entities. The last `MOST_TRACES` are kept. Spans
are made of them when a request has been answered.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from service.api.schemas import Timing
from service.core.errors import InternalError, is_server_error
from service.text.values.context import ReadingFailure

THREAD_SHARE = 1 / 2
"""What a second of a thread takes of its worker, for which there are two cores by default."""

_T = TypeVar("_T")


@dataclass(slots=True)
class PageProgress:
    """Reading of one document's file: pages and pictures whose text is recognized, done of how many.

    `parser_seconds`: the least that it would have taken the parsers of an idle worker so far.
    """

    done: int = 0
    count: int = 0
    parser_seconds: float = 0.0

    def parsed(self, seconds: float) -> None:
        self.parser_seconds += seconds


@dataclass(slots=True)
class StageTimer:
    """Seconds by stage, waits included, and apart from that the worker's own of tokenizing and decoding.

    Attributes:
        begun_seconds: when each stage began, on the monotonic clock; `queue`: when the engine was given the document.
        batches: the numbers of those that it ran in.
        tokens: tokens of all its sequences.
        charged_tokens: tokens that its client is charged for.
        key: the engine's, once it was given the document.
        failures: readers that raised over the document.
        pages: how far recognizing its pages is.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    begun_seconds: dict[str, float] = field(default_factory=dict)
    work_seconds: float = 0.0
    batches: tuple[int, ...] = ()
    tokens: int = 0
    charged_tokens: int = 0
    key: str | None = None
    failures: Collection[ReadingFailure] = ()
    pages: PageProgress = field(default_factory=PageProgress)

    @property
    def own_seconds(self) -> float:
        """Least seconds that the document's preparation would have taken on an idle service."""
        return self.work_seconds + self.pages.parser_seconds

    @property
    def stage(self) -> str | None:
        """The one that began last; None before the first."""
        return next(reversed(self.begun_seconds), None)

    def working(self, work: Callable[[], _T]) -> _T:
        """Do work on the event loop's thread; its processor seconds count, not what it waits for a processor."""
        return self._counting(work, time.thread_time, 1.0)

    def working_apart(self, work: Callable[[], _T]) -> _T:
        """Do work in a thread, where a library may use threads of its own; this share of its seconds counts."""
        return self._counting(work, time.monotonic, THREAD_SHARE)

    def _counting(self, work: Callable[[], _T], clock: Callable[[], float], share: float) -> _T:
        begun = clock()
        try:
            return work()
        finally:
            self.work_seconds += share * (clock() - begun)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Record the seconds that the body takes, also where it raises."""
        begun = self.begun_seconds[stage] = time.monotonic()
        try:
            yield
        finally:
            self.record(stage, begun, time.monotonic() - begun)

    def record(self, stage: str, begun_seconds: float, seconds: float) -> None:
        """Record a stage that was timed elsewhere."""
        self.seconds[stage] = seconds
        self.begun_seconds[stage] = begun_seconds

    def add(self, other: StageTimer) -> None:
        """Add another document's seconds to these, stage by stage."""
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def timing(self, total_seconds: float) -> Timing:
        """The stages in milliseconds beside the request's own total."""
        stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in self.seconds.items()}
        return Timing(**stages, total_ms=round(total_seconds * 1000, 3))


MOST_TRACES = 300
MOST_DOCUMENTS = 50
"""Most documents of one request in its trace; the others are counted."""


@dataclass(frozen=True, slots=True)
class DocumentTrace:
    """One document that was answered. `code`: `ok`, or its error's; `ended_seconds`: when its result was there."""

    format: str
    size: int
    pages: int | None
    tokens: int
    windows: int
    entities: int
    code: str
    timer: StageTimer
    ended_seconds: float


@dataclass(slots=True, eq=False)
class RequestTrace:
    """One request; all times but `unix_seconds` are those of the monotonic clock.

    Attributes:
        received_seconds: when its body had been read.
        engine: the one that ran it.
        code: of the error that it was answered with as a whole, if so.
        count: of its documents, of which the first `MOST_DOCUMENTS` are in `documents`.
        timer: of the document that was begun last, while it is worked on.
        document_error: code of a document's error that is the service's own; None while there is none.
        is_untimed: whether its seconds say nothing of the service's speed: nobody waits for batch work, and OCR takes
            seconds a page.
    """

    id: str
    begun_seconds: float
    unix_seconds: float = field(default_factory=time.time)
    method: str = ""
    route: str = ""
    client: str = ""
    model: str = ""
    engine: str = ""
    received_seconds: float | None = None
    ended_seconds: float = 0.0
    status: int = 0
    code: str = ""
    count: int = 0
    documents: list[DocumentTrace] = field(default_factory=list)
    timer: StageTimer | None = None
    document_error: str | None = None
    is_untimed: bool = False

    @property
    def facts(self) -> dict[str, str]:
        """Client and first error's code, so far as they are known, for lines of the log."""
        code = next((each.code for each in self.documents if each.code != "ok"), self.code)
        return {name: value for name, value in (("client", self.client), ("code", code)) if value}

    @property
    def server_error(self) -> str | None:
        """Code of an error of the service's, of one document or all; None where it did what it should."""
        if is_server_error(self.code):
            return self.code
        return self.document_error or (InternalError.code if self.status == 500 else None)

    def add(self, document: DocumentTrace) -> None:
        """Add a document that was answered."""
        self.count += 1
        if is_server_error(document.code):
            self.document_error = document.code
        if len(self.documents) < MOST_DOCUMENTS:
            self.documents.append(document)


class TraceBook:
    """The requests that one worker is answering, and the last ones that it has answered."""

    def __init__(self) -> None:
        self._open: set[RequestTrace] = set()
        self._traces: deque[RequestTrace] = deque(maxlen=MOST_TRACES)

    def begin(self, trace: RequestTrace) -> None:
        self._open.add(trace)

    def add(self, trace: RequestTrace) -> None:
        """Keep a request that was answered."""
        self._open.discard(trace)
        self._traces.append(trace)

    def find_open(self, request_id: str, client: str | None = None) -> RequestTrace | None:
        """A request with this id that is not answered yet, of this client if one is named."""
        return next((each for each in self._open if each.id == request_id and client in (None, each.client)), None)

    def find(self, request_id: str, client: str | None = None) -> RequestTrace | None:
        """The last request with this id, of this client if one is named."""
        return next((trace for trace in self.latest(client) if trace.id == request_id), None)

    def latest(self, client: str | None = None) -> Iterator[RequestTrace]:
        """All that are kept, the last first; those of one client if one is named."""
        return (trace for trace in reversed(self._traces) if client is None or trace.client == client)


NAMES = {"compute": "batch"}
"""Stage → span, where the span has another name: what the engine computes is a batch, of this document and others."""


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span below the request's. Times are of the monotonic clock; `document` is its place in the request."""

    name: str
    begun_seconds: float
    ended_seconds: float
    document: int | None = None


def spans_of(trace: RequestTrace) -> Iterator[TraceSpan]:
    """The spans of a request that has ended: receive, the stages of each document, answer."""
    last = received = trace.begun_seconds
    if trace.received_seconds is not None:
        last = received = trace.received_seconds
        yield TraceSpan("receive", trace.begun_seconds, received)
    for number, timer in enumerate(each.timer for each in trace.documents):
        for stage, begun in timer.begun_seconds.items():
            ended = begun + timer.seconds.get(stage, 0.0)
            last = max(last, ended)
            yield TraceSpan(NAMES.get(stage, stage), begun, ended, number)
    if trace.documents:
        yield TraceSpan("answer", min(last, trace.ended_seconds), trace.ended_seconds)
