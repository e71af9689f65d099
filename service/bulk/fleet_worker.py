"""Worker of a fleet's bulk jobs: takes chunks from the queue while its service has room, and writes their parts.

    message received   → a lease, which is prolonged at each third
    part is written    → the message is deleted once the job has been looked at for its end
    file is bad        → its row says so
    service overloaded → files wait, the lease goes on
    model not served   → the message waits for an hour; the job is not failed
    job cancelled      → the message is deleted
    stop               → leases end at once, others take the chunks
    worker dies        → leases end by themselves; a chunk that kills workers becomes a dead letter

A job's end is looked for after each part, at most every few seconds, before the part's message is deleted: if this
process dies between, the message comes to another, which finds the part and looks again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from service.bulk.chunk_worker import ChunkWorker, InFlight
from service.bulk.fleet_job import FleetJob
from service.bulk.job import PlannedChunk
from service.bulk.messages import ChunkMessage, NewObject, UnknownMessage, read_message
from service.bulk.s3 import S3Inputs
from service.bulk.sqs import Message, QueueError, SqsQueue
from service.bulk.storage import StorageError
from service.core.bulk import Chunk, part_name
from service.core.bulk_errors import FailureOutcome, outcome_of
from service.core.errors import GleanerError, InvalidOptions
from service.logs import LogEvent

IN_FLIGHT, IN_FLIGHT_BYTES = 8, 128 << 20
"""Inputs in work at a time, and their bytes, which are held in memory beside the service's own."""
POLL_SECONDS = 5
PAUSE_SECONDS, JOB_PAUSE_SECONDS = 5.0, 60.0
"""Seconds without a new chunk after a failure of queue or storage, and after one that any file of a job has."""
AGAIN_SECONDS, AGAIN_FACTOR, GONE_SECONDS = 60, 4, 3_600
"""Seconds until a chunk that was left comes again, their growth each time, and seconds where people must mend it."""
END_SECONDS, END_CHUNKS_A_SECOND = 5.0, 500
"""Least time between two looks for a job's end, longer for many chunks: a look lists all parts, 1,000 a request."""
CANCEL_SECONDS = 5.0
"""Least time between two looks whether a job is cancelled."""
DONE_SECONDS = 60.0
"""Least time between two looks whether others have ended a job with a deadline."""
LONGEST_LEASE = 43_200
KEPT_JOBS = 16
"""Jobs that are kept open, those of the last chunks."""

log = logging.getLogger(__name__)


class Service(Protocol):
    """The service that answers documents."""

    async def ask(self, options: dict[str, Any], name: str, data: bytes | str) -> dict[str, Any]:
        """The answer to one document, as `chunk_worker.Ask`."""

    async def serves(self, model: str) -> bool:
        """Tell whether a revision is served."""


class _NotServed(Exception):
    """The model of a job is not served here."""


class _Periodic:
    """A look that is taken at most once in a period; all who wait share the next one."""

    def __init__(self, seconds: Callable[[], float], look: Callable[[], bool]) -> None:
        self._seconds, self._look = seconds, look
        self._begun = float("-inf")
        self._next: asyncio.Task[bool] | None = None

    async def fresh(self) -> bool:
        """The outcome of a look that begins after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._take())
        return await asyncio.shield(self._next)

    async def _take(self) -> bool:
        await asyncio.sleep(max(self._begun + self._seconds() - time.monotonic(), 0.0))
        self._next, self._begun = None, time.monotonic()
        return await asyncio.to_thread(self._look)


class _Job:
    """A job with its inputs, its worker and the looks for its end."""

    def __init__(self, job: FleetJob, service: Service, in_flight: InFlight) -> None:
        self.job = job
        record = job.record
        self.inputs = S3Inputs(record.inputs[0])
        options = {**record.job.options, "model": record.job.model}
        self.worker = ChunkWorker(self.inputs, partial(service.ask, options), record.job, in_flight)
        self.end = _Periodic(lambda: max(END_SECONDS, job.known_chunks / END_CHUNKS_A_SECOND), job.finish_if_done)
        self.is_done = False
        self._cancelled, self._looked, self._end_looked = False, float("-inf"), float("-inf")

    async def deadline(self) -> float | None:
        """The deadline in Unix seconds; None without one, or if the job is cancelled or done, as known for a minute."""
        if self.job.terms.by is None or self.is_done or await self.is_cancelled():
            return None
        if time.monotonic() - self._end_looked >= DONE_SECONDS:  # Another may have done the last chunk.
            self._end_looked = time.monotonic()
            self.is_done = await asyncio.to_thread(self.job.is_finished)
        return None if self.is_done else self.job.terms.by

    async def is_cancelled(self) -> bool:
        """Tell whether the job is cancelled.

        "Not cancelled" is cached for a few seconds; "cancelled" is looked up each time, as `start` takes the mark away
        and sends chunks, which must not be dropped.
        """
        if self._cancelled or time.monotonic() - self._looked >= CANCEL_SECONDS:
            self._looked = time.monotonic()
            self._cancelled = await asyncio.to_thread(self.job.is_cancelled)
        return self._cancelled


class BulkWorker:
    """Works on a queue until it is stopped.

    Args:
        room: returns when the service has room.
        events: URL of the job that new objects are chunks of; empty: none.
        lease_seconds: the queue's own.
        again_seconds: after which a chunk that was left comes again, the first time.
        poll_seconds: longest wait for a message; a stop waits for it too.
        in_flight: files asked for at a time; a request that comes meanwhile may wait behind so many.

    Attributes:
        chunks, files: that this worker has received.
    """

    def __init__(
        self,
        queue: SqsQueue,
        service: Service,
        room: Callable[[], Awaitable[None]],
        *,
        lease_seconds: int,
        events: str = "",
        again_seconds: int = AGAIN_SECONDS,
        poll_seconds: int = POLL_SECONDS,
        in_flight: int = IN_FLIGHT,
    ) -> None:
        self._queue, self._service, self._room, self._events = queue, service, room, events
        self._lease_seconds, self._again_seconds, self._poll_seconds = lease_seconds, again_seconds, poll_seconds
        self._in_flight, self._most = InFlight(in_flight, IN_FLIGHT_BYTES), in_flight
        self._jobs: dict[str, _Job] = {}
        self._working = set[asyncio.Task[None]]()
        self._paused_until = 0.0
        self._is_reached = True
        self.chunks, self.files = 0, 0

    @property
    def is_busy(self) -> bool:
        return bool(self._working)

    async def deadline(self) -> float | None:
        """The earliest deadline of the known jobs that are not done, in Unix seconds."""
        found = list[float | None]()
        for each in list(self._jobs.values()):
            with suppress(StorageError):  # While its storage fails, a job asks for no tasks.
                found.append(await each.deadline())
        return min((by for by in found if by is not None), default=None)

    async def run(self) -> None:
        """Work until this is cancelled; then leases end at once."""
        try:
            while True:
                await self._room()
                await asyncio.sleep(max(self._paused_until - time.monotonic(), 0.0))
                for message in await self._received():
                    begun = asyncio.Event()
                    task = asyncio.create_task(self._work(message, begun))
                    self._working.add(task)
                    task.add_done_callback(self._working.discard)
                    await begun.wait()
                await self._in_flight.all_entered()
        finally:
            for task in self._working:
                task.cancel()
            await asyncio.gather(*self._working, return_exceptions=True)

    async def _received(self) -> list[Message]:
        """The next messages; several where chunks are small, so that the files in work are not limited by messages."""
        most = max(1, min(10, self._most * self.chunks // max(8 * self.files, 1)))
        receiving = asyncio.create_task(
            asyncio.to_thread(self._queue.receive, wait_seconds=self._poll_seconds, most=most)
        )
        try:
            found = await asyncio.shield(receiving)
        except asyncio.CancelledError:  # What it receives yet is let go.
            with suppress(GleanerError):
                for message in await receiving:
                    await asyncio.to_thread(self._queue.prolong, message, 0)
            raise
        except GleanerError as error:
            self._note_reach(error)
            await asyncio.sleep(PAUSE_SECONDS)
            return []
        self._note_reach(None)
        return found

    def _note_reach(self, error: GleanerError | None) -> None:
        if self._is_reached == (error is None):
            return
        self._is_reached = error is None
        event = LogEvent.BULK_QUEUE_REACHABLE if self._is_reached else LogEvent.BULK_QUEUE_UNREACHABLE
        log.warning("the bulk queue: %s", error.detail if error else "in reach again", extra={"event": event})

    async def _work(self, message: Message, begun: asyncio.Event) -> None:
        """Do a message's work, with its lease prolonged; then delete it, or leave it for later."""
        beat = asyncio.create_task(self._prolong(message))
        try:
            later = await self._later(message, begun)
            beat.cancel()
            if later is None:
                await asyncio.to_thread(self._queue.delete, message)
            else:
                await asyncio.to_thread(self._queue.prolong, message, later)
        except asyncio.CancelledError:
            with suppress(QueueError):
                await asyncio.to_thread(self._queue.prolong, message, 0)
            raise
        except QueueError as error:  # It comes again when its lease ends.
            self._note_reach(error)
        finally:
            beat.cancel()
            begun.set()

    async def _prolong(self, message: Message) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            with suppress(QueueError):
                await asyncio.to_thread(self._queue.prolong, message, self._lease_seconds)

    async def _later(self, message: Message, begun: asyncio.Event) -> int | None:
        """Do a message's work; None when it is done, else the seconds after which it is to come again."""
        try:
            await self._do(read_message(message.body), begun)
            return None
        except _NotServed as error:
            return self._left(str(error), GONE_SECONDS, message)
        except GleanerError as error:
            if outcome_of(error.code) is FailureOutcome.JOB:
                if not isinstance(error, InvalidOptions):  # Which are this job's alone.
                    self._paused_until = time.monotonic() + JOB_PAUSE_SECONDS
                return self._left(f"{error.code}: {error.detail}", GONE_SECONDS, message)
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            why = f"{error.code}: {error.detail}"
        except UnknownMessage as error:
            why = str(error)
        except Exception as error:
            log.exception("a chunk failed", extra={"event": LogEvent.BULK_CHUNK_LEFT})
            why = f"{type(error).__name__}: {error}"
        return self._left(why, self._again_seconds * AGAIN_FACTOR ** (message.receives - 1), message)

    def _left(self, why: str, seconds: int, message: Message) -> int:
        seconds = min(seconds, LONGEST_LEASE)
        fields = {"event": LogEvent.BULK_CHUNK_LEFT, "again_seconds": seconds, "receives": message.receives}
        log.warning("a chunk was left for later: %s", why, extra={**fields, "body": message.body[:500]})
        return seconds

    async def _do(self, asked: ChunkMessage | list[NewObject], begun: asyncio.Event) -> None:
        if isinstance(asked, ChunkMessage):
            try:
                job = await self._job(asked.job)
            except InvalidOptions as error:
                self._dropped(error.detail)
                return
            planned = await asyncio.to_thread(job.job.chunk, asked.segment, asked.line)
            if planned is None:
                self._dropped(f"The plan of {asked.job} has no segment {asked.segment}, line {asked.line}.")
                return
            if await self._chunk(job, planned, begun):
                begun.set()
                job.is_done = await job.end.fresh()
            return
        for new in asked:
            await self._new_object(new, begun)

    async def _new_object(self, new: NewObject, begun: asyncio.Event) -> None:
        """A chunk of one of the job that S3's events are for, whose plan has the same chunk when it is planned."""
        if not self._events:
            self._dropped("GLEANER_BULK_EVENTS names no job for S3's events.")
            return
        job = await self._job(self._events)
        if not job.inputs.takes(new.bucket, new.item):
            self._dropped(f"The job {self._events} is not for s3://{new.bucket}/{new.item.key}.")
            return
        chunk = Chunk((new.item,))
        await self._chunk(job, PlannedChunk(part_name(chunk, job.job.record.job), chunk), begun)

    def _dropped(self, why: str) -> None:
        log.warning("a message was dropped: %s", why, extra={"event": LogEvent.BULK_MESSAGE_DROPPED})

    async def _chunk(self, job: _Job, planned: PlannedChunk, begun: asyncio.Event) -> bool:
        """Have a chunk's part written; False if its job is cancelled."""
        if await job.is_cancelled():
            return False
        if await asyncio.to_thread(job.job.has_part, planned.part):
            return True
        await self._check_served(job.job.record.job.model)
        self.chunks, self.files = self.chunks + 1, self.files + len(planned.chunk.items)
        asking = asyncio.create_task(job.worker.rows(planned.chunk))
        try:
            for _ in range(2):  # The chunk's inputs are then in line for their places.
                await asyncio.sleep(0)
            begun.set()
            rows = await asking
        finally:
            asking.cancel()
        try:
            await asyncio.to_thread(job.job.put_part, planned.part, rows)
        except StorageError:  # Before another chunk is computed, the job is opened anew.
            self._jobs = {url: each for url, each in self._jobs.items() if each is not job}
            raise
        return True

    async def _check_served(self, model: str) -> None:
        """Refuse a chunk whose revision is not served, unless an engine is just being started again."""
        for _ in range(2):
            if await self._service.serves(model):
                return
            await self._room()
        raise _NotServed(f"{model} is not served here")

    async def _job(self, url: str) -> _Job:
        """A job by its output, opened where it is not kept; its results may be written."""
        if url not in self._jobs:
            opened = await asyncio.to_thread(FleetJob, url)
            await asyncio.to_thread(opened.check_writable)
            self._jobs.setdefault(url, _Job(opened, self._service, self._in_flight))
        found = self._jobs[url] = self._jobs.pop(url)
        while len(self._jobs) > KEPT_JOBS:
            del self._jobs[next(iter(self._jobs))]
        return found
