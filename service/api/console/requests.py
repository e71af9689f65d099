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
from service.api.extraction.trace import RequestTrace, StageTimer, TraceBook
from service.core.errors import UnknownRoute

PREFIX = "console-"
ASK_SECONDS = 5.0
MOST_BYTES = 4 << 20
"""Most bytes of an answer."""

log = logging.getLogger(__name__)
Answer = Callable[[bytes], Awaitable[bytes]]


class WorkerPeers:
    """This worker's socket, and the way to those of the other workers."""

    def __init__(self, folder: Path, answer: Answer, number: int = 0) -> None:
        """`number`: of this worker's process; 0 for this process."""
        self._path = folder / f"{PREFIX}{number or os.getpid()}"
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._replies: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Listen; a service whose folder takes no socket goes on, and each worker knows its own requests only."""
        try:
            self._path.unlink(missing_ok=True)
            self._server = await asyncio.start_unix_server(self._accept, self._path, limit=MOST_BYTES)
        except OSError as error:
            log.warning("the console cannot be asked by other workers", extra={"error": str(error)})

    async def close(self) -> None:
        """Stop listening, and end the replies that are under way with their connections."""
        if self._server is None:
            return
        self._server.close()
        self._path.unlink(missing_ok=True)
        for reply in self._replies:
            reply.cancel()
        await asyncio.gather(*self._replies, return_exceptions=True)
        await self._server.wait_closed()  # It waits for the connections since Python 3.12.

    async def ask(self, question: bytes) -> list[bytes]:
        """The answers of all other workers that answer within `ASK_SECONDS`; the question is one line."""
        others = [path for path in self._path.parent.glob(f"{PREFIX}*") if path != self._path]
        answers = await asyncio.gather(*(_ask(path, question) for path in others))
        return [answer for answer in answers if answer]

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reply = asyncio.create_task(self._reply(reader, writer))
        self._replies.add(reply)
        reply.add_done_callback(self._replies.discard)

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.LimitOverrunError, ValueError):
                writer.write(await self._answer((await reader.readline()).strip()))
                await writer.drain()
        finally:
            await _closed(writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    """Close a connection and wait until its socket is closed."""
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


async def _ask(path: Path, question: bytes) -> bytes:
    """One worker's answer; empty of one that has ended, or is too busy."""
    try:
        async with asyncio.timeout(ASK_SECONDS):
            reader, writer = await asyncio.open_unix_connection(path, limit=MOST_BYTES)
            try:
                writer.write(question + b"\n")
                return await reader.read(-1)
            finally:
                await _closed(writer)
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
        return b""
    except (TimeoutError, OSError):
        return b""


MOST_LISTED = 100


class Question(msgspec.Struct, frozen=True):
    """A worker's question to the others: the request of this id, or the last ones; of one client if one is named.

    `unanswered`: asks how far a request is that has no answer yet.
    """

    find: str | None = None
    client: str | None = None
    unanswered: bool = False


class RequestFinder:
    """The requests that the workers of one service remember."""

    def __init__(self, traces: TraceBook, engine: EngineClient, folder: Path, number: int = 0) -> None:
        self._traces = traces
        self._engine = engine
        self.peers = WorkerPeers(folder, self.answer, number)

    async def answer(self, data: bytes) -> bytes:
        """The answer to another worker's question: a list, empty where this one knows nothing."""
        return msgspec.json.encode(await self._known(msgspec.json.decode(data, type=Question)))

    async def find(self, request_id: str, client: str | None) -> dict[str, Any]:
        """A request's waterfall, whichever worker remembers it.

        Raises:
            UnknownRoute: none does.
        """
        found = await self._gather(Question(request_id, client))
        if not found:
            raise UnknownRoute("No request of this id is remembered; each worker keeps the last few hundred.")
        return max(found, key=itemgetter("unix_seconds"))

    async def progress(self, request_id: str, client: str | None) -> dict[str, Any]:
        """The progress of a request that has no answer yet; empty if no worker works on it."""
        found = await self._gather(Question(request_id, client, unanswered=True))
        return found[0] if found else {}

    async def latest(self, client: str | None) -> list[dict[str, Any]]:
        """The last requests of all workers, the last first."""
        found = await self._gather(Question(None, client))
        return sorted(found, key=itemgetter("unix_seconds"), reverse=True)[:MOST_LISTED]

    async def _gather(self, question: Question) -> list[dict[str, Any]]:
        found = await self._known(question)
        for answer in await self.peers.ask(msgspec.json.encode(question)):
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
        """The stage of the document that was begun last, and how many of its pages and windows have come back."""
        timer = trace.timer or StageTimer()
        done, windows = (0, 0) if timer.key is None else self._engine.windows(timer.key)
        pages = {"pages_done": timer.pages.done, "pages": timer.pages.count}
        return {"stage": timer.stage, "windows_done": done, "windows": windows, **pages}
