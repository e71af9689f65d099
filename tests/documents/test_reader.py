from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.core.errors import DocumentTooLarge, GleanerError, UnreadableDocument
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from tests.support import document_files

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
