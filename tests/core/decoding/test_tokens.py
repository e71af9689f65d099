from __future__ import annotations

import numpy as np
import pytest

from service.core.decoding.tokens import code_points, word_starts


@pytest.mark.parametrize(
    ("text", "pieces", "starts"),
    [
        ("Angela Merkel", [(0, 3), (3, 6), (7, 10), (10, 13)], [1, 0, 1, 0]),
        ("Angela Merkel", [(0, 6), (6, 13)], [1, 1]),  # the space belongs to the second token
        ("INV-20931", [(0, 3), (3, 4), (4, 6), (6, 9)], [1, 1, 1, 0]),
        ("€1,200", [(0, 1), (1, 2), (2, 3), (3, 6)], [1, 1, 0, 0]),
        ("cafe\u0301s", [(0, 4), (4, 5), (5, 6)], [1, 0, 0]),
        ("東京タワー", [(0, 1), (1, 2), (2, 4), (4, 5)], [1, 1, 1, 1]),
        ("김철수는", [(0, 3), (3, 4)], [1, 1]),
        ("สมชาย", [(0, 3), (3, 5)], [1, 1]),
        ("😀x", [(0, 1), (0, 1), (0, 1), (1, 2)], [1, 0, 0, 1]),  # byte pieces of one character
        ("ab", [(0, 0), (0, 1), (1, 2), (2, 2)], [1, 1, 0, 1]),
    ],
)
def test_words_are_runs_of_letters_digits_and_marks(
    text: str, pieces: list[tuple[int, int]], starts: list[int]
) -> None:
    assert word_starts(text, np.array(pieces, dtype=np.int32)).astype(int).tolist() == starts


def test_code_points_count_characters_even_broken_ones() -> None:
    assert code_points("a€😀\ud800").tolist() == [0x61, 0x20AC, 0x1F600, 0xD800]


def test_a_number_is_one_word_with_the_marks_between_its_digits() -> None:
    text = "pay 10,686.25, or 5 by 1.a"
    pieces = ["pay", "10", ",", "686", ".", "25", ",", "or", "5", "by", "1", ".", "a"]
    starts: list[int] = []
    for piece in pieces:
        starts.append(text.index(piece, starts[-1] if starts else 0))
    offsets = np.array([(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)], np.int32)
    words = [piece for piece, begins in zip(pieces, word_starts(text, offsets), strict=True) if begins]
    assert words == ["pay", "10", ",", "or", "5", "by", "1", ".", "a"]
