"""Requests of the console: finds the trace of a request in this worker or asks the other workers for it.

A trace is in the memory of the worker that answered the request, and the console's question reaches any worker. Each
worker listens on a socket in the runtime folder.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from service.api.console.waterfall import summary, waterfall
from service.api.engine.client import EngineClient
from service.api.extraction.trace import RequestTrace, TraceBook
from service.core.errors import UnknownRoute

PREFIX = "console-"
ASK_SECONDS = 5.0
MOST_BYTES = 4 << 20
"""Of an answer."""

log = logging.getLogger(__name__)
Answer = Callable[[bytes], Awaitable[bytes]]


class WorkerPeers:
    """This worker's socket, and the way to those of the others."""

    def __init__(self, folder: Path, answer: Answer) -> None:
        self._path = folder / f"{PREFIX}{os.getpid()}"
        self._answer = answer
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listen; a service whose folder takes no socket goes on, and each worker knows its own requests only."""
        try:
            self._path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._reply, self._path, limit=MOST_BYTES)
        except OSError as error:
            log.warning("the console cannot be asked by other workers", extra={"error": str(error)})

    async def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def ask(self, question: bytes) -> list[bytes]:
        """The answers of all other workers that answer soon; the question is one line."""
        others = [path for path in self._path.parent.glob(f"{PREFIX}*") if path != self._path]
        answers = await asyncio.gather(*(_ask(path, question) for path in others))
        return [answer for answer in answers if answer]

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.LimitOverrunError, ValueError):
            writer.write(await self._answer((await reader.readline()).strip()))
            await writer.drain()
        writer.close()


async def _ask(path: Path, question: bytes) -> bytes:
    """One worker's answer; nothing of one that has ended, or is too busy."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
            try:
                writer.write(question + b"\n")
                return await reader.read(-1)
            finally:
                writer.close()
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
        return b""
    except (TimeoutError, OSError):
        return b""


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

    async def find(self, request_id: str, client: str | None, siblings: WorkerPeers) -> dict[str, Any]:
        """A request's waterfall, whichever worker remembers it.

        Raises:
            UnknownRoute: none does.
        """
        found = await self._gather(Question(request_id, client), siblings)
        if not found:
            raise UnknownRoute("No request of this id is remembered; each worker keeps the last few hundred.")
        return max(found, key=itemgetter("unix_seconds"))

    async def progress(self, request_id: str, client: str | None, siblings: WorkerPeers) -> dict[str, Any]:
        """How far a request is that is not answered yet; empty of one that no worker works on."""
        found = await self._gather(Question(request_id, client, unanswered=True), siblings)
        return found[0] if found else {}

    async def latest(self, client: str | None, siblings: WorkerPeers) -> list[dict[str, Any]]:
        """The last requests of all workers, the last first."""
        found = await self._gather(Question(None, client), siblings)
        return sorted(found, key=itemgetter("unix_seconds"), reverse=True)[:MOST_LISTED]

    async def _gather(self, question: Question, siblings: WorkerPeers) -> list[dict[str, Any]]:
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
        snapshot = await self._engine.debug_snapshot(0)
        same = snapshot is not None and snapshot.engine == trace.engine
        batches = {each.number: each for each in snapshot.batches} if snapshot and same else {}
        return [waterfall(trace, batches)]

    def _progress(self, trace: RequestTrace) -> dict[str, Any]:
        """The stage of the document that was begun last, and how many windows of how many have come back."""
        timer = trace.timer
        done, windows = (0, 0) if timer is None or timer.key is None else self._engine.windows(timer.key)
        return {"stage": timer and timer.stage, "windows_done": done, "windows": windows}
