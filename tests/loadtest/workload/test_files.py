"""The files that the load test makes are read by the service's own readers, word for word."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from loadtest.workload.docx import make_docx
from loadtest.workload.mix import DOCX, PDF
from loadtest.workload.pdf import make_pdf
from loadtest.workload.prose import paragraph, report
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document

LIMITS = DocumentLimits(max_bytes=10**7, max_pages=100, max_characters=10**6)


@pytest.mark.parametrize(("make", "media_type"), [(make_pdf, PDF), (make_docx, DOCX)], ids=["pdf", "docx"])
@pytest.mark.parametrize("words", [1, 30, 2_500])
def test_a_made_file_holds_its_words(make: Callable[[str], bytes], media_type: str, words: int) -> None:
    text = report(words, Random(words))
    assert read_document(make(text), media_type=media_type, limits=LIMITS).text.split() == text.split()


def test_a_long_text_takes_several_pages() -> None:
    pages = read_document(make_pdf(report(2_500, Random(1))), media_type=PDF, limits=LIMITS).pages
    assert pages is not None
    assert len(pages) > 3


def test_signs_that_mean_something_to_a_pdf_or_to_xml_survive() -> None:
    text = r"Total (net) <b> & \ 100 %"
    assert read_document(make_pdf(text), media_type=PDF, limits=LIMITS).text.split() == text.split()
    assert read_document(make_docx(text), media_type=DOCX, limits=LIMITS).text.split() == text.split()


@pytest.mark.parametrize("words", [1, 2, 17, 400])
def test_prose_is_as_long_as_asked(words: int) -> None:
    assert len(paragraph(words, Random(3)).split()) == words
