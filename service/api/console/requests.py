"""Finds requests in this worker's memory and in those of its siblings, for the console."""

from __future__ import annotations

from itertools import islice
from operator import itemgetter
from typing import Any

import msgspec

from service.api.console.siblings import Siblings
from service.api.console.waterfall import summary, waterfall
from service.api.engine.client import EngineClient
from service.api.extraction.trace import RequestTrace, TraceBook
from service.core.errors import UnknownRoute

MOST_LISTED = 100


class Question(msgspec.Struct, frozen=True):
    """What workers ask each other: the request of this id, or the last ones; of one client if one is named.

    `unanswered`: how far one is that is still worked on.
    """

    find: str | None = None
    client: str | None = None
    unanswered: bool = False


class RequestFinder:
    """The requests that the workers of one service remember."""

    def __init__(self, traces: TraceBook, engine: EngineClient) -> None:
        self._traces = traces
        self._engine = engine

    async def answer(self, data: bytes) -> bytes:
        """What this worker answers to another one's question: a list, empty where it knows nothing."""
        return msgspec.json.encode(await self._known(msgspec.json.decode(data, type=Question)))

    async def find(self, request_id: str, client: str | None, siblings: Siblings) -> dict[str, Any]:
        """A request's waterfall, whichever worker remembers it.

        Raises:
            UnknownRoute: none does.
        """
        found = await self._gather(Question(request_id, client), siblings)
        if not found:
            raise UnknownRoute("No request of this id is remembered; each worker keeps the last few hundred.")
        return max(found, key=itemgetter("unix_seconds"))

    async def progress(self, request_id: str, client: str | None, siblings: Siblings) -> dict[str, Any]:
        """How far a request is that is not answered yet; empty of one that no worker works on."""
        found = await self._gather(Question(request_id, client, unanswered=True), siblings)
        return found[0] if found else {}

    async def latest(self, client: str | None, siblings: Siblings) -> list[dict[str, Any]]:
        """The last requests of all workers, the last first."""
        found = await self._gather(Question(None, client), siblings)
        return sorted(found, key=itemgetter("unix_seconds"), reverse=True)[:MOST_LISTED]

    async def _gather(self, question: Question, siblings: Siblings) -> list[dict[str, Any]]:
        found = await self._known(question)
        for answer in await siblings.ask(msgspec.json.encode(question)):
            found += msgspec.json.decode(answer, type=list[dict[str, Any]])
        return found

    async def _known(self, question: Question) -> list[dict[str, Any]]:
        if question.find is None:
            return [summary(trace) for trace in islice(self._traces.latest(question.client), MOST_LISTED)]
        if question.unanswered:
            trace = self._traces.find_open(question.find, question.client)
            return [] if trace is None else [self._progress(trace)]
        trace = self._traces.find(question.find, question.client)
        if trace is None:
            return []
        observation = await self._engine.observe(0)
        same = observation is not None and observation.engine == trace.engine
        batches = {each.number: each for each in observation.batches} if observation and same else {}
        return [waterfall(trace, batches)]

    def _progress(self, trace: RequestTrace) -> dict[str, Any]:
        """The stage of the document that was begun last, and how many windows of how many have come back."""
        timer = trace.timer
        done, windows = (0, 0) if timer is None or timer.key is None else self._engine.windows(timer.key)
        return {"stage": timer and timer.stage, "windows_done": done, "windows": windows}
