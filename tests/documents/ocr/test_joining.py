"""Text of a page's pictures among its lines: where it stands, and what of a range is the page's own."""

from __future__ import annotations

import numpy as np
import pytest

from service.documents.document import Document, Layout, Page, PartlyRead, RecognizedPage, UnreadReason
from service.documents.ocr.joining import of_page, typed_parts, with_recognized

Line = tuple[str, float, float, float]
"""A text, its left, its top, and its right edge."""


def document(*pages: list[Line], confidence: float | None = None, first: int = 1) -> Document:
    """A document with a line of text on each line of its pages, 10 points high."""
    text, boxes, starts, numbered = "", list[list[float]](), list[int](), list[Page]()
    for number, lines in enumerate(pages, first):
        if numbered:
            text, boxes = text + "\n\n", [*boxes, [np.nan] * 4, [np.nan] * 4]
        start = len(text)
        for place, (words, left, top, right) in enumerate(lines):
            if place:
                text, boxes = text + "\n", [*boxes, [np.nan] * 4]
            starts.append(len(text))
            step = (right - left) / len(words)
            boxes += [[left + step * at, top, left + step * (at + 1), top + 10] for at in range(len(words))]
            text += words
        numbered.append(Page(number, start, len(text), 600, 800))
    array = np.array(boxes, np.float32).reshape(-1, 4)
    sure = None if confidence is None else np.where(np.isnan(array[:, 0]), np.nan, confidence).astype(np.float32)
    return Document(text, tuple(numbered), Layout(array, np.array(starts, np.int32), sure))


def picture(*lines: Line, number: int = 1) -> Document:
    """The pictures of a page: each line is one."""
    places = tuple(
        RecognizedPage(number, 0.9, 0, 0.0, (left - 2, top - 2, right + 2, top + 12)) for _, left, top, right in lines
    )
    found = document(list(lines), confidence=0.9, first=number)
    return Document(found.text, found.pages, found.layout, recognized=places)


COLUMNS: list[Line] = [
    ("left one", 50, 100, 200),
    ("left two", 50, 200, 200),
    ("right one", 300, 100, 500),
    ("right two", 300, 200, 500),
]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((50, 20, 200), "PICTURE\nleft one\nleft two\nright one\nright two"),
        ((50, 150, 200), "left one\nPICTURE\nleft two\nright one\nright two"),
        ((300, 150, 500), "left one\nleft two\nright one\nPICTURE\nright two"),
        ((50, 300, 200), "left one\nleft two\nPICTURE\nright one\nright two"),
        ((300, 300, 500), "left one\nleft two\nright one\nright two\nPICTURE"),
        ((520, 150, 590), "left one\nPICTURE\nleft two\nright one\nright two"),
        ((520, 700, 590), "left one\nleft two\nright one\nright two\nPICTURE"),
    ],
)
def test_a_picture_stands_among_the_lines_of_its_column(place: tuple[float, float, float], text: str) -> None:
    joined = with_recognized(document(COLUMNS), {1: picture(("PICTURE", *place))})
    assert joined.text == text
    at = text.index("PICTURE")
    assert joined.confidence(at, at + 7) == pytest.approx(0.9)
    assert joined.boxes(at, at + 7) == [(place[0], place[1], place[2], place[1] + 10)]


def test_what_is_the_page_s_own_is_found_where_it_was() -> None:
    plain = document(COLUMNS, [("last page", 50, 100, 200)])
    joined = with_recognized(
        plain,
        {1: picture(("FIRST", 50, 20, 200), ("SECOND", 50, 150, 200)), 2: picture(("THIRD", 50, 300, 200), number=2)},
    )
    assert joined.text == "FIRST\nleft one\nSECOND\nleft two\nright one\nright two\n\nlast page\nTHIRD"
    for page, before in zip(joined.pages or (), plain.pages or (), strict=True):
        own = plain.text[before.start : before.end]
        parts = typed_parts(joined, page, page.start, page.end)
        assert "".join(joined.text[start:end] for start, end, _ in parts) == own
        assert all(own[at : at + end - start] == joined.text[start:end] for start, end, at in parts)
    assert typed_parts(joined, (joined.pages or ())[0], 0, 5) == []
    assert typed_parts(plain, (plain.pages or ())[1], plain.text.index("page"), len(plain.text)) == [
        (len(plain.text) - 4, len(plain.text), 5)
    ]


def test_pictures_without_writing_leave_the_page_as_it_is() -> None:
    plain = document(COLUMNS)
    named = Document(plain.text, plain.pages, plain.layout, partly_read=(PartlyRead(1, UnreadReason.IMAGE, ()),))
    nothing = Document(
        "",
        (Page(1, 0, 0, 600, 800),),
        document([]).layout,
        recognized=(RecognizedPage(1, 1.0, 0, 0.0, (0, 0, 60, 60)),),
    )
    joined = with_recognized(named, {1: nothing})
    assert (joined.text, joined.partly_read, len(joined.recognized)) == (plain.text, (), 1)


def test_pictures_that_show_the_same_are_those_of_another_page() -> None:
    found = of_page(picture(("PICTURE", 50, 20, 200)), 7)
    assert ([page.number for page in found.pages or ()], [each.page for each in found.recognized]) == ([7], [7])
