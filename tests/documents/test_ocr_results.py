"""Results of OCR programs, as these write them, become pages of words; what is damaged is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.document import Document
from service.documents.format_detection import Format, detect_format
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from service.documents.words import shown_boxes
from tests.support.ocr_results import ALTO, HOCR, SIZE, WORDS, textract, word


def read(data: str | bytes | Any, name: str | None = None, limits: DocumentLimits | None = None) -> Document:
    written = data if isinstance(data, str) else json.dumps(data)
    data = data if isinstance(data, bytes) else written.encode()
    return read_document(data, name=name, limits=limits or DocumentLimits())


def words(document: Document) -> list[tuple[str, tuple[float, ...]]]:
    assert document.words is not None
    ranges = document.words.ranges.tolist()
    return [
        (document.text[start:end], tuple(box))
        for (start, end), box in zip(ranges, document.words.boxes.tolist(), strict=True)
    ]


def sizes(document: Document) -> list[tuple[float, float]]:
    return [(page.width, page.height) for page in document.pages or ()]


@pytest.mark.parametrize("name", [None, "scan.hocr", "scan.html", "scan.xhtml", "scan.txt"])
def test_hocr_of_tesseract(name: str | None) -> None:
    document = read(HOCR, name)
    assert document.text == "Größe M&S\nTotal: 12,50\n\nend"
    assert words(document) == [
        ("Größe", (200, 210, 480, 262)),
        ("M&S", (500, 210, 900, 262)),
        ("Total:", (200, 280, 420, 330)),
        ("12,50", (450, 280, 2480, 330)),  # not beyond the page
        ("end", (5, 5, 50, 20)),
    ]
    assert sizes(document) == [(2480, 3508)] * 2


def test_hocr_of_a_part_of_an_image_begins_at_its_corner() -> None:
    page = "<div class=\"ocr_page\" title='bbox 100 200 300 400'><span class=ocrx_word title='bbox 110 210 150.5 220'>a"
    document = read(page)
    assert (words(document), sizes(document)) == ([("a", (10, 10, 50.5, 20))], [(200, 200)])


@pytest.mark.parametrize(("version", "unit"), [(2, "mm10"), (3, "pixel"), (4, "inch1200")])
def test_alto_of_each_version_keeps_its_unit(version: int, unit: str) -> None:
    document = read(ALTO.format(version=version, unit=unit, size=SIZE), "a.xml")
    assert document.text == "A&ä Rech-\nnung"
    assert words(document)[:2] == [("A&ä", (100, 100, 160.5, 140)), ("Rech-", (180, 100, 280, 140))]
    assert sizes(document) == [(2100, 2970)]


@pytest.mark.parametrize("size", ["", 'WIDTH="0" HEIGHT="0"', 'WIDTH="0.0" HEIGHT="0.0"'])
def test_an_alto_page_without_a_size_has_that_of_its_print_space(size: str) -> None:
    assert sizes(read(ALTO.format(version=4, unit="pixel", size=size))) == [(2050, 2900)]
    word = '<a:String CONTENT="a" HPOS="1" VPOS="2" WIDTH="3" HEIGHT="4"/>'
    assert sizes(read(f'<a:alto xmlns:a="a"><a:Page>{word}</a:Page></a:alto>')) == [(4, 6)]


@pytest.mark.parametrize("name", [None, "answer.json", "answer.txt"])
def test_textract_of_one_page(name: str | None) -> None:
    document = read(textract(*WORDS), name)
    assert document.text == "Invoice INV-1\nTotal"
    assert sizes(document) == [(1, 1)]
    assert words(document)[1] == ("INV-1", (0.25, 0.1, 0.25 + 0.1, 0.1 + 0.02))
    assert shown_boxes(document, 8, 13)[0][:2] == (0.25, 0.1)


def test_textract_of_pages_and_of_several_answers() -> None:
    first = textract(word("one", 0.1, 0.1, 1), word("three", 0.1, 0.1, 3), pages=4)
    second = textract(word("four", 0.1, 0.1, 4), pages=4)
    assert read([first, second]).text == "one\n\n\n\nthree\n\nfour"
    turned = word("two", 0.2, 0.3)
    del turned["Geometry"]["BoundingBox"]
    assert words(read(textract(turned)))[0][1] == pytest.approx((0.2, 0.3, 0.3, 0.32))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (HOCR.replace("bbox 500 210 900 262", "bbox 500 210 900"), "page 1, word 1: .*`bbox`"),
        (HOCR.replace("bbox 500 210 900 262", "bbox 500 210 400 262"), "page 1, word 1: .*reversed"),
        (HOCR.replace("bbox 500 210 900 262", "bbox 2600 210 2700 262"), "page 1, word 1: .*outside"),
        (HOCR.replace("bbox 0 0 2480 3508; ppageno 1", "ppageno 1"), "page 2: .*`bbox`"),
        (HOCR.replace("bbox 0 0 2480 3508; ppageno 1", "bbox 0 0 0 0"), "page 2, width: 0"),
        (HOCR.replace("ocrx_word", "ocrx_line"), "no text"),
        (HOCR[:1500], "cut off before"),
        (ALTO.format(version=4, unit="pixel", size=SIZE.replace("2100", "NaN")), "page 1, word 0: .*WIDTH"),
        (ALTO.format(version=4, unit="pixel", size=SIZE).replace('HPOS="180" ', ""), "page 1, word 1: .*HPOS"),
        (ALTO.format(version=4, unit="pixel", size=SIZE)[:-60], "not well formed"),
        ('<!DOCTYPE alto [<!ENTITY a "b">]><alto/>', "document type"),
        ('<?xml version="1.0"?><!-- a --><alto xmlns="a"></alto>', "at least one page"),
        (textract({**WORDS[0], "Geometry": {}}), "page 1, word 0: .*Geometry"),
        (textract({**WORDS[0], "Geometry": {"BoundingBox": {"Left": "a"}}}), "no answer of Textract"),
        ('{"Blocks": [{"BlockType": "WORD"', "no answer of Textract"),
        (textract(), "no text"),
    ],
)
def test_a_damaged_result_is_refused_in_a_sentence(data: str | Any, why: str) -> None:
    with pytest.raises(UnreadableDocument, match=why) as caught:
        read(data)
    assert len(caught.value.detail) < 400


def test_pages_and_characters_are_limited_while_they_are_read() -> None:
    few = DocumentLimits(max_pages=3)
    many = (
        HOCR + "<div class='ocr_page' title='bbox 0 0 1 1'>" * 3,
        "<alto>" + '<Page WIDTH="1" HEIGHT="1"/>' * 4 + "</alto>",
        textract(word("a", 0.1, 0.1, 2_000_000_000)),
        textract(word("a", 0.1, 0.1), pages=2_000_000_000),
    )
    for data in many:
        with pytest.raises(DocumentTooLarge, match="4 pages; the limit is 3"):
            read(data, limits=few)
    with pytest.raises(DocumentTooLarge, match="characters"):
        read(HOCR, limits=DocumentLimits(max_characters=10))


@pytest.mark.parametrize(
    ("data", "format_"),
    [
        (b"<html><p>Write class='ocr_page'?", Format.HTML),
        (b"<p class='my_ocr_page'>a", Format.TEXT),
        (b"<altogether/>", Format.TEXT),
        (b'<div class="a ocr_page b">', Format.HOCR),
        ("\ufeff<alto/>".encode(), Format.ALTO),
        ("<?xml version='1.0' encoding='UTF-16'?><alto/>".encode("utf-16"), Format.ALTO),
        (b'\xef\xbb\xbf [{"Blocks": [\n{"BlockType": "PAGE"}]}]', Format.TEXTRACT),
        (b'{"Blocks": []}', Format.TEXT),
    ],
)
def test_a_result_is_known_by_its_beginning(data: bytes, format_: Format) -> None:
    assert detect_format(data) is format_
