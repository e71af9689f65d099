from __future__ import annotations

from service.documents.pdf.lines import lines_of
from service.documents.pdf.words import Word


def word(left: float, top: float, width: float = 20, height: float = 10, *, leftward: bool = False) -> Word:
    return Word(left, top, left + width, top + height, 0, 1, True, False, False, leftward)


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
    first, second = word(90, 0, leftward=True), word(10, 0, leftward=True)
    third, ten, euros = word(60, 0, leftward=True), word(32, 0, 10), word(44, 0, 10)
    assert lines_of([second, ten, euros, third, first]) == [[first, third, ten, euros, second]]
