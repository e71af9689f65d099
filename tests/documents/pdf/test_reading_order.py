from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.documents.pdf.reading_order import order_lines
from service.documents.pdf.words import Word


def word(left: float, top: float, start: int, width: float = 60) -> Word:
    return Word(left, top, left + width, top + 10, start, start + 1, True, False, False, False)


def starts_of(words: list[Word]) -> list[list[int]]:
    return [[one.start for one in line] for line in order_lines(words)]


def test_sides_written_in_one_go_each_are_columns() -> None:
    words = [word(0, 12 * row, row) for row in range(3)] + [word(200, 12 * row, 3 + row) for row in range(3)]
    assert starts_of(words) == [[0], [1], [2], [3], [4], [5]]


def test_sides_written_row_by_row_are_rows() -> None:
    words = [word(200 * side, 12 * row, 2 * row + side) for row in range(3) for side in range(2)]
    assert starts_of(words) == [[0, 1], [2, 3], [4, 5]]


def test_a_line_across_the_gutter_ends_the_columns() -> None:
    columns = [word(200 * side, 12 * row, 3 * side + row) for side in range(2) for row in range(3)]
    across = [word(0, 36, 6, width=260)]
    assert starts_of(columns + across) == [[0], [1], [2], [3], [4], [5], [6]]


PLACES = st.tuples(st.integers(0, 500), st.integers(0, 700), st.integers(1, 200))


@given(st.lists(PLACES, min_size=1, max_size=60))
def test_every_word_is_read_exactly_once(places: list[tuple[int, int, int]]) -> None:
    words = [word(left, top, index, width) for index, (left, top, width) in enumerate(places)]
    assert sorted(start for line in starts_of(words) for start in line) == list(range(len(words)))


@pytest.mark.timeout(30)
def test_a_page_of_ten_thousand_cells_takes_no_longer_than_its_size_asks() -> None:
    words = [word(20 * (i % 100), 12 * (i // 100), i, width=5) for i in range(10_000)]
    assert len(order_lines(words)) == 100
