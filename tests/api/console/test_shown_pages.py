"""Pages of words as SVG: each word in its box, its text as text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import msgspec
import pytest

from service.api.console.shown_pages import page_of_words, words_svg
from service.core.errors import InvalidOptions, UnreadableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.placed_pages import read_placed_pages
from tests.support.extraction import placed_page

NAMESPACE = "{http://www.w3.org/2000/svg}"


def document(*pages: dict[str, object]) -> Document:
    return read_placed_pages(msgspec.Raw(msgspec.json.encode(pages)), DocumentLimits())


def drawn(found: Document, number: int) -> ElementTree.Element:
    return ElementTree.fromstring(words_svg(found, *page_of_words(found, number)))


@pytest.mark.parametrize("unit", [1.0, 1 / 842])
def test_each_word_of_a_page_is_as_wide_as_its_box(unit: float) -> None:
    found = drawn(document(placed_page("of the first"), placed_page("Anna Smith", "paid", unit=unit)), 2)
    assert [float(side) for side in found.attrib["viewBox"].split()] == pytest.approx([0, 0, 595, 842], rel=1e-3)
    words = found.findall(f"{NAMESPACE}text")
    assert [each.text for each in words] == ["Anna", "Smith", "paid"]
    assert [float(each.attrib["x"]) for each in words] == pytest.approx([50, 80, 50], rel=1e-3)
    assert [float(each.attrib["textLength"]) for each in words] == pytest.approx([24, 30, 24], rel=1e-3)
    for each, top in zip(words, (50, 50, 70), strict=True):
        assert top + 6 < float(each.attrib["y"]) < top + 12
        assert 8 < float(each.attrib["font-size"]) < 12


def test_a_word_that_stands_upright_does_not_reach_beyond_its_box() -> None:
    page = {"width": 600, "height": 842, "words": [{"text": "Rechnung", "box": [10, 10, 20, 90]}]}
    (word,) = drawn(document(page), 1)
    assert float(word.attrib["font-size"]) < 10


def test_what_a_word_says_stays_text() -> None:
    text = "<script>&\"'\x01\x00]]>\ufffe"
    page = {"width": 9, "height": 9, "words": [{"text": text, "box": [1, 1, 8, 2]}]}
    found = document(page)
    (word,) = drawn(found, 1)
    assert word.text == re.sub("[\x00\x01\ufffe]", "\ufffd", text)
    assert word.tag == f"{NAMESPACE}text"
    assert not list(word)


def test_an_empty_page_is_empty_and_there_are_no_others() -> None:
    found = document({"width": 9, "height": 9, "words": []}, placed_page("Anna"))
    assert not list(drawn(found, 1))
    assert len(drawn(found, 2)) == 1
    for number in (0, 3):
        with pytest.raises(InvalidOptions, match=f"no page {number}; the file has 2"):
            page_of_words(found, number)
    with pytest.raises(UnreadableDocument):
        page_of_words(Document("a text"), 1)
