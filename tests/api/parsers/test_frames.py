"""Documents survive the way between the processes; what no reader would answer is not believed."""

from __future__ import annotations

import struct
import time
from dataclasses import replace
from decimal import Decimal
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
    decode_redacted,
    encode_file,
    error_frames,
    frame_prefix,
    from_frames,
    longest_frame,
    longest_redacted_header,
    picture_frames,
    picture_from_frames,
    redacted_frames,
    to_frames,
)
from service.core.decoding.value import Value, ValueKind
from service.core.fields.stated_invoice import ElectronicInvoice, InvoiceRow, StatedPart
from service.documents.document import (
    Charset,
    CharsetSource,
    Document,
    Layout,
    Page,
    PagePicture,
    PartlyRead,
    PictureRequest,
    RecognizedPage,
    UnreadAttachment,
    UnreadReason,
)
from service.documents.limits import DocumentLimits
from service.documents.redaction.values import RedactedFile, RedactedPage

LIMITS = DocumentLimits(max_characters=40, max_pages=4)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
    borders = sorted(draw(st.sets(st.integers(0, len(text)), max_size=3)) | {0, len(text)})
    pages = tuple(Page(number, a, b) for number, (a, b) in enumerate(pairwise(borders), 1))
    if not pages or not draw(st.booleans()):
        charset = Charset("windows-1250", CharsetSource.GUESSED, draw(st.floats(0, 1)))
        pictures = tuple((place, number) for number, place in enumerate(borders, 1))
        return Document(text, charset=draw(st.sampled_from((None, charset))), pictures=pictures)
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
    found = from_frames(decode_header(head, LIMITS), boxes, line_starts, LIMITS)
    assert (found.text, found.pages, found.pictures) == (document.text, document.pages, document.pictures)
    assert (found.unread_pages, found.partly_read) == (document.unread_pages, document.partly_read)
    assert (found.layout is None) == (document.layout is None)
    if found.layout is not None and document.layout is not None:
        assert np.array_equal(found.layout.boxes, document.layout.boxes, equal_nan=True)
        assert np.array_equal(found.layout.line_starts, document.layout.line_starts)


@given(st.binary(max_size=100))
def test_a_frame_begins_with_its_length(data: bytes) -> None:
    assert struct.unpack("<I", frame_prefix(data)) == (len(data),)


def test_headers_errors_and_crashes_come_back_as_they_were() -> None:
    assert decode_file(encode_file(FileHeader("text/html", "a", LIMITS))) == FileHeader("text/html", "a", LIMITS)
    assert decode_header(bytes(error_frames("c", "d")[0]), LIMITS) == ParsedHeader(error_code="c", detail="d")
    assert decode_header(bytes(crash_frames("KeyError a.py:1")[0]), LIMITS).crash == "KeyError a.py:1"


@given(st.binary(max_size=60))
def test_any_bytes_are_a_header_or_a_bad_answer(data: bytes) -> None:
    try:
        decode_header(data, LIMITS)
    except BadAnswer:
        return
    msgspec.msgpack.decode(data)


TAKEN_OVER = {
    "pages": (b"\x95\0\0\0\0\0", 300_000),
    "unread_pages": (b"\0", 3_000_000),
    "pictures": (b"\x92\0\1", 300_000),
    "page_pictures": (b"\x92\0\1", 300_000),
    "partly_read": (b"\x83\xa4page\1\xa6reason\xa5image\xa5boxes\x90", 300_000),
}


@pytest.mark.parametrize("name", [*TAKEN_OVER, "boxes"])
def test_long_lists_are_refused_before_objects_are_made_of_them(name: str) -> None:
    """300 MB in lists became many gigabytes before their pages were counted."""

    if name == "boxes":
        boxes = b"\xdd" + struct.pack(">I", 900_000) + b"\x94\0\0\0\0" * 900_000
        name, item, count = "partly_read", TAKEN_OVER["partly_read"][0][:-1] + boxes, 1
    else:
        item, count = TAKEN_OVER[name]
    data = b"\x81" + msgspec.msgpack.encode(name) + b"\xdd" + struct.pack(">I", count) + item * count
    msgspec.msgpack.Decoder(ParsedHeader).decode(data)
    begun = time.thread_time()
    with pytest.raises(BadAnswer, match=f"too much of {name}$"):
        decode_header(data, LIMITS)
    assert time.thread_time() - begun < 0.1


def test_as_many_pages_and_parts_as_a_document_may_have_are_read() -> None:
    limits = DocumentLimits(max_pages=1_000)
    boxes = ((123.5, 234.5, 345.25, 456.75),) * 16
    parts = tuple(PartlyRead(number, reason, boxes) for number in range(1_000) for reason in UnreadReason)
    pages = tuple((number, 2**30, 2**30, 612.5, 792.5) for number in range(1_000))
    header = ParsedHeader("", pages, unread_pages=tuple(range(1_000)), partly_read=parts)
    assert decode_header(msgspec.msgpack.encode(header), limits) == header


def test_a_redacted_header_is_bounded_by_its_pages() -> None:
    pages = tuple(RedactedPage(number, "rasterized", "r" * 100) for number in range(LIMITS.max_pages))
    head, _ = redacted_frames(RedactedFile(b"", pages, ("Info",) * 100))
    assert len(head) <= longest_redacted_header(LIMITS) < 2 << 20


LINES = np.array([0, 3], dtype=np.int32).tobytes()
BOXES = bytes(16 * 5)
_TOTAL = Value(ValueKind.MONEY, "9.00 EUR", number=Decimal("9.00"), unit="EUR")
STATED = ElectronicInvoice(
    "UBL", "urn:x", None, "380", "EUR", {"TOTAL_AMOUNT": _TOTAL}, (InvoiceRow("Pen", None, _TOTAL),)
)
UNRECOGNIZED = (
    RecognizedPage(2, 0.9, 0, 0.0),
    RecognizedPage(1, 1.5, 0, 0.0),
    RecognizedPage(1, -0.1, 0, 0.0),
    RecognizedPage(1, 0.9, 45, 0.0),
    RecognizedPage(1, 0.9, 0, 1e300),
    RecognizedPage(1, 0.9, 0, float("nan")),
)
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
        (ParsedHeader("hello", ((1, 0, 5, float("inf"), 9.0),)), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, 9.0, float("nan")),)), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, -9.0, 9.0),)), b"", b""),
        *((ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), recognized=(each,)), b"", b"") for each in UNRECOGNIZED),
        (ParsedHeader("hello", charset=Charset("x" * 99, CharsetSource.DECLARED, 1.0)), b"", b""),
        (ParsedHeader("hello", charset=Charset("utf-8", CharsetSource.DECLARED, float("nan"))), b"", b""),
        (ParsedHeader("hello", invoice=replace(STATED, roles={"PERSON": Value(ValueKind.TEXT, "Anna")})), b"", b""),
        (ParsedHeader("hello", pictures=((6, 1),)), b"", b""),
        (ParsedHeader("hello", pictures=((0, 0),)), b"", b""),
        (ParsedHeader("hello", pictures=((0, 1),) * 2_001), b"", b""),
        (ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), pictures=((0, 1),)), b"", b""),
        (ParsedHeader("hello", stated=(StatedPart(0, 5),)), b"", b""),
        (ParsedHeader("hello", invoice=STATED, stated=(StatedPart(0, 6),)), b"", b""),
        (ParsedHeader("hello", invoice=STATED, stated=(StatedPart(2, 5), StatedPart(0, 3))), b"", b""),
        (ParsedHeader("hello", None, True, invoice=STATED, stated=(StatedPart(0, 5),)), BOXES, LINES),
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


@pytest.mark.parametrize("value", [-0.1, 1.1, float("inf")])
def test_a_confidence_out_of_bounds_is_not_believed(value: float) -> None:
    parsed = ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), True, has_confidence=True)
    with pytest.raises(BadAnswer):
        from_frames(parsed, BOXES, LINES, LIMITS, np.array([0.5, np.nan, 0.5, 0.5, value], np.float32).tobytes())


def test_attachments_that_were_not_read_come_back_unless_they_are_too_many() -> None:
    unread = (UnreadAttachment("factur-x.xml", "damaged"),)
    document = Document("hello", (Page(1, 0, 5),), Layout(np.zeros((5, 4), np.float32), np.zeros(1, np.int32)))
    head, *arrays = map(bytes, to_frames(replace(document, unread_attachments=unread)))
    assert from_frames(decode_header(head, LIMITS), *arrays, LIMITS).unread_attachments == unread  # type: ignore[call-arg, arg-type]
    with pytest.raises(BadAnswer, match="too much of unread_attachments"):
        decode_header(bytes(to_frames(replace(document, unread_attachments=unread * 10_000))[0]), LIMITS)


def test_a_document_whose_parts_fit_is() -> None:
    found = from_frames(ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), True), BOXES, LINES, LIMITS)
    assert found.layout is not None
    assert found.pages == (Page(1, 0, 5, 9.0, 9.0),)


def test_an_invoice_comes_back_as_it_was_unless_it_is_too_long() -> None:
    heads = [to_frames(Document("hello", invoice=each))[0] for each in (STATED, replace(STATED, rows=STATED.rows * 10))]
    for head, expected in zip(heads, (1, 10), strict=True):
        found = from_frames(decode_header(bytes(head), LIMITS), b"", b"", LIMITS).invoice
        assert found == replace(STATED, rows=STATED.rows * expected)
    parts = (StatedPart(0, 2, "TOTAL_AMOUNT"), StatedPart(3, 5))
    head = bytes(to_frames(Document("hello", invoice=STATED, stated=parts))[0])
    assert from_frames(decode_header(head, LIMITS), b"", b"", LIMITS).stated == parts
    with pytest.raises(BadAnswer, match="too much of stated"):
        decode_header(bytes(to_frames(Document("hello", invoice=STATED, stated=parts * 600_000))[0]), LIMITS)
    long = replace(STATED, rows=(InvoiceRow("x" * 1_000),) * 20_000)
    with pytest.raises(BadAnswer, match="too much of invoice"):
        decode_header(bytes(to_frames(Document("hello", invoice=long))[0]), LIMITS)


def test_an_error_is_one_whatever_was_asked_for() -> None:
    (head,) = error_frames("unredactable_document", "why")
    for decoded in (decode_header(bytes(head), LIMITS), decode_redacted(bytes(head), LIMITS)):
        assert (decoded.error_code, decoded.detail) == ("unredactable_document", "why")


PICTURE = PagePicture(b"\x89PNG\r\n\x1a\n...", 600.0, 800.0, 3)


def test_a_picture_and_what_is_wanted_of_it_come_back_as_they_were() -> None:
    head, png = (bytes(part) for part in picture_frames(PICTURE))
    wanted = PictureRequest(2, 900)
    assert picture_from_frames(decode_header(head, LIMITS), png, wanted) == PICTURE
    assert decode_file(encode_file(FileHeader(None, None, LIMITS, picture=wanted))).picture == wanted


@pytest.mark.parametrize(
    ("size", "png"),
    [
        (None, PICTURE.content),
        ((600.0, 800.0, 3), b"<svg onload=..."),
        ((0.0, 800.0, 3), PICTURE.content),
        ((600.0, float("nan"), 3), PICTURE.content),
        ((600.0, float("inf"), 3), PICTURE.content),
        ((600.0, 800.0, 0), PICTURE.content),
    ],
)
def test_what_is_no_picture_is_not_believed(size: tuple[float, float, int] | None, png: bytes) -> None:
    with pytest.raises(BadAnswer):
        picture_from_frames(ParsedHeader(picture=size), png, PictureRequest(1, 900))


def test_a_square_for_a_model_has_all_of_its_pixels() -> None:
    header, wanted = ParsedHeader(picture=(600.0, 800.0, 1)), PictureRequest(1, 8, resample=2)
    assert picture_from_frames(header, bytes(192), wanted).content == bytes(192)
    for wrong in (bytes(191), bytes(193), PICTURE.content):
        with pytest.raises(BadAnswer):
            picture_from_frames(header, wrong, wanted)


RANGES, PLACES = np.array([[0, 2], [3, 5]], np.int32), np.zeros((2, 4))
PLACED = ParsedHeader("hello", ((1, 0, 5, 9.0, 9.0),), True, has_words=True)


def test_words_of_a_file_come_back_as_they_were() -> None:
    found = from_frames(PLACED, BOXES, LINES, LIMITS, words=(RANGES.tobytes(), PLACES.tobytes())).words
    assert found is not None
    assert (found.ranges.tolist(), found.boxes.tolist()) == (RANGES.tolist(), PLACES.tolist())
    none = from_frames(PLACED, BOXES, LINES, LIMITS, words=(b"", b"")).words
    assert none is not None
    assert len(none.ranges) == 0


@pytest.mark.parametrize(
    ("ranges", "places"),
    [
        (RANGES[:1], PLACES),
        (RANGES, PLACES[:1]),
        (RANGES + 1, PLACES),
        (RANGES - 1, PLACES),
        (RANGES[::-1], PLACES),
        (np.array([[0, 3], [2, 5]], np.int32), PLACES),
        (np.array([[0, 0], [3, 5]], np.int32), PLACES),
        (RANGES, PLACES + np.inf),
    ],
)
def test_words_that_have_no_place_in_the_text_are_not_believed(ranges: np.ndarray, places: np.ndarray) -> None:
    with pytest.raises(BadAnswer):
        from_frames(PLACED, BOXES, LINES, LIMITS, words=(ranges.tobytes(), places.tobytes()))
