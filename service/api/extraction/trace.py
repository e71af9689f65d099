"""Traces of requests: when each stage of each document began and how long it took, in the memory of one worker.

A trace holds sizes, times and codes; never a document's text, name or entities. The last `MOST_TRACES` are kept.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from service.api.extraction.stage_timer import StageTimer

MOST_TRACES = 300
MOST_DOCUMENTS = 50
"""Of one request; the others are counted."""


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
        count: of its documents, of which the first `MOST_DOCUMENTS` are in `documents`.
        timer: of the document that was begun last, while it is worked on.
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
    count: int = 0
    documents: list[DocumentTrace] = field(default_factory=list)
    timer: StageTimer | None = None

    def add(self, document: DocumentTrace) -> None:
        """Add a document that was answered."""
        self.count += 1
        if len(self.documents) < MOST_DOCUMENTS:
            self.documents.append(document)


class TraceBook:
    """The requests that one worker is answering, and the last ones that it has answered."""

    def __init__(self) -> None:
        self._open: set[RequestTrace] = set()
        self._traces: deque[RequestTrace] = deque(maxlen=MOST_TRACES)

    def begin(self, trace: RequestTrace) -> None:
        """Note a request that has come."""
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
