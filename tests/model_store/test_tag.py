"""Tag values: their history and their stored form."""

from __future__ import annotations

import msgspec
import pytest

from model_store.tag import MAX_HISTORY, Tag, decode_tag, encode_tag, moved


def revision(number: int) -> str:
    return f"sha256:{number:064x}"


def test_a_moved_tag_keeps_its_history_newest_first() -> None:
    tag: Tag | None = None
    for number in range(MAX_HISTORY + 5):
        tag = moved(tag, revision(number), now_seconds=float(number))
    assert tag is not None
    assert tag.revision == revision(MAX_HISTORY + 4)
    assert tag.earlier == tuple(revision(MAX_HISTORY + 3 - number) for number in range(MAX_HISTORY))


def test_a_revision_that_a_tag_returns_to_leaves_its_history() -> None:
    tag = Tag(revision(2), 2.0, (revision(1), revision(0)))
    assert moved(tag, revision(1), now_seconds=3.0) == Tag(revision(1), 3.0, (revision(2), revision(0)))


def test_the_stored_form_of_a_tag_does_not_change() -> None:
    tag = Tag(revision(1), 2.5, (revision(0),))
    data = f'{{"earlier":["{revision(0)}"],"moved_at_seconds":2.5,"revision":"{revision(1)}"}}'.encode()
    assert encode_tag(tag) == data
    assert decode_tag(data) == tag


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[]", b'{"revision":"sha256:1","moved_at_seconds":0}'])
def test_bytes_that_are_not_a_tag_are_a_value_error(data: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, UnicodeDecodeError)):
        decode_tag(data)
