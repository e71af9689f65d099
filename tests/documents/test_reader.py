"""Reading of any format within limits on bytes, pages and characters, and a document's pages and boxes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.core.errors import DocumentTooLarge, GleanerError, UnreadableDocument
from service.documents.document import Document, Layout, Page
from service.documents.limits import (
    ALWAYS_CHARACTERS,
    CHARACTERS_PER_BYTE,
    DocumentLimits,
)
from service.documents.reader import read_document
from tests.support import document_files
from tests.support.document_files import paragraph, simple_docx, word_body

LIMITS = DocumentLimits(max_bytes=1_000_000, max_pages=50, max_characters=200_000, max_unpacked_bytes=2_000_000)
HTML = b"<!doctype html><meta charset=utf-8><table><tr><td>a<td>b</table><div hidden>c</div>&eacute;<pre> d\n</pre>"
SAMPLES = (
    document_files.pdf(document_files.column(40, 90, ["Two lines", "of text"]), [(50, 50, "page two")]),
    document_files.word_body(document_files.paragraph("hello") * 3, header1=document_files.paragraph("head")),
    HTML,
    "Ünïcode".encode("utf-16"),
)


@pytest.mark.parametrize(
    ("data", "media_type", "name", "expected"),
    [
        (document_files.pdf([(50, 50, "hello")]), "application/pdf", None, "hello"),
        (document_files.word_body(document_files.paragraph("hello")), None, "a.docx", "hello"),
        (b"<p>hello", "text/html", None, "hello"),
        (b"hello\r\n", "text/plain", None, "hello\n"),
        (b"h\xe9llo", "text/plain; charset=iso-8859-1", None, "héllo"),
    ],
)
def test_every_format_is_read(data: bytes, media_type: str | None, name: str | None, expected: str) -> None:
    assert read_document(data, media_type=media_type, name=name, limits=LIMITS).text == expected


@pytest.mark.parametrize(
    ("data", "media_type", "sentence"),
    [
        (b"", "application/pdf", "empty"),
        (b" \n ", "text/plain", "no text"),
        (b"<p hidden>a", "text/html", "no text"),
        (b"\xef\xbb\xbf", "text/plain", "no text"),
        (document_files.word_body(""), None, "no text"),
        (b"<p style='color:white'>hidden", "text/html", "The document has no text that can be seen: its 6"),
    ],
)
def test_a_document_without_text_is_unreadable(data: bytes, media_type: str | None, sentence: str) -> None:
    with pytest.raises(UnreadableDocument, match=sentence):
        read_document(data, media_type=media_type, limits=LIMITS)


@pytest.mark.parametrize(
    ("limits", "unit"), [(DocumentLimits(max_bytes=9), "bytes"), (DocumentLimits(max_characters=9), "characters")]
)
def test_a_document_over_a_limit_is_refused(limits: DocumentLimits, unit: str) -> None:
    with pytest.raises(DocumentTooLarge, match=f"10 {unit}; the limit is 9: 1 too many"):
        read_document(b"0123456789", media_type="text/plain", limits=limits)


def read_or_refuse(data: bytes, media_type: str | None = None) -> None:
    try:
        document = read_document(data, media_type=media_type, limits=LIMITS)
    except GleanerError:
        return
    document.text.encode()
    assert "\x00" not in document.text
    assert document.layout is None or len(document.layout.boxes) == len(document.text)


TYPES = st.sampled_from([None, "application/pdf", "text/html", "text/plain; charset=utf-16", "application/zip"])
FUZZ = settings(max_examples=150, deadline=5000, suppress_health_check=[HealthCheck.too_slow])


@FUZZ
@given(st.binary(max_size=400), TYPES)
def test_random_bytes_are_read_or_refused(data: bytes, media_type: str | None) -> None:
    read_or_refuse(data, media_type)


@FUZZ
@given(st.sampled_from(SAMPLES), st.data())
def test_a_truncated_document_is_read_or_refused(sample: bytes, data: st.DataObject) -> None:
    read_or_refuse(sample[: data.draw(st.integers(0, len(sample)))])


@FUZZ
@given(st.sampled_from(SAMPLES), st.data())
def test_a_document_with_flipped_bits_is_read_or_refused(sample: bytes, data: st.DataObject) -> None:
    damaged = bytearray(sample)
    for place in data.draw(st.lists(st.integers(0, len(sample) - 1), min_size=1, max_size=8)):
        damaged[place] ^= data.draw(st.integers(1, 255))
    read_or_refuse(bytes(damaged))


def laid_out() -> Document:
    """Two lines, "ab c" and "de", of characters ten points wide and high; blanks have no box."""
    nothing = [np.nan] * 4
    first = [[0, 0, 10, 10], [10, 0, 20, 10], nothing, [30, 0, 40, 10], nothing]
    second = [[0, 12, 10, 22], [10, 12, 20, 22]]
    layout = Layout(np.array(first + second, np.float32), np.array([0, 5], np.int32))
    return Document("ab c\nde", (Page(1, 0, 4), Page(2, 5, 7)), layout)


def test_a_span_within_a_line_has_one_box() -> None:
    assert laid_out().boxes(0, 4) == [(0, 0, 40, 10)]


def test_a_span_over_two_lines_has_a_box_for_each() -> None:
    assert laid_out().boxes(3, 6) == [(30, 0, 40, 10), (0, 12, 10, 22)]


def test_parts_of_a_line_have_left_and_right_edges() -> None:
    extents = laid_out().line_extents()
    assert extents is not None
    assert extents([(0, 1), (1, 4)]) == [(0, 10), (10, 40)]
    assert extents([(3, 4)]) == [(30, 40)]
    assert np.isnan(extents([(2, 3)])).all()
    assert extents([]) == []
    shifted = laid_out().line_extents(3)
    assert shifted is not None
    assert shifted([(0, 1)]) == [(30, 40)]


def test_a_document_without_layout_has_no_boxes_and_no_pages() -> None:
    assert Document("text").boxes(0, 4) == []
    assert Document("text").line_extents() is None
    assert np.isnan(Document("text").extents([(0, 4)])).all()
    assert Document("text").page_at(0) is None


def test_every_offset_has_its_page() -> None:
    assert [laid_out().page_at(offset) for offset in (0, 3, 5, 6)] == [1, 1, 2, 2]


def test_a_document_at_the_limit_passes() -> None:
    DocumentLimits(max_pages=3).check_pages(3)


def test_the_error_names_the_limit_and_the_excess() -> None:
    with pytest.raises(DocumentTooLarge, match=r"1,250 pages; the limit is 1,000: 250 too many"):
        DocumentLimits(max_pages=1000).check_pages(1250)


def test_a_small_file_may_not_unpack_to_a_text_out_of_proportion() -> None:
    """Twenty kilobytes of DOCX held twenty million characters, and no limit was passed."""
    bomb = word_body(paragraph("- " * ALWAYS_CHARACTERS))
    assert len(bomb) < 10_000
    with pytest.raises(DocumentTooLarge, match=r"characters for its \d,\d{3} bytes; the limit is 1,000,000"):
        read_document(bomb, limits=DocumentLimits())


def test_the_character_limit_grows_with_the_file_from_a_million_on() -> None:
    limits = DocumentLimits(max_characters=20_000_000)
    assert limits.for_file_of(100).max_characters == ALWAYS_CHARACTERS
    assert limits.for_file_of(100_000).max_characters == CHARACTERS_PER_BYTE * 100_000
    assert limits.for_file_of(1_000_000) is limits
    assert DocumentLimits(max_characters=1_000).for_file_of(1).max_characters == 1_000
    long = "one two three " * 69_999 + "four"
    assert len(read_document(simple_docx(long), limits=DocumentLimits()).text) == len(long)
