"""Model references: parsed, printed, refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.errors import InvalidReference
from model_store.reference import Reference, hex_digits, parse_reference

WORDS = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,99}", fullmatch=True)
REVISIONS = st.from_regex(r"sha256:[0-9a-f]{64}", fullmatch=True)


def test_a_name_alone_has_the_tag_stable() -> None:
    assert parse_reference("documents") == Reference("documents", "stable", None)


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


def test_hex_digits_are_the_revision_without_its_prefix() -> None:
    assert hex_digits("sha256:" + "a" * 64) == "a" * 64
