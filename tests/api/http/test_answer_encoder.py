"""An answer is the same JSON however long it is, and a long one lets others have their turns."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from service.api.http.response import ENTITIES_AT_ONCE, encode_line, encode_result
from service.api.schemas import DocumentLine, DocumentResult, EntityResult, ExtractResult, ModelName, Timing

MODEL, TIMING = ModelName("m", "sha256:0"), Timing(total_ms=1.5)
SPITEFUL = '"entities":[],"documents":[]'


def document(entities: int, name: str = SPITEFUL) -> DocumentResult:
    found = [
        EntityResult(SPITEFUL, f"ä{i}\x01", i, i + 2, 0.5, "", None, [(0.0, 1.0, 2.5, 3.0)]) for i in range(entities)
    ]
    return DocumentResult(name, None, [], 4, 1, 1, False, found, None, text=SPITEFUL)


@pytest.mark.parametrize("counts", [(), (0,), (3, 0, 1), (ENTITIES_AT_ONCE + 1,), (0, 2 * ENTITIES_AT_ONCE, 1, 0)])
def test_a_result_is_the_json_of_its_struct(counts: tuple[int, ...]) -> None:
    result = ExtractResult(MODEL, [document(count) for count in counts], TIMING)
    assert asyncio.run(encode_result(result)) == msgspec.json.encode(result)


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
