"""Bodies in pieces: any split of the same bytes is the same body, and no split makes it cost much more than they do."""

from __future__ import annotations

import asyncio
import codecs
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.api.bodies.received_body import PIECE_BYTES, SHORT_BYTES, BodyCollector, ReceivedBody


def collected(*chunks: bytes) -> ReceivedBody:
    collector = BodyCollector()
    for chunk in chunks:
        collector.add(chunk)
    return collector.body()


def whole(body: ReceivedBody) -> bytes:
    return asyncio.run(body.whole())


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5), st.integers(0, 70))
def test_a_body_is_the_same_in_any_split_and_can_be_divided_anywhere(data: bytes, cuts: list[int], at: int) -> None:
    borders = [0, *sorted(cuts), len(data)]
    body = ReceivedBody([data[a:b] for a, b in pairwise(borders)])
    before, after = body.divided(at)
    assert whole(before) == data[:at]
    assert whole(after) == data[at:]
    assert whole(collected(*body.pieces)) == data


@given(st.binary(max_size=8), st.booleans(), st.lists(st.integers(0, 8), max_size=4))
def test_a_byte_order_mark_goes_in_any_split(data: bytes, marked: bool, cuts: list[int]) -> None:
    sent = codecs.BOM_UTF8 + data if marked else data
    borders = [0, *sorted(cuts), max(len(sent), *cuts, 0)] if cuts else [0, len(sent)]
    body = ReceivedBody([sent[a:b] for a, b in pairwise(borders)])
    assert whole(body.without_mark()) == sent.removeprefix(codecs.BOM_UTF8)


def test_chunks_of_a_byte_become_pieces_and_long_ones_are_not_copied() -> None:
    long = bytes(PIECE_BYTES)
    body = collected(*[b"x"] * (2 * PIECE_BYTES), b"y", long, b"z", b"")
    assert [len(piece) for piece in body.pieces] == [PIECE_BYTES, PIECE_BYTES, 1, PIECE_BYTES, 1]
    assert body.pieces[3] is long


def test_a_body_over_a_mebibyte_is_long_and_put_together_all_the_same() -> None:
    assert collected(bytes(SHORT_BYTES)).is_short
    body = collected(bytes(SHORT_BYTES), b"a")
    assert not body.is_short
    assert whole(body) == bytes(SHORT_BYTES) + b"a"
    assert whole(collected()) == b""
