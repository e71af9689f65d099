from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.decoding.span_trimming import behind_gaps, settle


@pytest.mark.parametrize(
    ("text", "label", "settled"),
    [
        ("total [-5.00] EUR", "MONEY", "-5.00"),
        ("total -[5.00] EUR", "TOTAL_AMOUNT", "-5.00"),
        ("total −$[5.00]", "MONEY", "−$5.00"),
        ("total -[€ 5.00]", "MONEY", "-€ 5.00"),
        ("total [233,47]-", "MONEY", "233,47-"),
        ("10-[20 EUR]", "MONEY", "20 EUR"),
        ("10 [20]-30", "MONEY", "20"),
        ("A-[7]", "MONEY", "7"),
        ("- [7]", "MONEY", "7"),
        ("[(1,234.00)]", "MONEY", "(1,234.00)"),
        ("[(1,234.00]) x", "MONEY", "(1,234.00)"),
        ("([1,234.00)]", "NET_AMOUNT", "(1,234.00)"),
        ("([50])", "MONEY", "50"),
        ("[(ACME)]", "ORGANIZATION", "ACME"),
        ("[ACME] Ltd.", "ORGANIZATION", "ACME"),
        ("[ACME)]", "ORGANIZATION", "ACME"),
        ("[(ACME]", "ORGANIZATION", "ACME"),
        ("[ACME (UK)]", "ORGANIZATION", "ACME (UK)"),
        ("[(0)20 7946 (0018)]", "PHONE", "(0)20 7946 (0018)"),
        ("[<a@b.de>]", "EMAIL", "a@b.de"),
        ("[“ACME” Ltd.]", "ORGANIZATION", "“ACME” Ltd."),
        ('["ACME]', "ORGANIZATION", "ACME"),
        ("[- • Python -]", "SKILL", "Python"),
        ("[-5 degrees]", "QUANTITY", "5 degrees"),
        ("[.NET]", "SKILL", ".NET"),
        ("[C++]", "SKILL", "C++"),
        ("[ACME Inc.]", "ORGANIZATION", "ACME Inc."),
        ("[Rent .....]", "LINE_ITEM", "Rent"),
        ("[$]", "MONEY", ""),
        ("[# ......]", "ID_NUMBER", ""),
        ("[(---)]", "MONEY", ""),
        ("[(]", "MONEY", ""),
    ],
)
def test_signs_stay_with_amounts_and_other_marks_go(text: str, label: str, settled: str) -> None:
    bare = text.replace("[", "").replace("]", "")
    start, end = text.index("["), text.index("]") - 1
    start, end = settle(bare, label, start, end)
    assert bare[start:end] == settled


@given(
    st.text('a5-−()[]"“” .,…$\n', max_size=12), st.integers(0, 12), st.integers(0, 12), st.sampled_from(["MONEY", "X"])
)
def test_settled_spans_lie_in_the_text_and_settle_once(text: str, start: int, end: int, label: str) -> None:
    start, end = min(start, len(text)), min(end, len(text))
    first = settle(text, label, min(start, end), max(start, end))
    assert 0 <= first[0] <= first[1] <= len(text)
    assert settle(text, label, *first) == first


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("a b", ["a", "b"][:0]),
        ("a\tb", ["b"]),
        ("a   b c", ["b"]),
        ("a  b", []),
        ("a \t b\tc", ["b", "c"]),
        ("   a b", ["a"]),
        ("a\u00a0\u00a0\u00a0b", ["b"]),
    ],
)
def test_words_behind_a_tab_or_three_spaces_stand_in_another_cell(text: str, parted: list[str]) -> None:
    starts = np.array([place for place, letter in enumerate(text) if letter.isalpha()], dtype=np.int32)
    found = behind_gaps(text, starts)
    assert [text[start] for start, behind in zip(starts.tolist(), found, strict=True) if behind] == parted


def test_a_gap_that_is_a_token_is_a_cell_of_its_own() -> None:
    assert behind_gaps("a\tb", np.array([0, 1, 2], dtype=np.int32)).tolist() == [False, True, True]
