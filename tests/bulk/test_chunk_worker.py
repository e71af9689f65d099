"""A chunk's rows from a service that answers, refuses and fails; and a sample's costs by the same calls."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.bulk.chunk_worker import Ask, ChunkWorker, InFlight, NotFinished
from service.bulk.estimate import listed, measured
from service.bulk.storage import Content, ObjectChanged, ObjectMissing, StorageError
from service.client import AsyncClient, RetryBudget
from service.core.bulk import BulkJob, Chunk, Item
from service.core.errors import (
    DeadlineExceeded,
    Forbidden,
    GleanerError,
    PoisonDocument,
    QueueFull,
    UnreadableDocument,
)
from service.remote_service import RemoteService
from tests.support.local_http import Reply, http_server, json_reply

JOB = BulkJob("documents@sha256:ab", {})
SHA256_OF_A = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"


class Texts:
    """Inputs whose content is their key; those in `errors` fail, once if a count is left."""

    def __init__(self, errors: dict[str, list[GleanerError]] | None = None) -> None:
        self.errors = errors or {}

    @property
    def names(self) -> tuple[str, ...]:
        return ("texts",)

    def items(self) -> Iterator[Item]:
        return iter(())

    def read(self, item: Item) -> Content:
        if left := self.errors.get(item.key):
            raise left.pop()
        return Content(item.key, item.key.encode())


class _Named(Texts):
    """Inputs whose documents have names of files."""

    def read(self, item: Item) -> Content:
        return Content(item.key.rpartition("/")[2], b"")


def _chunk(*keys: str) -> Chunk:
    return Chunk(tuple(Item(key, "v1", 1) for key in keys))


def _worker(ask: Ask, inputs: Texts | None = None, in_flight: InFlight | None = None) -> ChunkWorker:
    return ChunkWorker(inputs or Texts(), ask, JOB, in_flight or InFlight(), patience_seconds=0.0)


def _answer(name: str) -> dict[str, Any]:
    return {"id": name, "entities": [], "error": None}


async def test_rows_are_in_the_order_of_the_inputs_with_digests() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        await asyncio.sleep(0.01 if name == "a" else 0)
        return _answer(name)

    rows = await _worker(ask).rows(_chunk("a", "b"))
    assert [row["document"]["id"] for row in rows] == ["a", "b"]
    assert rows[0]["sha256"] == SHA256_OF_A
    assert rows[0]["model"] == JOB.model


async def test_a_name_that_is_no_unicode_is_asked_for_as_one_and_stays_the_key() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        return _answer(name)

    [row] = await _worker(ask, _Named()).rows(_chunk("b/\udcff\n.txt"))
    assert (row["key"], row["document"]["id"]) == ("b/\udcff\n.txt", "?\n.txt")


async def test_what_is_the_inputs_own_fault_is_its_row_and_asked_once() -> None:
    asked = Counter[str]()

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        asked[name] += 1
        if name == "bad":
            raise UnreadableDocument("Damaged.")
        if name == "poison":
            raise PoisonDocument("The engine died twice.")
        return {**_answer(name), "error": {"code": "document_too_large", "detail": "Large."}} if name == "large" else {}

    rows = await _worker(ask, Texts({"changed": [ObjectChanged("Changed.")]})).rows(
        _chunk("bad", "poison", "large", "changed", "good")
    )
    assert [row["error"] and row["error"]["code"] for row in rows] == [
        "unreadable_document",
        "poison_document",
        "document_too_large",
        "object_changed",
        None,
    ]
    assert [row["sha256"] is None for row in rows] == [False, False, False, True, False]
    assert set(asked.values()) == {1}


@pytest.mark.parametrize(
    "error", [QueueFull("Full.", retry_after_seconds=0.01), DeadlineExceeded("Late.", retry_after_seconds=0.01)]
)
async def test_what_is_not_the_inputs_fault_is_waited_for(error: GleanerError) -> None:
    asked = Counter[str]()

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        asked[name] += 1
        if asked[name] < 3:
            raise error
        return _answer(name)

    inputs = Texts({"a": [StorageError("Away.", retry_after_seconds=0.01)]})
    worker = ChunkWorker(inputs, ask, JOB, InFlight(), patience_seconds=60.0)
    if isinstance(error, DeadlineExceeded):
        inputs.errors = {}
    rows = await worker.rows(_chunk("a"))
    assert rows[0]["error"] is None
    assert asked == {"a": 3}


@pytest.mark.parametrize("failure", [DeadlineExceeded("Late.", retry_after_seconds=0.0), ZeroDivisionError()])
async def test_what_fails_again_and_again_becomes_a_row(failure: Exception) -> None:
    asked = 0

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        raise failure

    inputs = Texts()
    rows = await _worker(ask, inputs).rows(_chunk("a"))
    code = "deadline_exceeded" if isinstance(failure, DeadlineExceeded) else "internal_error"
    assert (rows[0]["error"]["code"], asked) == (code, 3)


@pytest.mark.parametrize(("status", "code"), [(502, None), (404, None), (413, "document_too_large")])
async def test_a_proxys_page_is_waited_out_unless_the_file_is_too_large_for_it(status: int, code: str | None) -> None:
    pages = [Reply(b"<html>", status)]
    answer = {"model": {}, "documents": [_answer("a")], "timing": {}}
    with http_server(lambda _call: pages.pop() if pages else json_reply(answer)) as url:
        async with RemoteService(url, {}, asking=AsyncClient(url, retries=RetryBudget(0))) as service:
            in_flight, ask = InFlight(), lambda name, data: service.extract(Path(name), data)
            [row] = await ChunkWorker(Texts(), ask, JOB, in_flight).rows(_chunk("a"))
    assert (row["error"] and row["error"]["code"]) == code


async def test_a_service_that_does_not_answer_for_long_leaves_the_chunk_for_later() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        if name == "a":
            raise QueueFull("Full.", retry_after_seconds=0.0)
        await asyncio.sleep(60)
        return _answer(name)

    async with asyncio.timeout(10):
        with pytest.raises(NotFinished, match="a: Full"):
            await _worker(ask).rows(_chunk("a", "b"))


async def test_what_no_input_of_the_job_can_mend_ends_it() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        raise Forbidden("The key is not known.")

    with pytest.raises(Forbidden):
        await _worker(ask).rows(_chunk("a", "b"))


async def test_inputs_in_work_are_bounded_by_number_and_bytes_and_chunks_overlap() -> None:
    now, most, order, release = Counter[str](), Counter[str](), list[str](), asyncio.Event()

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        order.append(name)
        now["files"] += 1
        most["files"] = max(most["files"], now["files"])
        await (release.wait() if name == "a0" else asyncio.sleep(0))
        now["files"] -= 1
        return _answer(name)

    in_flight = InFlight(3, most_bytes=100)
    worker = _worker(ask, in_flight=in_flight)
    large = Chunk(tuple(Item(f"b{number}", "v1", 60) for number in range(3)))
    first = asyncio.create_task(worker.rows(_chunk("a0", "a1", "a2", "a3")))
    await asyncio.sleep(0)
    await in_flight.all_entered()
    assert not first.done(), "its slowest input is in work when the next chunk begins"
    assert len(await worker.rows(large)) == 3
    release.set()
    assert len(await first) == 4
    assert most["files"] == 3
    assert order[4:] == ["b0", "b1", "b2"]


class _Pages:
    """Inputs with as many pages as their key says; `gone` is not there."""

    @property
    def names(self) -> tuple[str, ...]:
        return ("pages",)

    def items(self) -> Iterator[Item]:
        return (Item(str(number), "v", 10) for number in range(1_000))

    def read(self, item: Item) -> Content:
        if item.key == "gone":
            raise ObjectMissing("The object is not there any more.")
        return Content(item.key, item.key.encode())


def test_each_file_of_a_listing_is_as_likely_as_any_other() -> None:
    chance, seen = random.Random(7), Counter[bool]()
    for _ in range(200):
        found = listed(_Pages().items(), 10, chance)
        assert (found.files, found.bytes, len(set(found.sample))) == (1_000, 10_000, 10)
        seen.update(int(item.key) < 500 for item in found.sample)
    assert abs(seen[True] - 1_000) < 100
    assert len(listed(_Pages().items(), 5_000, chance).sample) == 1_000


async def test_a_sample_is_answered_and_its_errors_counted() -> None:
    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        return {"pages": int(name), "tokens": 100, "ocr_pages": [{"page": 1}] if name == "2" else []}

    items = [Item(key, "v", 1) for key in ("1", "2", "3", "gone")]
    found = await measured(_Pages(), items, ask)
    assert (found.files, found.pages, found.tokens, found.scans) == (4, 6, 300, 1)
    assert found.errors == {"object_missing": 1}
    assert found.seconds > 0


async def test_a_refusal_is_waited_for_or_said_and_counts_as_no_file_answered() -> None:
    refused = [Forbidden("The key is not known."), QueueFull("Full.", retry_after_seconds=0.0)]

    async def ask(name: str, data: bytes | str) -> dict[str, Any]:
        if refused:
            raise refused.pop()
        return {"pages": 1}

    with pytest.raises(Forbidden):
        await measured(_Pages(), [Item("1", "v", 1)], ask)
    refused.append(QueueFull("Full.", retry_after_seconds=0.0))
    found = await measured(_Pages(), [Item("1", "v", 1)], ask)
    assert (found.pages, found.errors) == (1, {})
