"""The answer from finished documents: one object, or a line each; a document's failure is its own."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, cast

import msgspec
import pytest
from starlette.responses import Response

from service.api.calls import Extracting
from service.api.extraction.extractor import Extractor
from service.api.extraction.request import DocumentInput, ExtractRequest, start_all
from service.api.extraction.trace import StageTimer
from service.api.http.request_body import Body
from service.api.http.response import (
    ENTITIES_AT_ONCE,
    DocumentTasks,
    encode_line,
    encode_result,
    json_response,
    ndjson_lines,
)
from service.api.options import ExtractOptions
from service.api.schemas import DocumentLine, DocumentResult, EntityResult, ExtractResult, ModelName, Timing
from service.core.errors import NotReady, QueueFull, UnreadableDocument
from service.metrics.worker import WorkerMetrics
from service.wire import ModelStatus
from tests.support.extractors import request_of

REQUEST = request_of(ModelStatus("m", "stable", "sha256:0", "/m", ("O",), 512, True, 1))
ENTITY = EntityResult("PER", "Anna", 0, 4, 0.9, "Anna", None, [])


def result(id_: str) -> DocumentResult:
    return DocumentResult(
        id=id_,
        pages=None,
        unread_pages=[],
        characters=4,
        tokens=1,
        windows=1,
        truncated=False,
        entities=[ENTITY],
        error=None,
    )


class FakeExtractor:
    """Finishes each document by its id, with an error or without; a document with a gate waits for it first."""

    def __init__(self, ends: dict[str, Exception | None], gates: dict[str, asyncio.Event]) -> None:
        self._ends = ends
        self._gates = gates
        self.cancelled: list[str] = []

    async def extract(self, source: DocumentInput, _request: ExtractRequest, timer: StageTimer) -> DocumentResult:
        timer.seconds.update(parse=0.25, compute=0.5)
        try:
            if source.id in self._gates:
                await self._gates[source.id].wait()
        except asyncio.CancelledError:
            self.cancelled.append(source.id)
            raise
        error = self._ends[source.id]
        if error is not None:
            raise error
        return result(source.id)


class FakeRequest:
    """A request to a fake extractor, and the metrics that it moved."""

    def __init__(self, ends: dict[str, Exception | None], *, batch: bool = True) -> None:
        self.gates: dict[str, asyncio.Event] = {}
        self.extractor = FakeExtractor(ends, self.gates)
        self.body = Body(tuple(DocumentInput(each, text="Anna") for each in ends), ExtractOptions(), batch)
        self.metrics = WorkerMetrics()

    def begin(self) -> DocumentTasks:
        return start_all(Extracting(cast(Extractor, self.extractor), self.metrics), self.body.sources, REQUEST)

    async def whole(self) -> Response:
        return await json_response(self.begin(), self.body, REQUEST, time.monotonic())

    def outcomes(self) -> dict[str, float]:
        samples = next(iter(self.metrics.documents.collect())).samples
        return {each.labels["outcome"]: each.value for each in samples if each.name.endswith("_total")}


def ask(ends: dict[str, Exception | None], *, batch: bool = True) -> tuple[int, dict[str, Any], FakeRequest]:
    """Status and body of a request whose documents end like this, and the request itself."""

    async def whole() -> tuple[Response, FakeRequest]:
        asked = FakeRequest(ends, batch=batch)
        return await asked.whole(), asked

    answer, asked = asyncio.run(whole())
    return answer.status_code, json.loads(bytes(answer.body)), asked


def test_documents_come_back_in_the_order_in_which_they_were_sent() -> None:
    status, body, asked = ask({"b": None, "a": None, "c": None})
    assert status == 200
    assert [document["id"] for document in body["documents"]] == ["b", "a", "c"]
    assert body["model"] == {"name": "m", "revision": "sha256:0"}
    assert asked.outcomes() == {"ok": 3.0}


def test_stages_are_summed_and_the_total_is_the_request_s_own() -> None:
    _, body, _ = ask({"a": None, "b": None})
    timing = body["timing"]
    assert (timing["parse_ms"], timing["compute_ms"], timing["queue_ms"]) == (500.0, 1000.0, 0.0)
    assert 0 <= timing["total_ms"] < 500.0


def test_a_bad_document_of_a_batch_leaves_the_others_their_results() -> None:
    status, body, asked = ask({"good": None, "bad": UnreadableDocument("No text.")})
    good, bad = body["documents"]
    assert status == 200
    assert (good["error"], len(good["entities"])) == (None, 1)
    assert (bad["error"]["code"], bad["error"]["status"], bad["error"]["detail"]) == (
        "unreadable_document",
        422,
        "No text.",
    )
    assert bad["entities"] == []
    assert asked.outcomes() == {"ok": 1.0, "unreadable_document": 1.0}


def test_a_batch_in_which_all_are_bad_is_still_answered() -> None:
    status, body, _ = ask({"a": UnreadableDocument("No text."), "b": QueueFull("full")})
    assert status == 200
    assert [document["error"]["code"] for document in body["documents"]] == ["unreadable_document", "queue_full"]


def test_a_batch_refused_as_a_whole_has_the_first_refusal_s_status() -> None:
    status, body, _ = ask({"a": QueueFull("full", retry_after_seconds=7), "b": NotReady("loading")})
    assert (status, body["code"]) == (429, "queue_full")


def test_a_single_document_s_error_is_the_answer() -> None:
    status, body, _ = ask({"a": UnreadableDocument("No text.")}, batch=False)
    assert (status, body["code"], body["detail"]) == (422, "unreadable_document", "No text.")


def test_a_bug_is_a_500_that_does_not_repeat_the_document() -> None:
    status, body, asked = ask({"a": ValueError("Anna's secret")}, batch=False)
    assert (status, body["code"]) == (500, "internal_error")
    assert "secret" not in json.dumps(body)
    assert asked.outcomes() == {"internal_error": 1.0}


async def test_lines_come_as_documents_are_finished() -> None:
    asked = FakeRequest({"slow": None, "quick": QueueFull("full")})
    asked.gates["slow"] = asyncio.Event()
    stream = ndjson_lines(asked.begin, REQUEST, time.monotonic())
    first = json.loads(await anext(stream))
    assert (first["document"]["id"], first["document"]["error"]["code"]) == ("quick", "queue_full")
    asked.gates["slow"].set()
    rest = [json.loads(line) async for line in stream]
    assert [line["document"]["id"] for line in rest] == ["slow"]
    assert set(rest[0]) == {"model", "document", "timing"}


async def test_a_closed_stream_cancels_its_unfinished_documents() -> None:
    asked = FakeRequest({"slow": None, "quick": None})
    asked.gates["slow"] = asyncio.Event()
    stream = cast(Any, ndjson_lines(asked.begin, REQUEST, time.monotonic()))
    await anext(stream)
    await stream.aclose()
    await settled()
    assert asked.extractor.cancelled == ["slow"]


async def test_a_request_that_is_cancelled_cancels_its_documents() -> None:
    asked = FakeRequest({"slow": None})
    asked.gates["slow"] = asyncio.Event()
    answering = asyncio.create_task(asked.whole())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    answering.cancel()
    await asyncio.gather(answering, return_exceptions=True)
    await settled()
    assert asked.extractor.cancelled == ["slow"]


async def settled() -> None:
    """Until nothing but the caller is left."""
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)


MODEL, TIMING = ModelName("m", "sha256:0"), Timing(total_ms=1.5)
SPITEFUL = '"entities":[],"documents":[]'


def document(entities: int, name: str = SPITEFUL) -> DocumentResult:
    found = [
        EntityResult(SPITEFUL, f"ä{i}\x01", i, i + 2, 0.5, "", None, [(0.0, 1.0, 2.5, 3.0)]) for i in range(entities)
    ]
    return DocumentResult(name, None, [], 4, 1, 1, False, found, None, text=SPITEFUL)


@pytest.mark.parametrize("count", [0, 1, ENTITIES_AT_ONCE, 2 * ENTITIES_AT_ONCE + 1])
def test_a_line_is_the_json_of_its_struct(count: int) -> None:
    line = DocumentLine(MODEL, document(count), TIMING)
    assert asyncio.run(encode_line(line)) == msgspec.json.encode(line)


def test_others_have_turns_while_a_long_answer_is_encoded() -> None:
    async def scene() -> int:
        turns, work = 0, asyncio.ensure_future(encode_result(ExtractResult(MODEL, [document(40_000)], TIMING)))
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(scene()) >= 40_000 // ENTITIES_AT_ONCE


def test_the_error_of_a_document_stays_beside_the_others_entities() -> None:
    failed: Any = {"type": "t", "title": "t", "status": 422, "detail": "d", "code": "c"}
    documents = [document(ENTITIES_AT_ONCE + 1), DocumentResult("b", None, [], 0, 0, 0, False, [], failed)]
    found = msgspec.json.decode(asyncio.run(encode_result(ExtractResult(MODEL, documents, TIMING))))
    assert [each["error"] for each in found["documents"]] == [None, failed]
