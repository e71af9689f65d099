from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.redaction.repeats import Repeats


@pytest.mark.parametrize(
    ("wanted", "text", "found"),
    [
        ("Jane Doe", "JANE\n  doe, jane doe.", ["JANE\n  doe", "jane doe"]),
        ("Anna", "Annabel, Susanna, Anna's", ["Anna"]),
        ("jane@acme.example", "<jane@acme.example>", ["jane@acme.example"]),
        ("2026", "12026 and 2026", ["2026"]),
        ("Doe", "Doe", []),
        ("Jane Doe", "Jane", []),
        ("Jane Doe", "", []),
    ],
)
def test_whole_words_are_found_in_any_case_and_over_line_breaks(wanted: str, text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in Repeats([wanted]).find(text)] == found


def test_the_longest_of_several_texts_is_found() -> None:
    text = "Jane Doe Smith and Jane Roe"
    assert [text[a:b] for a, b in Repeats(["Jane", "Jane Doe Smith", "Jane Doe"]).find(text)] == [
        "Jane Doe Smith",
        "Jane",
    ]


def test_short_texts_are_not_looked_for() -> None:
    assert not Repeats(["12", "a b c"])
    assert not Repeats(["12"]).are_in("12")
    assert Repeats(["a b c d"])


def test_what_is_found_can_be_replaced() -> None:
    repeats = Repeats(["Jane Doe"])
    assert repeats.replaced("by Jane Doe, to Jane  Doe", "[x]") == "by [x], to [x]"
    assert repeats.are_in("Jane Doe")
    assert not repeats.are_in("John Doe")


@given(st.lists(st.text(alphabet="ab ,\n", min_size=4), max_size=4), st.text(alphabet="ab ,\n"))
def test_what_is_found_is_in_order_and_nothing_is_left(texts: list[str], text: str) -> None:
    repeats = Repeats(texts)
    places = list(repeats.find(text))
    assert all(a < b for a, b in places)
    assert all(first[1] <= second[0] for first, second in pairwise(places))
    assert not repeats.are_in(repeats.replaced(text, "XX"))
