"""Words and lines of a PDF page, from its characters and their boxes; lines from right to left."""

from __future__ import annotations

import time

import numpy as np
import pytest

from service.documents.pdf.glyphs import Glyphs
from service.documents.pdf.line_text import line_text
from service.documents.pdf.words import Word, lines_of, words_by_direction

Box = tuple[float, float, float, float]


def words_of(text: str, boxes: list[Box], spaced: set[int] | None = None) -> list[list[Word]]:
    loose = np.array(boxes, np.float32)
    flags = np.array([index in (spaced or set()) for index in range(len(text))])
    codes = np.array([ord(character) for character in text], np.uint32)
    return words_by_direction(Glyphs(codes, loose, loose, flags, 600.0, 800.0))


def level(text: str, left: float = 0, top: float = 0) -> list[Box]:
    return [(left + 6 * i, top, left + 6 * i + 6, top + 10) for i in range(len(text))]


def test_a_word_ends_at_white_space_and_at_a_jump() -> None:
    [words] = words_of("abcdef", level("abcd") + level("ef", left=100), spaced={2})
    assert [(word.start, word.end) for word in words] == [(0, 2), (2, 4), (4, 6)]


def test_keys_and_amounts_are_noticed() -> None:
    [words] = words_of("Net:9.50", level("Net:") + level("9.50", left=100))
    assert [(word.is_key, word.is_numeric) for word in words] == [(True, False), (False, True)]


def test_a_run_down_the_page_gets_a_level_box_of_its_own_frame() -> None:
    down = [(590.0, 10.0 * i, 600.0, 10.0 * i + 10) for i in range(4)]
    [words] = words_of("縦書きの", down)
    assert [word[:4] for word in words] == [(0, 0, 40, 10)]


def test_the_direction_with_most_characters_comes_first() -> None:
    up = [(0.0, 700.0 - 10 * i, 10.0, 710.0 - 10 * i) for i in range(4)]
    sides = words_of("side" + "level words", up + level("level words", left=100), spaced={4})
    assert [words[0].start for words in sides] == [4, 0]


def word(left: float, top: float, width: float = 20, height: float = 10, *, rtl: bool = False) -> Word:
    return Word(left, top, left + width, top + height, 0, 1, True, False, False, rtl)


def test_a_superscript_stays_in_its_line() -> None:
    base, raised = word(0, 100), word(20, 99, 5, 6)
    assert lines_of([raised, base]) == [[base, raised]]


def test_loose_boxes_of_following_lines_may_overlap() -> None:
    upper, lower = word(0, 100, height=16), word(0, 111, height=16)
    assert lines_of([lower, upper]) == [[upper], [lower]]


def test_two_small_lines_beside_a_tall_word_stay_apart() -> None:
    upper, lower, tall = word(0, 100), word(0, 111), word(50, 95, 60, 30)
    assert [len(line) for line in lines_of([tall, lower, upper])] in ([1, 2], [2, 1])


def test_right_to_left_words_are_read_so_and_numbers_among_them_are_not() -> None:
    first, second = word(90, 0, rtl=True), word(10, 0, rtl=True)
    third, ten, euros = word(60, 0, rtl=True), word(32, 0, 10), word(44, 0, 10)
    assert lines_of([second, ten, euros, third, first]) == [[first, third, ten, euros, second]]


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


def test_many_raised_digits_of_a_line_take_little_time() -> None:
    """The whole line was once looked at for each of them."""
    count = 4_000
    boxes = [box for at in range(count) for box in ((4 * at, 0, 4 * at + 2, 10), (4 * at + 2, 0.5, 4 * at + 3, 5))]
    codes = np.array([ord("1"), ord("2")] * count, np.uint32)
    word = Word(0, 0, 4 * count, 10, 0, 2 * count, False, True, False, False)
    started = time.process_time()
    assert len(line_text([[word]], codes, np.array(boxes, np.float32)).order) == 3 * count
    assert time.process_time() - started < 1.5
