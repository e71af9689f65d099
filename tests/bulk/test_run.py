"""A run of a job: any ends and starts leave one row for each input, in the same parts."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.bulk import finish as outputs
from service.bulk import job as jobs
from service.bulk.chunk_worker import Ask, ChunkWorker, InFlight, NotFinished
from service.bulk.job import JobRecord
from service.bulk.run import BulkRun, RunCounts
from service.bulk.storage import Content, FolderStorage, StorageError
from service.core.bulk import BulkJob, Item
from service.core.errors import Forbidden, InvalidOptions, QueueFull, UnreadableDocument

JOB = BulkJob("documents@sha256:ab", {})


class Numbers:
    """Inputs `0`, `1`, …; `broken`: their listing ends with an error after so many."""

    def __init__(self, count: int, broken: int | None = None) -> None:
        self._count, self._broken = count, broken

    @property
    def names(self) -> tuple[str, ...]:
        return ("numbers",)

    def items(self) -> Iterator[Item]:
        for number in range(self._count):
            if number == self._broken:
                raise InvalidOptions("The folder cannot be listed.")
            yield Item(str(number), "v1", 1)

    def read(self, item: Item) -> Content:
        return Content(item.key, item.key.encode())


async def answer(name: str, data: bytes | str) -> dict[str, Any]:
    """Every seventh number is damaged."""
    await asyncio.sleep(0)
    if int(name) % 7 == 0:
        raise UnreadableDocument("Damaged.")
    return {"id": name, "entities": [], "error": None}


def _run(folder: Path, inputs: Numbers, ask: Ask = answer) -> BulkRun:
    storage, in_flight = FolderStorage(folder), InFlight()
    jobs.begin(storage, JobRecord(JOB, None, inputs.names))
    worker = ChunkWorker(inputs, ask, JOB, in_flight, patience_seconds=0.0)
    return BulkRun(storage, JOB, inputs, worker, in_flight)


def _parts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "parts").iterdir()}


async def test_a_run_answers_everything_and_another_has_nothing_to_do(tmp_path: Path) -> None:
    counts = await _run(tmp_path, Numbers(420)).run()
    assert counts == RunCounts(files=420, done=420, is_planned=True, errors=counts.errors)
    assert counts.errors == {"unreadable_document": 60}
    assert [row["key"] for row in outputs.rows(FolderStorage(tmp_path))] == list(map(str, range(420)))

    async def never(name: str, data: bytes | str) -> dict[str, Any]:
        raise AssertionError("all is answered")

    again = await _run(tmp_path, Numbers(420), never).run()
    assert (again.done, again.begun_with, again.files) == (420, 420, 420)


async def test_a_file_that_is_answered_again_was_answered_once_before(tmp_path: Path) -> None:
    await _run(tmp_path, Numbers(20)).run()
    storage = FolderStorage(tmp_path)
    for _ in range(2):
        list(jobs.plan_again(storage, JOB, outputs.failed_items(storage, frozenset())))
        counts = await _run(tmp_path, Numbers(20)).run()
        assert counts.answered_before == 20
        assert counts.done - counts.begun_with == counts.files - counts.begun_with == counts.errors.total() == 3


async def test_runs_that_are_stopped_leave_the_parts_of_one_that_is_not(tmp_path: Path) -> None:
    await _run(tmp_path / "whole", Numbers(1_000)).run()
    chance = random.Random(1)
    for most in (0, 130, 200, 400):
        left, stopped = iter(range(most)), asyncio.Event()

        async def ask(
            name: str, data: bytes | str, left: Iterator[int] = left, stopped: asyncio.Event = stopped
        ) -> dict[str, Any]:
            if next(left, None) is None:
                stopped.set()
            await asyncio.sleep(chance.random() / 1000)
            return await answer(name, data)

        task = asyncio.create_task(_run(tmp_path / "stopped", Numbers(1_000), ask).run())
        await stopped.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    counts = await _run(tmp_path / "stopped", Numbers(1_000)).run()
    assert counts.done == 1_000
    assert counts.begun_with > 0
    assert _parts(tmp_path / "stopped") == _parts(tmp_path / "whole")


async def test_files_that_cannot_be_finished_now_are_counted_and_left(tmp_path: Path) -> None:
    async def full(name: str, data: bytes | str) -> dict[str, Any]:
        if name == "60":
            raise QueueFull("Full.", retry_after_seconds=0.0)
        return await answer(name, data)

    counts = await _run(tmp_path, Numbers(200), full).run()
    assert (counts.done, counts.later, counts.problem) == (150, 50, "60: Full.")
    assert not jobs.counts(FolderStorage(tmp_path)).is_done
    assert (await _run(tmp_path, Numbers(200)).run()).later == 0
    assert outputs.finish(FolderStorage(tmp_path))[0].files == 200


async def test_a_service_that_answers_nothing_ends_the_run(tmp_path: Path) -> None:
    asked = 0

    async def full(name: str, data: bytes | str) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        raise QueueFull("Full.", retry_after_seconds=0.0)

    with pytest.raises(NotFinished, match="Full"):
        await _run(tmp_path, Numbers(5_000), full).run()
    assert asked < 200


async def test_a_run_that_is_stopped_plans_no_chunk_of_what_it_has_listed(tmp_path: Path) -> None:
    listing, go_on = threading.Event(), threading.Event()

    class Slow(Numbers):
        def items(self) -> Iterator[Item]:
            for item in super().items():
                if item.key == "5123":
                    listing.set()
                    go_on.wait(30)
                yield item

    task = asyncio.create_task(_run(tmp_path, Slow(6_000)).run())
    await asyncio.to_thread(listing.wait, 30)
    task.cancel()
    asyncio.get_running_loop().call_later(0.05, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert jobs.counts(FolderStorage(tmp_path)).files == 5_000


async def test_a_listing_that_fails_ends_the_run_and_what_is_done_stands(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions, match="cannot be listed"):
        await _run(tmp_path, Numbers(11_000, broken=10_500)).run()
    assert (await _run(tmp_path, Numbers(11_000)).run()).done == 11_000


async def test_a_job_of_which_nothing_can_be_answered_ends_at_once(tmp_path: Path) -> None:
    async def forbidden(name: str, data: bytes | str) -> dict[str, Any]:
        raise Forbidden("The key is not known.")

    with pytest.raises(Forbidden):
        await _run(tmp_path, Numbers(200), forbidden).run()


async def test_an_output_that_cannot_be_written_ends_the_run(tmp_path: Path) -> None:
    run = _run(tmp_path, Numbers(200))
    (tmp_path / "parts").write_bytes(b"")
    with pytest.raises(StorageError):
        await run.run()
