"""Words of a document and their boxes."""

from __future__ import annotations

import numpy as np

from service.documents.document import Document, Layout, Page
from service.documents.words import words_between_spaces


def document(text: str) -> Document:
    """A page of characters that are 10 wide and 8 high, one after another; white space has no box."""
    boxes = np.array([[10 * at, 0, 10 * at + 10, 8] for at in range(len(text))], dtype=np.float32).reshape(-1, 4)
    boxes[[each.isspace() for each in text]] = np.nan
    return Document(text, (Page(1, 0, len(text), 500.0, 500.0),), Layout(boxes, np.zeros(1, np.int32)))


def test_a_words_box_is_around_its_characters() -> None:
    words = words_between_spaces(document("ab  c\ndéf"))
    assert words is not None
    assert words.ranges.tolist() == [[0, 2], [4, 5], [6, 9]]
    assert words.boxes.tolist() == [[0, 0, 20, 8], [40, 0, 50, 8], [60, 0, 90, 8]]


def test_a_word_without_ink_has_no_box() -> None:
    blank = document("ab c")
    assert blank.layout is not None
    blank.layout.boxes[3] = np.nan
    words = words_between_spaces(blank)
    assert words is not None
    assert np.isnan(words.boxes[1]).all()
    assert not np.isnan(words.boxes[0]).any()


def test_a_text_of_white_space_has_no_words() -> None:
    words = words_between_spaces(document(" \n "))
    assert words is not None
    assert words.ranges.shape == (0, 2)
    assert words.boxes.shape == (0, 4)


def test_a_format_without_boxes_has_no_words() -> None:
    assert words_between_spaces(Document("plain text")) is None
