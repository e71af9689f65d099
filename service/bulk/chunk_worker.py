"""Worker of a bulk job: makes a chunk's rows by reading each input and asking a service for its answer.

A row is an input's answer, or an error that is the input's own (`service/core/bulk_errors.py`). Other failures are
tried again as `Retry-After` says; if they last too long, `NotFinished` is raised and the chunk is done later. A row
holds nothing of the run that made it: no time, no name of a machine, so that a chunk's rows are the same bytes each
time.

Several chunks share one `InFlight`, so that the next chunk's inputs are under way while a chunk waits for its last.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from service.bulk.storage import Content, Inputs
from service.core.bulk import BulkJob, Chunk, Item, row
from service.core.bulk_errors import MOST_TRIES, FailureOutcome, outcome_of, wait_seconds
from service.core.errors import BY_CODE, GleanerError, InternalError, ServiceError

Ask = Callable[[str, bytes | str], Awaitable[dict[str, Any]]]
"""Call from a document's name, and a file's bytes or a text, to its answer as /extract gives it for a document.

Raises GleanerError; any other exception counts as the service's own fault.
"""

IN_FLIGHT = 32
"""Inputs in work at a time, so that the engine's batches fill."""
IN_FLIGHT_BYTES = 512 << 20
"""Bytes of inputs that are held in memory at a time; a larger input is held alone."""
PATIENCE_SECONDS = 600.0
"""Seconds for which an input is tried again after errors that are not its own."""


class NotFinished(ServiceError):
    """A chunk's rows could not all be made now, though nothing is wrong with its inputs.

    Attributes:
        is_silent: the service answered no other input meanwhile either.
    """

    code = "not_finished"
    title = "The service does not answer now"

    def __init__(self, detail: str, *, is_silent: bool) -> None:
        super().__init__(detail)
        self.is_silent = is_silent


class InFlight:
    """The inputs that are in work, by number and bytes. They enter in the order in which they came."""

    def __init__(self, most: int = IN_FLIGHT, most_bytes: int = IN_FLIGHT_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._count, self._bytes = 0, 0
        self._turn = asyncio.Lock()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def of(self, size_bytes: int) -> AsyncIterator[None]:
        """Hold a place for one input."""
        async with self._turn:
            while self._count and (self._count >= self._most or self._bytes + size_bytes > self._most_bytes):
                self._left.clear()
                await self._left.wait()
            self._count, self._bytes = self._count + 1, self._bytes + size_bytes
        try:
            yield
        finally:
            self._count, self._bytes = self._count - 1, self._bytes - size_bytes
            self._left.set()

    async def all_entered(self) -> None:
        """Wait until every input that came before is in work: then another chunk can be begun."""
        async with self._turn:
            pass


class ChunkWorker:
    """Makes the rows of chunks of one job.

    Args:
        ask: see `Ask`.
        patience_seconds: how long to wait for a service that does not answer for no fault of the input.
    """

    def __init__(
        self,
        inputs: Inputs,
        ask: Ask,
        job: BulkJob,
        in_flight: InFlight,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._inputs, self._ask, self._job = inputs, ask, job
        self._in_flight = in_flight
        self._patience_seconds = patience_seconds
        self._answered = 0

    async def rows(self, chunk: Chunk) -> list[dict[str, Any]]:
        """The rows of a chunk, in the order of its inputs.

        Raises:
            NotFinished: some input was not answered for too long.
            GleanerError: no input of the job can be answered (`FailureOutcome.JOB`).
        """
        tasks = [asyncio.create_task(self.row(item)) for item in chunk.items]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def row(self, item: Item) -> dict[str, Any]:
        """The row of one input; raises as `rows`, NotFinished from the error of the last try."""
        sha256: str | None = None
        begun, tries, answered = time.monotonic(), 0, self._answered
        async with self._in_flight.of(item.size_bytes):
            while True:
                try:
                    content, sha256 = await asyncio.to_thread(self._read, item)
                    document = await self._answer(content)
                    self._answered += 1
                    return row(item, model=self._job.model, sha256=sha256, document=document)
                except GleanerError as error:
                    tries += 1
                    match outcome_of(error.code):
                        case FailureOutcome.JOB:
                            raise
                        case FailureOutcome.LATER if time.monotonic() - begun > self._patience_seconds:
                            is_silent = self._answered == answered
                            raise NotFinished(f"{item.key}: {error.detail}", is_silent=is_silent) from error
                        case FailureOutcome.LATER:
                            pass
                        case FailureOutcome.AGAIN if tries < MOST_TRIES:
                            pass
                        case _:
                            failed = {"code": error.code, "detail": error.detail}
                            return row(item, model=self._job.model, sha256=sha256, error=failed)
                    wait = wait_seconds(tries, error.retry_after_seconds, random.random())
                await asyncio.sleep(wait)

    def _read(self, item: Item) -> tuple[Content, str]:
        content = self._inputs.read(item)
        data = content.data.encode("utf-8", "replace") if isinstance(content.data, str) else content.data
        return content, hashlib.sha256(data).hexdigest()

    async def _answer(self, content: Content) -> dict[str, Any]:
        try:
            name = content.name.encode("utf-8", "replace").decode()  # A file's name may be no Unicode.
            document = await self._ask(name, content.data)
        except GleanerError:
            raise
        except Exception as unknown:
            raise InternalError(f"The service failed over this ({type(unknown).__name__}).") from unknown
        if failed := document.get("error"):
            raise BY_CODE.get(failed["code"], InternalError)(failed["detail"])
        return document
