from __future__ import annotations

from typing import Any

import pytest

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.docx import read_docx
from service.documents.limits import DocumentLimits
from tests.support.document_files import WORD_NAMESPACE, package_of, paragraph, word_body, word_document


def text_of(data: bytes) -> str:
    return read_docx(data, limits=DocumentLimits()).text


def test_paragraphs_are_lines_and_empty_ones_leave_none() -> None:
    assert text_of(word_body(paragraph("a") + "<w:p/>" + paragraph("b &amp; c"))) == "a\nb & c"


def test_a_file_of_a_word_processor_reads_in_document_order() -> None:
    def fill(document: Any) -> None:
        document.add_heading("Title")
        table = document.add_table(rows=2, cols=2)
        for index, cell in enumerate(cell for row in table.rows for cell in row.cells):
            cell.text = f"cell {index}"
        document.add_paragraph("after")

    assert text_of(word_document(fill)) == "Title\ncell 0\tcell 1\ncell 2\tcell 3\nafter"


def test_headers_come_first_and_footers_last() -> None:
    def fill(document: Any) -> None:
        document.add_paragraph("body")
        document.sections[0].header.paragraphs[0].text = "head"
        document.sections[0].footer.paragraphs[0].text = "foot"

    assert text_of(word_document(fill)) == "head\nbody\nfoot"


def test_a_nested_table_stands_in_its_cell() -> None:
    def fill(document: Any) -> None:
        outer = document.add_table(rows=1, cols=2)
        inner = outer.rows[0].cells[0].add_table(rows=1, cols=2)
        inner.rows[0].cells[0].text, inner.rows[0].cells[1].text = "a", "b"
        outer.rows[0].cells[1].text = "c"

    assert text_of(word_document(fill)) == "a\tb\tc"


def test_footnotes_follow_the_body() -> None:
    notes = f'<w:footnote w:id="1">{paragraph("note")}</w:footnote>'
    assert text_of(word_body(paragraph("body"), footnotes=notes)) == "body\nnote"


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("<w:t>a</w:t><w:tab/><w:t>b</w:t>", "a\tb"),
        ("<w:t>a</w:t><w:br/><w:t>b</w:t>", "a\nb"),
        ("<w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t>", "a\u2011b"),
        ("<w:t>a</w:t><w:instrText>PAGE</w:instrText>", "a"),
        ("<w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t>", ""),
        ('<w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t>', "shown"),
        ("<!-- note --><w:t>a<!-- note -->b</w:t>", "ab"),
    ],
)
def test_what_a_run_holds(run: str, expected: str) -> None:
    assert text_of(word_body(f"<w:p><w:r>{run}</w:r></w:p>")) == expected


def test_tab_stops_of_a_paragraphs_format_are_not_tabs() -> None:
    assert text_of(word_body("<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t></w:r></w:p>")) == "a"


def test_links_and_insertions_are_text_and_deletions_are_not() -> None:
    def run(text: str, kind: str = "t") -> str:
        return f"<w:r><w:{kind}>{text}</w:{kind}></w:r>"

    body = (
        f"<w:p><w:hyperlink>{run('link ')}</w:hyperlink><w:ins>{run('new ')}</w:ins>"
        f"<w:del>{run('old', 'delText')}</w:del><w:moveFrom>{run('moved')}</w:moveFrom>"
        f"<w:moveTo>{run('here')}</w:moveTo></w:p>"
    )
    assert text_of(word_body(body)) == "link new here"


def test_comments_are_left_out() -> None:
    assert text_of(word_body(paragraph("body"), comments=paragraph("remark"))) == "body"


def test_a_text_box_is_read_once_and_after_its_paragraph() -> None:
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    anchor = (
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
        "</mc:AlternateContent>"
    )
    body = f"<w:p><w:r><w:t>be</w:t></w:r><w:r>{anchor}</w:r><w:r><w:t>fore</w:t></w:r></w:p>{paragraph('after')}"
    assert text_of(word_body(body)) == "before\nboxed\nafter"


def test_a_strict_file_reads_like_a_transitional_one() -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    assert text_of(package_of(f'<w:document xmlns:w="{strict}">{paragraph("a")}</w:document>')) == "a"


def test_a_zip_bomb_is_stopped_by_the_limit_of_unpacked_bytes() -> None:
    bomb = word_body(paragraph("a" * 5_000_000))
    assert len(bomb) < 20_000
    with pytest.raises(DocumentTooLarge, match="unpacked bytes"):
        read_docx(bomb, limits=DocumentLimits(max_unpacked_bytes=1_000_000))


def test_too_many_characters_are_refused() -> None:
    with pytest.raises(DocumentTooLarge, match="characters"):
        read_docx(word_body(paragraph("abc") * 50), limits=DocumentLimits(max_characters=100))


def test_a_part_that_declares_entities_is_unreadable() -> None:
    entities = '<!DOCTYPE w:document [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;">]>'
    data = package_of(f'{entities}<w:document xmlns:w="{WORD_NAMESPACE}">{paragraph("x&b;")}</w:document>')
    with pytest.raises(UnreadableDocument, match="document type"):
        text_of(data)


@pytest.mark.parametrize("kept", [30, 200, -30])
def test_a_truncated_file_is_unreadable(kept: int) -> None:
    with pytest.raises(UnreadableDocument, match="damaged or incomplete"):
        text_of(word_body(paragraph("a"))[:kept])


def test_a_file_without_its_main_part_is_unreadable() -> None:
    with pytest.raises(UnreadableDocument, match=r"word/document\.xml"):
        text_of(word_body("").replace(b"word/document.xml", b"word/documenu.xml"))


def test_broken_xml_is_unreadable() -> None:
    with pytest.raises(UnreadableDocument, match="not well formed"):
        text_of(word_body("<w:p>"))
