"""Operators of /anonymize: nothing that was marked is left, whatever overlaps, and items say what stands where."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from service.api.adapters.presidio_operators import (
    KEEP,
    REDACT,
    MarkedRange,
    anonymize,
    hash_with,
    mask_with,
    replace_by,
    without_overlaps,
)

TEXT = "Anna Smith lives in Berlin"
RANGES = [MarkedRange("PERSON", 0, 10), MarkedRange("LOCATION", 20, 26)]


def test_ranges_are_replaced_by_their_kind_or_a_text_of_one_s_own() -> None:
    text, items = anonymize(TEXT, RANGES, lambda kind: replace_by("X" if kind == "LOCATION" else None))
    assert text == "<PERSON> lives in X"
    assert [(each.kind, text[each.start : each.end], each.operator) for each in items] == [
        ("PERSON", "<PERSON>", "replace"),
        ("LOCATION", "X", "replace"),
    ]


def test_masks_hashes_and_what_is_kept() -> None:
    assert anonymize(TEXT, RANGES, lambda _: mask_with("*", 4, from_end=False))[0] == "**** Smith lives in ****in"
    assert anonymize(TEXT, RANGES, lambda _: mask_with("*", 99, from_end=True))[0] == "*" * 10 + " lives in " + "*" * 6
    assert anonymize(TEXT, RANGES, lambda _: mask_with("*", -1, from_end=True))[0] == TEXT
    assert anonymize(TEXT, RANGES, lambda _: KEEP)[0] == TEXT
    assert anonymize(TEXT, RANGES, lambda _: REDACT)[0] == " lives in "
    hashed = anonymize(TEXT, RANGES[:1], lambda _: hash_with("sha256", b"salt"))[0]
    assert hashed == hashlib.sha256(b"Anna Smithsalt").hexdigest() + " lives in Berlin"


def test_of_crossing_ranges_the_later_begins_behind_the_earlier_or_joins() -> None:
    assert without_overlaps([MarkedRange("A", 2, 6), MarkedRange("A", 0, 4)]) == [MarkedRange("A", 0, 6)]
    assert without_overlaps([MarkedRange("B", 2, 6), MarkedRange("A", 0, 4)]) == [
        MarkedRange("A", 0, 4),
        MarkedRange("B", 4, 6),
    ]
    assert without_overlaps([MarkedRange("B", 1, 3, 0.9), MarkedRange("A", 0, 4)]) == [MarkedRange("A", 0, 4)]
    assert without_overlaps([MarkedRange("A", 0, 4, 0.1), MarkedRange("B", 0, 4, 0.9)]) == [MarkedRange("B", 0, 4, 0.9)]
    assert without_overlaps([MarkedRange("A", 3, 3)]) == []


@given(
    st.text(min_size=1, max_size=30),
    st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 30), st.integers(0, 30)), max_size=8),
)
def test_exactly_the_marked_characters_are_gone(text: str, drawn: list[tuple[str, int, int]]) -> None:
    ranges = [MarkedRange(kind, min(a, b, len(text)), min(max(a, b), len(text))) for kind, a, b in drawn]
    gone = {at for each in ranges for at in range(each.start, each.end)}
    left, items = anonymize(text, ranges, lambda _: REDACT)
    assert left == "".join(character for at, character in enumerate(text) if at not in gone)
    assert all(each.start == each.end for each in items)
