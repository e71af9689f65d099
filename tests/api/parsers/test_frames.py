"""Documents survive the way between the processes; what no reader would answer is not believed."""

from __future__ import annotations

import struct
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.parsers.frames import (
    BadAnswer,
    FileHeader,
    ParsedHeader,
    crash_frames,
    decode_file,
    decode_header,
    error_frames,
    file_header,
    frame_prefix,
    from_frames,
    longest_frame,
    picture_frames,
    picture_from_frames,
    to_frames,
)
from service.documents.document import (
    Charset,
    CharsetSource,
    Document,
    Layout,
    Page,
    PagePicture,
    PartlyRead,
    PictureRequest,
    UnreadReason,
)
from service.documents.limits import DocumentLimits

LIMITS = DocumentLimits(max_characters=40, max_pages=4)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)) | {0, len(text)})
    pages = tuple(Page(number, a, b) for number, (a, b) in enumerate(pairwise(borders), 1))
    if not pages or not draw(st.booleans()):
        charset = Charset("windows-1250", CharsetSource.GUESSED, draw(st.floats(0, 1)))
        return Document(text, charset=draw(st.sampled_from((None, charset))))
    numbers = draw(
        st.lists(st.floats(0, 1000, width=32) | st.just(float("nan")), min_size=4 * len(text), max_size=4 * len(text))
    )
    boxes = np.array(numbers, dtype=np.float32).reshape(-1, 4)
    part = PartlyRead(len(pages), UnreadReason.IMAGE, ((1.0, 2.0, 3.5, 4.0),))
    return Document(text, pages, Layout(boxes, np.array(borders[:-1], dtype=np.int32)), (1,), (part,))


@given(documents())
def test_a_document_comes_back_as_it_was(document: Document) -> None:
    head, *arrays = [bytes(part) for part in to_frames(document)]
    assert max(map(len, (head, *arrays))) <= longest_frame(LIMITS)
    boxes, line_starts = arrays or (b"", b"")
    found = from_frames(decode_header(head), boxes, line_starts, LIMITS)
    assert (found.text, found.pages) == (document.text, document.pages)
    assert (found.unread_pages, found.partly_read) == (document.unread_pages, document.partly_read)
    assert (found.layout is None) == (document.layout is None)
    if found.layout is not None and document.layout is not None:
        assert np.array_equal(found.layout.boxes, document.layout.boxes, equal_nan=True)
        assert np.array_equal(found.layout.line_starts, document.layout.line_starts)


@given(st.binary(max_size=100))
def test_a_frame_begins_with_its_length(data: bytes) -> None:
    assert struct.unpack("<I", frame_prefix(data)) == (len(data),)


def test_headers_errors_and_crashes_come_back_as_they_were() -> None:
    assert decode_file(file_header("text/html", "a", LIMITS)) == FileHeader("text/html", "a", LIMITS)
    assert decode_header(bytes(error_frames("c", "d")[0])) == ParsedHeader(error_code="c", detail="d")
    assert decode_header(bytes(crash_frames("KeyError a.py:1")[0])).crash == "KeyError a.py:1"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_header_or_a_bad_answer(data: bytes) -> None:
    try:
        decode_header(data)
    except BadAnswer:
        return
    msgspec.msgpack.decode(data)


LINES = np.array([0, 3], dtype=np.int32).tobytes()
BOXES = bytes(16 * 5)
ENDLESS = PartlyRead(1, UnreadReason.OUTLINES, ((0.0, 0.0, float("inf"), 1.0),))


@pytest.mark.parametrize(
    ("parsed", "boxes", "lines"),
    [
        (ParsedHeader("x" * 41), b"", b""),
        (ParsedHeader("hello", tuple((number, 0, 5, 9.0, 9.0) for number in range(5))), b"", b""),
        (ParsedHeader("hello", ((1, 0, 6, 9.0, 9.0),)), b"", b""),
        (ParsedHeader("hello", ((1, 3, 2, 9.0, 9.0),)), b"", b""),
        (ParsedHeader("hello", ((1, -1, 2, 9.0, 9.0),)), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), unread_pages=(2,)), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), partly_read=(PartlyRead(2, UnreadReason.IMAGE, ()),)), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), partly_read=(ENDLESS,)), b"", b""),
        (ParsedHeader("hello", charset=Charset("x" * 99, CharsetSource.DECLARED, 1.0)), b"", b""),
        (ParsedHeader("hello", charset=Charset("utf-8", CharsetSource.DECLARED, float("nan"))), b"", b""),
        (ParsedHeader("hello", None, True), BOXES[1:], LINES),
        (ParsedHeader("hello", None, True), BOXES * 2, LINES),
        (ParsedHeader("hello", None, True), BOXES, LINES[1:]),
        (ParsedHeader("hello", None, True), BOXES, LINES * 4),
        (ParsedHeader("hello", None, True), BOXES, np.array([6], dtype=np.int32).tobytes()),
        (ParsedHeader("hello", None, True), BOXES, np.array([-1], dtype=np.int32).tobytes()),
    ],
)
def test_a_document_whose_parts_do_not_fit_is_not_believed(parsed: ParsedHeader, boxes: bytes, lines: bytes) -> None:
    with pytest.raises(BadAnswer):
        from_frames(parsed, boxes, lines, LIMITS)


def test_a_document_whose_parts_fit_is() -> None:
    found = from_frames(ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), True), BOXES, LINES, LIMITS)
    assert found.layout is not None
    assert found.pages == (Page(1, 0, 5, 9.0, 9.0),)


PICTURE = PagePicture(b"\x89PNG\r\n\x1a\n...", 600.0, 800.0, 3)


def test_a_picture_and_what_is_wanted_of_it_come_back_as_they_were() -> None:
    head, png = (bytes(part) for part in picture_frames(PICTURE))
    assert picture_from_frames(decode_header(head), png) == PICTURE
    wanted = PictureRequest(2, 900)
    assert decode_file(file_header(None, None, LIMITS, picture=wanted)).picture == wanted


@pytest.mark.parametrize(
    ("size", "png"),
    [
        (None, PICTURE.png),
        ((600.0, 800.0, 3), b"<svg onload=..."),
        ((0.0, 800.0, 3), PICTURE.png),
        ((600.0, float("nan"), 3), PICTURE.png),
        ((600.0, float("inf"), 3), PICTURE.png),
        ((600.0, 800.0, 0), PICTURE.png),
    ],
)
def test_what_is_no_picture_is_not_believed(size: tuple[float, float, int] | None, png: bytes) -> None:
    with pytest.raises(BadAnswer):
        picture_from_frames(ParsedHeader(picture=size), png)
