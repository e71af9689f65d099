"""JSON of doors: into its types or a sentence about what is wrong, and never far beyond its own size in memory."""

from __future__ import annotations

import msgspec
import pytest

from service.api.bodies.door_json import COUNTED_BYTES, MOST_STRINGS, decode_json
from service.core.errors import DocumentTooLarge, MalformedRequest


class Asked(msgspec.Struct):
    inputs: str | list[str]


def test_a_body_becomes_its_type() -> None:
    assert decode_json(b'{"inputs": ["a"], "more": 1}', Asked, 10).inputs == ["a"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"inputs": 1}', b'{"inputs": "\xff"}', b'{"x":' + b"[" * 100_000])
def test_what_it_is_not_is_said_in_a_sentence(body: bytes) -> None:
    with pytest.raises(MalformedRequest) as caught:
        decode_json(body, Asked, 10)
    assert 3 < len(caught.value.detail) < 300


def test_far_too_many_texts_are_refused_before_they_are_built() -> None:
    many = MOST_STRINGS + 100 + COUNTED_BYTES // 4
    for each in (b'"",', b'"a",', b'"\\\\",'):
        with pytest.raises(DocumentTooLarge):
            decode_json(b'{"inputs": [' + each * 2 * many + b'""]}', Asked, 10)


def test_one_long_text_with_many_quotes_is_fine() -> None:
    text = '"' * (COUNTED_BYTES + MOST_STRINGS)
    assert decode_json(msgspec.json.encode({"inputs": text}), Asked, 10).inputs == text
