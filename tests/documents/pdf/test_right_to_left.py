"""Lines from right to left with numbers and with words of the other direction."""

from __future__ import annotations

import pytest

from service.documents.pdf.words import Word, lines_of

A, B, C = "אבג"
"""Words from right to left."""


def line(shown: str) -> str:
    """The words in the order in which they are read; `shown` has them from left to right, a column's gap as `|`."""
    words, left = [], 0.0
    texts = shown.split()
    for index, text in enumerate(texts):
        if text == "|":
            left += 40
            continue
        is_right, is_left = text[0] in "אבג:", text.isalpha() and text.isascii()
        words.append(Word(left, 0, left + 20, 10, index, index + 1, True, not (is_right or is_left), False, is_right))
        left += 24
    return " ".join(texts[word.start] for word in lines_of(words)[0])


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        (f"14/03/2025 {A}", f"{A} 14/03/2025"),
        (f"₪ 1,180.00 {B} {A}", f"{A} {B} ₪ 1,180.00"),
        (f"1,180.00 ₪ {B} {A}", f"{A} {B} 1,180.00 ₪"),
        (f"{C} 12 {B} 7 {A}", f"{A} 7 {B} 12 {C}"),
        (f"118.00 | 18.00 | 100.00 | {B} {A}", f"{A} {B} 100.00 18.00 118.00"),
        (f"{C} Kestrel Paper {B} {A}", f"{A} {B} Kestrel Paper {C}"),
        (f"12 EUR {A}", f"{A} 12 EUR"),
        (f"{B} {A} 12 Name", f"12 Name {A} {B}"),
        (f"The full name {B} {A}", f"The full name {A} {B}"),
        ("Total 12 EUR", "Total 12 EUR"),
    ],
)
def test_lines_with_words_from_right_to_left_read_in_order(shown: str, read: str) -> None:
    assert line(shown) == read
