"""References and tags: their forms, and histories of tags."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.errors import InvalidReference
from model_store.reference import (
    MAX_HISTORY,
    Reference,
    Tag,
    decode_tag,
    encode_tag,
    moved,
    parse_reference,
)

WORDS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,99}", fullmatch=True)
REVISIONS = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)


@given(WORDS, WORDS)
def test_a_tag_survives_the_round_trip(name: str, tag: str) -> None:
    reference = parse_reference(f"{name}@{tag}")
    assert reference == Reference(name, tag, None)
    assert parse_reference(str(reference)) == reference


@given(WORDS, REVISIONS)
def test_a_revision_survives_the_round_trip(name: str, revision: str) -> None:
    reference = parse_reference(f"{name}@{revision}")
    assert reference == Reference(name, None, revision)
    assert parse_reference(str(reference)) == reference


@given(st.text(max_size=120))
def test_any_text_is_a_reference_or_refused(text: str) -> None:
    try:
        reference = parse_reference(text)
    except InvalidReference:
        return
    assert str(reference).startswith(text)
    assert "/" not in str(reference)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Documents",
        "../up",
        ".hidden",
        "a/b",
        "a b",
        "documents@",
        "documents@../up",
        "documents@a@b",
        "documents\n",
        "documents@stable\n",
        "a" * 101,
        "é",
    ],
)
def test_names_and_tags_with_special_characters_are_refused(text: str) -> None:
    with pytest.raises(InvalidReference):
        parse_reference(text)


@pytest.mark.parametrize("digest", ["", "abc", "A" * 64, "a" * 65, "a" * 64 + "\n"])
def test_a_digest_that_is_not_64_hex_digits_is_refused(digest: str) -> None:
    with pytest.raises(InvalidReference):
        parse_reference(f"documents@sha256:{digest}")


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
