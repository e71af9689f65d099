"""Limits on what one file may hold: bytes, pages, characters."""

from __future__ import annotations

import pytest

from service.core.errors import DocumentTooLarge
from service.documents.limits import (
    ALWAYS_CHARACTERS,
    CHARACTERS_PER_BYTE,
    DocumentLimits,
)
from service.documents.reader import read_document
from tests.support.document_files import paragraph, simple_docx, word_body


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
