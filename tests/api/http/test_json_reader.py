"""Where JSON is decoded: a short body at once, a long one by another process, while the event loop goes on."""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import signal
import time
import weakref

import pytest
from starlette.requests import ClientDisconnect

from service.api.adapters.oip_bodies import InferBody
from service.api.bodies.json_body import JsonBody
from service.api.bodies.kinds import AdapterJson, DocumentsJson
from service.api.bodies.received_body import PIECE_BYTES, SHORT_BYTES, BodyCollector, ReceivedBody
from service.api.http.request_body import RequestJsonReader
from service.api.http.request_scope import DisconnectNotice
from service.api.parsers.json_frames import PIECE_CHARACTERS
from service.api.parsers.pool import ParserPool
from service.core.errors import DeadlineExceeded, DocumentTooLarge, InvalidOptions, QueueFull
from service.documents.limits import MEBIBYTE, DocumentLimits, OversizedText, characters_of
from tests.support.garbage import uncollected
from tests.support.parsers import LIMIT_SECONDS, PoolSetup, fresh, play, with_pool

MOST = 10
KIND = DocumentsJson(("labels",))
LISTS = b'{"text": "a", "labels": [' + b"[]," * SHORT_BYTES + b"[]]}"


class DecodedElsewhere(DocumentsJson):
    """Documents that this process may not decode."""

    def decode(self, data: bytes, _most_documents: int) -> JsonBody:
        raise AssertionError(f"{len(data)} bytes were decoded here")


ELSEWHERE = DecodedElsewhere(("labels",))


class CountingLoop(asyncio.SelectorEventLoop):
    """An event loop that counts its turns: in each, whatever is ready goes on."""

    turns = 0

    def _run_once(self) -> None:
        self.turns += 1
        super()._run_once()  # type: ignore[misc]


def reader_of(pool: ParserPool, seconds: float = LIMIT_SECONDS) -> RequestJsonReader:
    return RequestJsonReader(pool, "c", time.monotonic() + seconds)


def body_of(data: bytes) -> ReceivedBody:
    """As it comes from a connection."""
    collector = BodyCollector()
    for start in range(0, len(data), PIECE_BYTES):
        collector.add(data[start : start + PIECE_BYTES])
    return collector.body()


def long_body(text: str) -> ReceivedBody:
    body = body_of(json.dumps({"text": text, "labels": ["A"]}).encode())
    assert not body.is_short
    return body


@with_pool()
async def test_a_body_of_a_mebibyte_is_decoded_at_once_and_without_a_parser(pool: ParserPool) -> None:
    data = b'{"text": "' + b"a" * (SHORT_BYTES - 12) + b'"}'
    found = await reader_of(pool).read(body_of(data), KIND, MOST)
    assert len(found.documents[0][1]) == SHORT_BYTES - 12
    with pytest.raises(AssertionError, match="1048576 bytes"):
        await reader_of(pool).read(body_of(data), ELSEWHERE, MOST)
    assert pool.seconds_worked(time.monotonic()) == 0.0


@pytest.mark.parametrize("characters", [4, 2 * SHORT_BYTES])
@with_pool()
async def test_a_byte_order_mark_before_json_is_none_of_it(pool: ParserPool, characters: int) -> None:
    data = codecs.BOM_UTF8 + b'{"text": "' + b"a" * characters + b'"}'
    found = await reader_of(pool).read(body_of(data), KIND, MOST)
    assert found.documents == ((None, "a" * characters),)


@pytest.mark.parametrize("text", ["a" * 3 * MEBIBYTE, "あ\n" * 300_000])
def test_the_loop_turns_while_another_process_decodes_a_body(text: str) -> None:
    limits = DocumentLimits(max_characters=3 * MEBIBYTE)

    async def scene(pool: ParserPool) -> None:
        loop, body = asyncio.get_running_loop(), long_body(text)
        assert isinstance(loop, CountingLoop)
        before = loop.turns
        found = await reader_of(pool).read(body, ELSEWHERE, MOST)
        assert found == JsonBody(((None, text),), False, {"labels": ["A"]})
        assert loop.turns - before >= len(body.pieces) + len(text) // PIECE_CHARACTERS

    play(scene, PoolSetup(limits=limits), CountingLoop)


def test_an_error_in_a_long_body_comes_from_the_parser_and_the_pool_lives() -> None:
    async def scene(pool: ParserPool) -> None:
        dense = b'{"text": "a", "labels": [' + b"[]," * SHORT_BYTES + b"[]]}"
        with pytest.raises(InvalidOptions, match="labels: longer than 65,536 bytes"):
            await reader_of(pool).read(body_of(dense), ELSEWHERE, MOST)
        many = b'{"documents": [' + b'{"text":""},' * SHORT_BYTES + b'{"text":""}]}'
        with pytest.raises(DocumentTooLarge, match="more than 10 documents"):
            await reader_of(pool).read(body_of(many), ELSEWHERE, MOST)
        assert await reader_of(pool).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST)

    setup = PoolSetup()
    play(scene, setup)
    assert setup.deaths == 0


@with_pool(limits=DocumentLimits(max_characters=1_000))
async def test_a_text_that_is_too_long_does_not_come_back_and_its_neighbours_do(pool: ParserPool) -> None:
    texts = ["b", "a" * SHORT_BYTES, "c"]
    data = json.dumps({"documents": [{"text": text} for text in texts]}).encode()
    first, long, last = (text for _, text in (await reader_of(pool).read(body_of(data), ELSEWHERE, MOST)).documents)
    assert (first, last, characters_of(long)) == ("b", "c", SHORT_BYTES)
    assert isinstance(long, OversizedText)


def test_a_body_whose_parser_was_killed_is_decoded_by_another() -> None:
    async def scene(pool: ParserPool) -> None:
        reading = (await fresh())[0]
        os.kill(reading, signal.SIGSTOP)
        answer = asyncio.create_task(reader_of(pool).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST))
        await asyncio.sleep(0.01)
        os.kill(reading, signal.SIGKILL)
        assert (await answer).options == {"labels": ["A"]}

    setup = PoolSetup()
    play(scene, setup)
    assert setup.deaths == 1


@with_pool()
async def test_a_deadline_that_passes_while_a_parser_hangs_ends_the_wait(pool: ParserPool) -> None:
    os.kill((await fresh())[0], signal.SIGSTOP)
    with pytest.raises(DeadlineExceeded):
        await reader_of(pool, 0.2).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST)
    assert await reader_of(pool).read(long_body("b" * SHORT_BYTES), ELSEWHERE, MOST)


@with_pool(seconds=0.5)
async def test_a_parser_that_hangs_ends_with_its_body(pool: ParserPool) -> None:
    os.kill((await fresh())[0], signal.SIGSTOP)
    with pytest.raises(DeadlineExceeded, match="of the processor"):
        await reader_of(pool).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST)
    assert await reader_of(pool).read(long_body("b" * SHORT_BYTES), ELSEWHERE, MOST)


@with_pool(memory_bytes=2**28, seconds=LIMIT_SECONDS)
async def test_a_body_that_unfolds_beyond_a_parser_s_memory_is_too_large(pool: ParserPool) -> None:
    shape = b"1000," * (4 * MEBIBYTE) + b"1"
    data = b'{"inputs": [{"name": "text", "datatype": "BYTES", "data": ["a"], "shape": [' + shape + b"]}]}"
    with pytest.raises(DocumentTooLarge, match="memory"):
        await reader_of(pool).read(body_of(data), AdapterJson(InferBody), MOST)
    assert await reader_of(pool).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST)


def test_bodies_wait_for_parsers_within_the_bytes_of_the_queue() -> None:
    async def scene(pool: ParserPool) -> None:
        os.kill((await fresh())[0], signal.SIGSTOP)
        first = asyncio.create_task(reader_of(pool).read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST))
        await asyncio.sleep(0.01)
        with pytest.raises(QueueFull) as caught:
            await reader_of(pool).read(long_body("b" * SHORT_BYTES), ELSEWHERE, MOST)
        assert caught.value.retry_after_seconds is not None
        first.cancel()
        await asyncio.wait([first])
        assert await reader_of(pool).read(long_body("c" * SHORT_BYTES), ELSEWHERE, MOST)

    setup = PoolSetup(queue_bytes=SHORT_BYTES)
    play(scene, setup)
    assert setup.refused == ["queue_full"]


@with_pool()
async def test_a_body_is_not_decoded_on_for_a_client_that_has_left(pool: ParserPool) -> None:
    parser, disconnect = (await fresh())[0], DisconnectNotice()
    os.kill(parser, signal.SIGSTOP)
    reader = RequestJsonReader(pool, "c", time.monotonic() + LIMIT_SECONDS, disconnect)
    reading = asyncio.create_task(reader.read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST))
    await asyncio.sleep(0.05)
    disconnect.tell()
    with pytest.raises(ClientDisconnect):
        await reading
    assert pool.wait_seconds == 0.0
    assert await reader_of(pool).read(long_body("b" * SHORT_BYTES), ELSEWHERE, MOST)


@with_pool()
async def test_a_reader_that_is_called_off_is_no_client_that_left(pool: ParserPool) -> None:
    os.kill((await fresh())[0], signal.SIGSTOP)
    reader = RequestJsonReader(pool, "c", time.monotonic() + LIMIT_SECONDS, DisconnectNotice())
    reading = asyncio.create_task(reader.read(long_body("a" * SHORT_BYTES), ELSEWHERE, MOST))
    await asyncio.sleep(0.05)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


class WatchedBody(ReceivedBody):
    """A body that tells when nobody holds it any more."""

    __slots__ = ("__weakref__",)


@pytest.mark.parametrize("disconnect", [None, DisconnectNotice()])
@with_pool()
async def test_a_refused_body_is_freed_without_garbage_collection(
    pool: ParserPool, disconnect: DisconnectNotice | None
) -> None:
    """Fifty bodies of 57 MB stayed in the worker until there was other garbage enough."""
    reader = RequestJsonReader(pool, "c", time.monotonic() + LIMIT_SECONDS, disconnect)

    async def refused() -> weakref.ref[WatchedBody]:
        body = WatchedBody(body_of(LISTS).pieces)
        with pytest.raises(InvalidOptions):
            await reader.read(body, ELSEWHERE, MOST)
        return weakref.ref(body)

    with uncollected():
        body = await refused()
        await asyncio.sleep(0)
        assert body() is None
