"""JSON bodies between two processes: they come back whole, and what no parser would answer is not believed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from service.api.adapters.comprehend_bodies import EntitiesRequest
from service.api.bodies.kinds import AdapterJson, DocumentsJson, JsonKind
from service.api.bodies.received_body import ReceivedBody
from service.api.parsers.connection import DEAD, Parser, connect
from service.api.parsers.frames import BadAnswer, file_header
from service.api.parsers.json_frames import (
    LONGEST_JSON_HEADER,
    MOST_CONTENTS,
    PIECE_BYTES,
    REST_BYTES,
    ContentPieces,
    ContentSize,
    JsonHeader,
    decode_json_header,
    from_json_frames,
    json_frames,
)
from service.core.errors import DocumentTooLarge
from service.documents.limits import DocumentLimits, OversizedText, characters_of

LIMITS = DocumentLimits(max_characters=300_000)
KIND = DocumentsJson(("labels",))
BODY = b'{"text": "anna"}'
REST = b'{"ids":[null],"batch":false,"options":{}}'


def carried(kind: JsonKind[Any], data: bytes, limits: DocumentLimits = LIMITS) -> Any:
    """A body's value after its way in frames."""
    frames = iter(json_frames(*kind.divide(kind.decode(data, 10)), limits))
    head = decode_json_header(next(frames), len(data))
    contents: list[str | bytes] = []
    for size in head.sizes:
        pieces = ContentPieces(size)
        while not size.is_left_out(limits) and not pieces.complete:
            frame = next(frames)
            assert 0 < len(frame) <= PIECE_BYTES
            pieces.add(frame)
        contents.append(OversizedText(size.length) if size.is_left_out(limits) else pieces.whole())
    assert next(frames, None) is None
    return from_json_frames(head, contents, kind)


@pytest.mark.parametrize("text", ["", "a", "😀" * 200_000, "ä" * 65_536, "\x00" * 65_537])
def test_texts_of_any_length_come_back_as_they_were(text: str) -> None:
    data = msgspec.json.encode({"documents": [{"text": text, "id": "x"}, {"text": "b"}], "labels": ["A"]})
    assert carried(KIND, data) == KIND.decode(data, 10)


def test_a_file_comes_back_as_it_was() -> None:
    kind, data = AdapterJson(EntitiesRequest), msgspec.json.encode({"Bytes": bytes(range(256)) * 4_000})
    assert carried(kind, data) == kind.decode(data, 10)


def test_a_text_that_is_too_long_is_left_out_with_its_length() -> None:
    data = msgspec.json.encode({"documents": [{"text": "a" * 300_001}, {"text": "b" * 300_000}]})
    (_, long), (_, longest) = carried(KIND, data).documents
    assert (long, characters_of(long), characters_of(longest)) == ("", 300_001, 300_000)


def test_a_body_with_too_much_beside_its_texts_is_too_large() -> None:
    with pytest.raises(DocumentTooLarge, match="beside its texts"):
        json_frames(bytes(REST_BYTES + 1), [], LIMITS)


def test_a_body_with_more_texts_than_any_request_may_have_is_too_large() -> None:
    with pytest.raises(DocumentTooLarge, match="65,537 texts"):
        json_frames(b"", [""] * (MOST_CONTENTS + 1), LIMITS)


def told(*frames: bytes) -> bytes:
    return b"".join(struct.pack("<I", len(frame)) + frame for frame in frames)


def header(*sizes: tuple[int, bool], rest: bytes = REST) -> bytes:
    return msgspec.msgpack.encode(JsonHeader(rest, tuple(ContentSize(*size) for size in sizes)))


def with_parser(told: bytes, scene: Callable[[Parser], Awaitable[None]]) -> None:
    """A scene with a parser that says this, whatever it is asked, and then nothing more."""

    async def play() -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            theirs.sendall(told)
            theirs.shutdown(socket.SHUT_WR)
            parser = await connect(1, ours)
            try:
                await scene(parser)
            finally:
                parser.close()

    asyncio.run(play())


async def ask(parser: Parser) -> Any:
    return await parser.read_json(file_header(None, None, LIMITS), ReceivedBody([BODY]), KIND, LIMITS)


def test_an_honest_answer_is_believed() -> None:
    async def scene(parser: Parser) -> None:
        assert await ask(parser) == KIND.decode(BODY, 1)

    with_parser(told(header((4, False)), b"anna"), scene)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        told(b"nonsense"),
        told(header((4, False))),
        told(header((4, False)), b"ann"),
        told(header((4, False)), b"annas"),
        told(header((4, False)), b"an", b"na"),
        told(header((4, False)), b"an", b""),
        told(header((4, False)), b"ann\xff"),
        told(header((len(BODY) + 1, False)), b"a" * (len(BODY) + 1)),
        told(header((4, False), (4, False)), b"anna", b"anna"),
        told(header()),
        told(header((4, True)), b"anna"),
        told(header((4, False), rest=b'{"ids":[null],"batch":false,"options":{"model":"m"}}'), b"anna"),
        told(header((4, False), rest=b"[" * 100_000), b"anna"),
        told(header((4, False), rest=b""), b"anna"),
        told(msgspec.msgpack.encode({"rest": REST, "sizes": [[-1, False]]})),
        told(msgspec.msgpack.encode({"rest": REST, "sizes": [[0, False]] * (MOST_CONTENTS + 1)})),
        told(msgspec.msgpack.encode({"crash": "KeyError a.py:1"})),
        struct.pack("<I", LONGEST_JSON_HEADER + 1),
        told(header((4, False))) + struct.pack("<I", PIECE_BYTES + 1),
    ],
)
def test_what_no_parser_would_answer_is_the_end_of_that_parser(answer: bytes) -> None:
    async def scene(parser: Parser) -> None:
        with pytest.raises(DEAD):
            await ask(parser)

    with_parser(answer, scene)


def test_a_header_of_anything_else_is_a_bad_answer() -> None:
    with pytest.raises(BadAnswer):
        decode_json_header(b"\xc1", 5)
