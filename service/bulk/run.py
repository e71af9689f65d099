"""One machine's run of a bulk job: plans in a thread, works through the plan's segments, writes parts.

It goes on with whatever the output holds: a run that was killed at any moment, or another planner's segments. Planning
goes ahead of the work, so that the first rows come at once and the total is known early.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from service.bulk import job as jobs
from service.bulk.chunk_worker import ChunkWorker, InFlight, NotFinished
from service.bulk.job import PlannedChunk
from service.bulk.storage import Inputs, JobStorage
from service.core.bulk import BulkJob, Item


@dataclass(slots=True)
class RunCounts:
    """The progress of a run.

    Attributes:
        files: of the plan so far; it is whole when `is_planned`.
        begun_with: files whose part was there before this run; one that is answered again is among them once more.
        answered_before: the same, each file once.
        later: files that this run could not finish, for no fault of theirs.
        errors: of this run's rows, by code.
        problem: why files were left for later, the last reason.
    """

    files: int = 0
    done: int = 0
    begun_with: int = 0
    answered_before: int = 0
    later: int = 0
    is_planned: bool = False
    errors: Counter[str] = field(default_factory=Counter)
    problem: str = ""


class _Stopped(Exception):
    """The run ends, and with it its listing."""


class BulkRun:
    """A run of one job; `counts` may be read at any time."""

    def __init__(
        self, storage: JobStorage, job: BulkJob, inputs: Inputs, worker: ChunkWorker, in_flight: InFlight
    ) -> None:
        self.counts = RunCounts()
        self._storage, self._job, self._inputs = storage, job, inputs
        self._worker, self._in_flight = worker, in_flight
        self._stopped = threading.Event()
        self._grown = asyncio.Event()

    async def run(self) -> RunCounts:
        """Work until every chunk of the plan has its part, or cannot be finished now.

        Raises:
            GleanerError: the inputs cannot be listed, no input can be answered, or the storage fails.
            NotFinished: the service has answered nothing for long.
        """
        loop = asyncio.get_running_loop()
        planning = asyncio.create_task(asyncio.to_thread(self._plan, loop))
        planning.add_done_callback(lambda _: self._grown.set())
        try:
            async with asyncio.TaskGroup() as group:
                async for planned in self._unfinished(planning):
                    group.create_task(self._finish(planned))
                    await asyncio.sleep(0)
                    await self._in_flight.all_entered()
                await planning
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        finally:
            self._stopped.set()
            await asyncio.wait([planning])
            planning.cancelled() or planning.exception()
        return self.counts

    def _plan(self, loop: asyncio.AbstractEventLoop) -> None:
        self.counts.files = jobs.counts(self._storage).files
        with suppress(_Stopped):
            for segment in jobs.plan(self._storage, self._job, self._until_stopped(self._inputs.items())):
                self.counts.files += sum(len(each.chunk.items) for each in segment)
                loop.call_soon_threadsafe(self._grown.set)
            self.counts.is_planned = True

    def _until_stopped(self, items: Iterator[Item]) -> Iterator[Item]:
        for item in items:
            if self._stopped.is_set():
                raise _Stopped  # An end would make a chunk of what was listed so far.
            yield item

    async def _unfinished(self, planning: asyncio.Task[None]) -> AsyncIterator[PlannedChunk]:
        """The plan's chunks without a part, in order, as the plan grows."""
        begun = await asyncio.to_thread(jobs.parts, self._storage)
        before = set[int]()  # Hashes of keys.
        number = 0
        while True:
            is_last = planning.done()
            if is_last and planning.exception() is not None:
                return  # What cannot be listed cannot be read either.
            self._grown.clear()
            segment = await asyncio.to_thread(self._segment, number)
            if segment is None:
                if is_last:
                    return
                if not planning.done():
                    await self._grown.wait()
                continue
            number += 1
            for each in segment:
                if each.part in begun:
                    self.counts.done += len(each.chunk.items)
                    self.counts.begun_with += len(each.chunk.items)
                    before.update(hash(item.key) for item in each.chunk.items)
                    self.counts.answered_before = len(before)
                else:
                    begun.add(each.part)
                    yield each

    def _segment(self, after: int) -> list[PlannedChunk] | None:
        return next(jobs.segments(self._storage, after), None)

    async def _finish(self, planned: PlannedChunk) -> None:
        try:
            rows = await self._worker.rows(planned.chunk)
        except NotFinished as error:
            if error.is_silent:
                raise
            self.counts.later += len(planned.chunk.items)
            self.counts.problem = error.detail
            return
        await asyncio.to_thread(jobs.put_part, self._storage, planned.part, rows)
        self.counts.done += len(rows)
        self.counts.errors.update(row["error"]["code"] for row in rows if row["error"] is not None)
