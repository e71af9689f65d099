"""Messages survive their bytes; anything else is refused."""

from __future__ import annotations

from typing import get_args

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.types import Priority, ResponseKind
from service.wire import (
    MOST_TAGGED,
    VERSION,
    Buffer,
    Cancelled,
    Message,
    Scored,
    Submitted,
    Tagged,
    WireError,
    delivery,
    messages_in,
    pack,
    tags_in,
    unpack,
)
from tests.support.wire_messages import IDS, LOGITS, MESSAGES, TAGGED, TAGS, TAGS_BUFFER


def test_every_message_has_its_example() -> None:
    assert [type(message) for message, _ in MESSAGES] == list(get_args(Message)), "an example in the order of `Message`"


@pytest.mark.parametrize(("message", "buffer"), MESSAGES, ids=lambda value: type(value).__name__)
def test_a_message_comes_back_as_it_was(message: Message, buffer: Buffer | None) -> None:
    found, numbers = unpack([bytes(frame) for frame in pack(message, buffer)])
    assert found == message
    if buffer is None:
        assert numbers is None
    else:
        assert numbers is not None
        assert numbers.dtype == buffer.dtype
        assert np.array_equal(numbers, buffer.ravel())


@pytest.mark.parametrize("rows", [np.arange(25), np.arange(5)])
def test_tokens_with_boxes_come_with_five_numbers_each(rows: np.ndarray) -> None:
    numbers = rows.astype(np.int32).reshape(-1, 5)
    submitted = Submitted("k", "m", (2, 3), "c", Priority.BATCH, 12.5, columns=5)
    parts = [bytes(part) for part in pack(submitted, numbers)]
    if len(numbers) == 5:
        _, buffer = unpack(parts)
        assert buffer is not None
        assert buffer.tolist() == numbers.ravel().tolist()
        return
    with pytest.raises(WireError, match="20 bytes for tokens and pictures of 100"):
        unpack(parts)


def test_another_version_is_refused() -> None:
    head = bytes(pack(Cancelled("k"))[0])
    with pytest.raises(WireError, match="version"):
        unpack([b"\x63" + head[1:]])


def test_a_message_without_its_buffer_is_refused() -> None:
    with pytest.raises(WireError, match="1 parts"):
        unpack(pack(Scored("k", 0, 1, 1, 1, 0.1), LOGITS)[:1])


def test_a_torn_buffer_is_refused() -> None:
    head, numbers = pack(Scored("k", 0, 1, 1, 1, 0.1), LOGITS)
    with pytest.raises(WireError, match="whole numbers"):
        unpack([head, bytes(numbers)[:-1]])


SUBMITTED = {
    "type": "Submitted",
    "key": "k",
    "model": "sha256:0",
    "lengths": [2, 3],
    "client": "c",
    "priority": "batch",
    "deadline_seconds": 12.5,
    "attempt": 1,
}


def head(**fields: object) -> bytes:
    """A header with these fields, whatever they are."""
    return bytes([VERSION]) + msgspec.msgpack.encode(fields)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lengths": [-2, 7]},
        {"lengths": [0, 5]},
        {"lengths": []},
        {"lengths": [1 << 40]},
        {"lengths": [2, 4]},
        {"deadline_seconds": float("nan")},
        {"deadline_seconds": float("inf")},
        {"deadline_seconds": -1.0},
        {"attempt": -1},
        {"attempt": 1 << 60},
        {"columns": 5},
        {"columns": 0},
        {"columns": 4},
        {"columns": -1},
        {"columns": 1 << 40},
        {"picture_of": [0, 0]},
        {"picture_of": [0, -1], "picture_side": 2},
        {"picture_of": [0, 1 << 40], "picture_side": 2},
        {"picture_of": [0] * 5_000_000, "picture_side": 2},
        {"picture_side": 3},
        {"picture_side": -2},
        {"picture_side": 1 << 20},
        {"priority": "first of all"},
        {"client": "c" * 10_000},
        {"more": "than there is"},
    ],
    ids=str,
)
def test_a_submission_out_of_bounds_is_refused_and_says_whose_it_is(wrong: dict[str, object]) -> None:
    assert unpack([head(**SUBMITTED), IDS.tobytes()])[0] == MESSAGES[1][0]
    with pytest.raises(WireError) as caught:
        unpack([head(**{**SUBMITTED, **wrong}), IDS.tobytes()])
    assert caught.value.key == "k"


@pytest.mark.parametrize("key", ["", "k" * 1_000, 7, None, b"\xff"], ids=str)
def test_a_document_without_a_proper_key_is_refused_and_nobodys(key: object) -> None:
    with pytest.raises(WireError) as caught:
        unpack([head(**{**SUBMITTED, "key": key}), IDS.tobytes()])
    assert caught.value.key is None


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "Hello", "active_requests": -1},
        {"type": "Hello", "active_requests": 1, "models_version": -5},
        {"type": "Hello", "active_requests": 1, "revisions": ["r"] * 100_000},
        {"type": "TurnedAway", "code": "queue_full", "documents": -3, "tokens": 10},
        {"type": "TurnedAway", "code": "queue_full", "documents": 3, "tokens": 1 << 60},
        {"type": "TurnedAway", "code": "a label of somebody's own", "documents": 3, "tokens": 10},
        {"type": "Cancelled"},
        {"type": "Shutdown"},
        {},
    ],
    ids=str,
)
def test_other_messages_out_of_bounds_are_refused_too(fields: dict[str, object]) -> None:
    with pytest.raises(WireError):
        unpack([head(**fields)])


def test_a_header_nested_without_end_is_refused() -> None:
    with pytest.raises(WireError):
        unpack([bytes([VERSION]) + b"\x91" * 100_000])


def test_messages_of_one_delivery_come_back_in_their_order() -> None:
    parts = [part for key in "abc" for part in pack(Scored(key, 0, *LOGITS.shape, 1, 0.1), LOGITS)]
    found = list(messages_in([delivery(parts)]))
    assert [message.key for message, _ in found if isinstance(message, Scored)] == ["a", "b", "c"]
    for _, numbers in found:
        assert numbers is not None
        assert np.array_equal(numbers, LOGITS.ravel())


@given(st.lists(st.binary(max_size=60), max_size=3))
def test_a_delivery_of_noise_is_nothing_but_errors(frames: list[bytes]) -> None:
    assert {type(message) for message, _ in messages_in(frames)} == {WireError}


@given(st.lists(st.binary(max_size=60), max_size=3))
def test_noise_is_refused_and_nothing_worse(frames: list[bytes]) -> None:
    try:
        unpack(frames)
    except WireError:
        return
    raise AssertionError("noise was taken for a message")


def test_the_tags_of_several_documents_come_back_as_they_were() -> None:
    _, buffer = unpack([bytes(frame) for frame in pack(TAGGED, TAGS_BUFFER)])
    assert buffer is not None
    found = dict(tags_in(TAGGED, buffer))
    assert list(found) == list(TAGS)
    assert [each.labels.tolist() for each in found.values()] == [[0, 70, 300], [], [7, 8]]
    assert [each.probabilities.tolist() for each in found.values()] == [[0.1], [], [0.2, 0.3]]


def test_tags_of_another_size_than_the_header_says_are_refused() -> None:
    (key, words, inside), *others = TAGGED.documents
    more = Tagged(((key, words, inside + 1), *others), 9, 0.5)
    with pytest.raises(WireError, match="34 bytes for tags of 42"):
        unpack(pack(more, TAGS_BUFFER))


@pytest.mark.parametrize("documents", [[], [["k", 0, 0]] * (MOST_TAGGED + 1), [["", 1, 0]], [["k", -1, 0]], [["k", 1]]])
def test_tags_of_no_documents_too_many_or_odd_ones_are_refused(documents: list[object]) -> None:
    fields = {"type": "Tagged", "documents": documents, "batch": 9, "batch_seconds": 0.5}
    with pytest.raises(WireError):
        unpack([head(**fields), b""])


def test_tags_of_several_sequences_cannot_be_asked_for() -> None:
    several = Submitted("k", "m", (2, 3), "c", Priority.BATCH, 12.5, response_kind=ResponseKind.WORD_TAGS)
    with pytest.raises(WireError, match="2 sequences"):
        unpack(pack(several, IDS))


def test_a_sequence_without_candidates_is_answered_with_none() -> None:
    scored = Scored("k", 0, 0, 4, 1, 0.1)
    message, buffer = unpack([bytes(part) for part in pack(scored, np.empty((0, 4), dtype=np.float32))])
    assert message == scored
    assert buffer is not None
    assert buffer.shape == (0,)
