"""Pages of words as a caller's OCR gives them: their text, their boxes, and what is refused by page and word."""

from __future__ import annotations

import json
import tracemalloc
from base64 import b64encode
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.errors import DocumentTooLarge, GleanerError, MalformedRequest, UnreadableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import (
    MOST_IMAGE_BYTES,
    MOST_WORD_CHARACTERS,
    MOST_WORDS,
    pages_in_file,
    points_of_unit,
    read_placed_pages,
)
from service.documents.words import shown_boxes, words_of
from tests.support.drawn_sheets import sheet

LIMITS = DocumentLimits()
WORD = {"text": "Total", "box": [10, 10, 60, 20]}


def page(*words: tuple[str, Any], width: float = 600, height: float = 800, **more: Any) -> dict[str, Any]:
    return {"width": width, "height": height, "words": [{"text": text, "box": box} for text, box in words], **more}


def read(*pages: Any, limits: DocumentLimits = LIMITS) -> Document:
    return read_placed_pages(msgspec.Raw(json.dumps(pages).encode()), limits)


INVOICE = page(
    ("Invoice", [50, 50, 120, 62]),
    ("INV-1", [130, 51, 170, 63]),
    ("Total", [50, 70, 90, 82]),
    ("1 000", [100, 70, 150, 82]),
    ("EUR", [160, 70.5, 190, 82.5]),
)


def test_words_are_joined_to_lines_and_lines_to_pages() -> None:
    document = read(INVOICE, page(), page(("Page", [0, 0, 1, 1]), ("3", [2, 0, 3, 1])))
    assert document.text == "Invoice INV-1\nTotal 1 000 EUR\n\n\n\nPage 3"
    assert document.pages is not None
    assert [(each.number, each.start, each.end) for each in document.pages] == [(1, 0, 29), (2, 31, 31), (3, 33, 39)]
    assert [(each.width, each.height) for each in document.pages] == [(600, 800)] * 3
    assert document.layout is not None
    assert document.layout.line_starts.tolist() == [0, 14, 33]
    assert document.words is not None
    assert [document.text[start:end] for start, end in document.words.ranges] == [
        "Invoice", "INV-1", "Total", "1 000", "EUR", "Page", "3",
    ]  # fmt: skip
    assert document.words.boxes.dtype == np.float64
    assert document.words.boxes[4].tolist() == [160, 70.5, 190, 82.5]


@pytest.mark.parametrize(
    ("before", "after", "mark"),
    [
        ([0, 0, 10, 10], [12, 0, 20, 10], " "),
        ([0, 0, 10, 10], [12, 5, 20, 15], " "),  # half as high
        ([0, 0, 10, 10], [12, 5.1, 20, 15.1], "\n"),
        ([0, 0, 10, 40], [12, 30, 20, 40], " "),  # a large letter before small ones
        ([12, 30, 20, 40], [22, 0, 30, 40], " "),
        ([500, 12, 560, 22], [0, 12, 40, 22], "\n"),  # back to the left: a page that lies askew
        ([0, 5, 10, 5], [12, 5, 20, 5], " "),  # boxes without height
        ([0, 0, 600, 10], [0, 0, 600, 10], " "),  # the line's box for each word
    ],
)
def test_a_word_begins_a_line_by_its_box(before: list[float], after: list[float], mark: str) -> None:
    assert read(page(("a", before), ("b", after))).text == f"a{mark}b"


def test_words_from_right_to_left_stay_on_their_line() -> None:
    words = [("סך", [500, 10, 540, 22]), ("הכל", [440, 10, 490, 22]), ("12.00", [380, 10, 430, 22])]
    assert read(page(*words)).text == "סך הכל 12.00"


def test_a_range_has_the_words_and_boxes_that_it_touches() -> None:
    document = read(INVOICE, INVOICE)
    text = document.text
    total, second = text.index("1 000 EUR"), text.index("INV-1", 30)
    assert words_of(document, total, total + 9) == (3, 5)
    assert shown_boxes(document, total, total + 9) == [(100, 70, 190, 82.5)]
    assert words_of(document, second, second + 5) == (1, 2)
    assert words_of(document, second, second) is None
    assert shown_boxes(document, 8, 19) == [(130, 51, 170, 63), (50, 70, 90, 82)]
    assert shown_boxes(document, total + 1, total + 3) == [(110, 70, 130, 82)]  # a part of a word: of its box
    assert words_of(document, total, second) == (3, 5)  # over two pages: the words of the first
    assert words_of(Document("a"), 0, 1) is None


@pytest.mark.parametrize("unit", [1 / 800, 1.0, 3.5, 1_000.0])
def test_a_unit_changes_the_answers_boxes_alone(unit: float) -> None:
    words = [(word["text"], [side * unit for side in word["box"]]) for word in INVOICE["words"]]
    document = read(page(*words, width=600 * unit, height=800 * unit))
    assert document.text == read(INVOICE).text
    assert shown_boxes(document, 0, 7) == [tuple(words[0][1])]
    assert shown_boxes(document, 0, 13)[0][2] == words[1][1][2]
    ((left, _, _, bottom),) = document.boxes(0, 13)
    assert (left, bottom) == pytest.approx((50, 63), rel=0.06)  # about points, whatever came


def test_a_sheet_of_paper_in_points_stays_as_it_is() -> None:
    assert points_of_unit(612, 792) == points_of_unit(842, 595) == 1
    assert points_of_unit(1, 1) == 842
    assert points_of_unit(2_480, 3_508) == pytest.approx(0.24, rel=0.01)


@pytest.mark.parametrize(
    ("bad", "error", "words"),
    [
        (page(("a", [0, 0, 1, 1]), ("b", [5, 0, 4, 1])), UnreadableDocument, "page 2, word 1: .*reversed"),
        (page(("b", [0, 5, 4, 1])), UnreadableDocument, "page 2, word 0: .*reversed"),
        (page(("b", [0, 0, 607, 1])), UnreadableDocument, "page 2, word 0: .*outside of the page of 600 × 800"),
        (page(("b", [-6.1, 0, 60, 1])), UnreadableDocument, "page 2, word 0: .*outside.* 1% of a side"),
        (page(("b", [0, 0, 60, 1e300])), UnreadableDocument, "page 2, word 0: .*outside"),
        (page(("", [0, 0, 1, 1])), UnreadableDocument, "page 2, word 0: its text is empty"),
        (page(("a", [0, 0, 1, 1]), (" \n", [0, 0, 1, 1])), UnreadableDocument, "page 2, word 1: its text is empty"),
        (page(width=0), UnreadableDocument, "page 2, width: 0 is no side"),
        (page(height=-1), UnreadableDocument, "page 2, height: -1 is no side"),
        (page(height=1e10), UnreadableDocument, "page 2, height"),
        (page(image="aGVsbG8="), UnreadableDocument, "page 2, image: it is no picture"),
        (page(image="aGVsbG8"), MalformedRequest, "page 2, image: Invalid base64"),
        (page(image="data:image/png;base64,aGVsbG8="), MalformedRequest, "page 2, image: Invalid base64"),
        (page(("a", [0, 0, 1])), MalformedRequest, r"page 2, word 0\.box: Expected `array` of length 4"),
        (page(("a", [0, 0, 1, "1"])), MalformedRequest, r"page 2, word 0\.box\[3\]: Expected `float`"),
        ({"width": 1, "height": 1}, MalformedRequest, "page 2: .*`words`"),
        ({"width": 1, "height": 1, "words": {}}, MalformedRequest, "page 2: Expected `array`"),
        ({"width": "1", "height": 1, "words": []}, MalformedRequest, "page 2, width: Expected `float`"),
        ({"width": 1, "height": 1, "words": [{**WORD, "confidence": 1}]}, MalformedRequest, "word 0: .*`confidence`"),
        ({"width": 1, "height": 1, "words": [{"text": "a"}]}, MalformedRequest, "page 2, word 0: .*`box`"),
        ({"width": 1, "height": 1, "words": [], "dpi": 1}, MalformedRequest, "page 2: .*`dpi`"),
        (5, MalformedRequest, "page 2: Expected `object`"),
    ],
)
def test_what_is_refused_is_named_by_page_and_word(bad: Any, error: type[GleanerError], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        read(INVOICE, bad)
    assert len(caught.value.detail) < 300


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"9" * 400])
def test_numbers_out_of_range_are_refused_by_page_and_word(number: bytes) -> None:
    data = b'[{"width": 9, "height": 9, "words": [{"text": "a", "box": [0, 0, 1, %b]}]}]' % number
    with pytest.raises(MalformedRequest, match=r"page 1, word 0\.box\[3\]: Number out of range"):
        read_placed_pages(msgspec.Raw(data), LIMITS)


def test_a_box_may_reach_a_little_over_the_edge_and_stays_as_it_came() -> None:
    document = read(page(("a", [-6, -8, 606, 808])))
    assert document.words is not None
    assert document.words.boxes.tolist() == [[-6, -8, 606, 808]]


def test_pages_words_and_characters_have_limits() -> None:
    assert len(read(*[page()] * 5, limits=DocumentLimits(max_pages=5)).pages or ()) == 5
    with pytest.raises(DocumentTooLarge, match="more than 5 pages"):
        read(*[page()] * 6, limits=DocumentLimits(max_pages=5))
    with pytest.raises(DocumentTooLarge, match="14 characters; the limit is 13"):
        read(page(("seven t", [0, 0, 1, 1]), ("letter", [2, 0, 3, 1])), limits=DocumentLimits(max_characters=13))
    with pytest.raises(DocumentTooLarge, match="page 1, word 1: it has 1,001 characters"):
        read(page(("a", [0, 0, 1, 1]), ("b" * (MOST_WORD_CHARACTERS + 1), [0, 0, 1, 1])))
    with pytest.raises(DocumentTooLarge, match="page 1 has more than 50,000 words"):
        read(page(*[("a", [0, 0, 1, 1])] * (MOST_WORDS + 1)))
    with pytest.raises(UnreadableDocument, match="at least one page"):
        read()


def test_ten_thousand_words_on_a_page_are_read() -> None:
    words = [(f"w{i}", [i % 100, i // 100, i % 100 + 0.9, i // 100 + 0.9]) for i in range(10_000)]
    document = read(page(*words, width=100, height=100))
    assert document.text.splitlines()[99].startswith("w9900 w9901 ")
    assert words_of(document, document.text.index("w9999"), len(document.text)) == (9_999, 10_000)


def test_a_picture_is_kept_as_it_came() -> None:
    picture = sheet().file()
    document = read(page(), page(image=b64encode(picture).decode()))
    assert document.page_images == (b"", picture)
    assert read(page(), page(image=None)).page_images == ()
    large = b64encode(picture + bytes(MOST_IMAGE_BYTES)).decode()
    with pytest.raises(DocumentTooLarge, match=r"page 1, image: .*8 MiB"):
        read(page(image=large))


@pytest.mark.parametrize(
    "data",
    [
        b"{}",
        b"null",
        b'"a"',
        b"[" * 50_000 + b"]" * 50_000,
        b'[{"width": ' + b"[" * 50_000 + b"]" * 50_000 + b', "height": 1, "words": []}]',
        b'[{"width": 1, "height": 1, "words": [{"text": "\xff", "box": [0, 0, 1, 1]}]}]',
        b'[{"width": 1, "height": 1, "words": [{"text": "\\ud800", "box": [0, 0, 1, 1]}]}]',
        b"[" + b"[]," * 500_000 + b"[]]",
        b'[{"width": 1, "height": 1, "words": [' + b"[]," * 500_000 + b"[]]}]",
        b'[{"width": 1, "height": 1, "words": [' + b"{}," * 500_000 + b"{}]}]",
        b"[" + b'{"width":1,"height":1,"words":[]},' * 100_000 + b'{"width":1,"height":1,"words":[]}]',
    ],
)
def test_hostile_lists_are_refused_in_little_memory(data: bytes) -> None:
    tracemalloc.start()
    with pytest.raises((MalformedRequest, DocumentTooLarge)) as caught:
        read_placed_pages(msgspec.Raw(data), LIMITS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * len(data) + 1_000_000
    assert len(caught.value.detail) < 300


@given(st.lists(st.tuples(st.text(max_size=4), st.lists(st.floats(-1, 12), min_size=4, max_size=4)), max_size=6))
def test_any_words_are_placed_in_the_text_or_refused(words: list[tuple[str, list[float]]]) -> None:
    try:
        document = read(page(*words, width=10, height=10))
    except GleanerError:
        return
    assert document.words is not None
    assert document.layout is not None
    assert [document.text[start:end] for start, end in document.words.ranges] == [text for text, _ in words]
    assert len(document.layout.boxes) == len(document.text)
    for number, (start, end) in enumerate(document.words.ranges.tolist()):
        assert words_of(document, start, end) == (number, number + 1)
        assert shown_boxes(document, start, end) == [tuple(words[number][1])]


def test_a_file_of_pages_is_known_by_its_member() -> None:
    assert bytes(pages_in_file(b'{"id": "a", "pages": [1]}') or b"") == b"[1]"
    for other in (b'{"text": "pages"}', b"%PDF", b"{", b'{"pages"', b'["pages"]', b'{"pages": "\xff"'):
        assert pages_in_file(other) is None
