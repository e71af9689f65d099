"""What Word shows of a DOCX part: revisions, hidden text, forms, controls, symbols, and embedded parts."""

from __future__ import annotations

import pytest

from service.core.errors import UnreadableDocument
from service.documents.docx import read_docx
from service.documents.limits import DocumentLimits
from tests.support.document_files import WORD_NAMESPACE, package_of, paragraph, word_body

PARTS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
STYLES = (
    f'<w:styles xmlns:w="{WORD_NAMESPACE}">'
    '<w:style w:type="paragraph" w:styleId="H"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Child"><w:basedOn w:val="H"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Shown"><w:basedOn w:val="H"/><w:rPr><w:vanish w:val="0"/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="C"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Sup"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="Loop"><w:basedOn w:val="Loop"/></w:style></w:styles>'
)


def text_of(data: bytes) -> str:
    return read_docx(data, limits=DocumentLimits()).text


def of_body(body: str) -> str:
    main = f'<w:document xmlns:w="{WORD_NAMESPACE}" xmlns:r="{PARTS}"><w:body>{body}</w:body></w:document>'
    return text_of(package_of(main, {"word/styles.xml": STYLES}))


def run(text: str, properties: str = "") -> str:
    return f"<w:r><w:rPr>{properties}</w:rPr><w:t>{text}</w:t></w:r>"


def styled(style: str, *runs: str) -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{"".join(runs)}</w:p>'


CHARACTER_STYLE = '<w:rStyle w:val="C"/>'
DELETED_MARK = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"<w:p>{DELETED_MARK}{run('EUR 1,')}</w:p><w:p>{run('950.00')}</w:p>", "EUR 1,950.00"),
        (f"<w:p>{DELETED_MARK}{run('a')}</w:p><w:p>{DELETED_MARK}{run('b')}</w:p>{paragraph('c')}", "abc"),
        (f"{paragraph('a')}<w:p>{DELETED_MARK}<w:del>{run('x')}</w:del></w:p>{paragraph('b')}", "a\nb"),
        (f"<w:p><w:pPr><w:rPr><w:ins/></w:rPr></w:pPr>{run('a')}</w:p>{paragraph('b')}", "a\nb"),
    ],
)
def test_a_paragraph_with_a_deleted_mark_goes_on(body: str, expected: str) -> None:
    assert of_body(body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (styled("H", run("no")), ""),
        (styled("Child", run("no")), ""),
        (f"<w:p>{run('no', CHARACTER_STYLE)}{run('yes')}</w:p>", "yes"),
        (styled("H", run("no"), run("yes", '<w:vanish w:val="0"/>')), "yes"),
        (styled("Shown", run("yes")), "yes"),
        (styled("H", run("yes", '<w:rStyle w:val="C"/>')), "yes"),
        (styled("Loop", run("yes")) + styled("Unknown", run("too")), "yes\ntoo"),
        (f"<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{run('yes')}</w:p>", "yes"),
    ],
)
def test_a_style_hides_as_its_chain_says(body: str, expected: str) -> None:
    assert of_body(body) == expected


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        (run("EUR 25") + run("90", '<w:vertAlign w:val="superscript"/>'), "EUR 25.90"),
        (run("25") + run("90", '<w:rStyle w:val="Sup"/>') + run(" €"), "25.90 €"),
        (run("1,250.00") + run("1", '<w:vertAlign w:val="superscript"/>') + run(" net"), "1,250.00 1 net"),
        (run("1") + run("st", '<w:vertAlign w:val="superscript"/>') + run(" of"), "1st of"),
        (run("25") + run("90", '<w:vertAlign w:val="baseline"/>'), "2590"),
        (run("maria.\u00adkestler") + run("@\u200ba.example\ufeff"), "maria.kestler@a.example"),
    ],
)
def test_raised_text_is_kept_apart_and_unseen_characters_left_out(runs: str, expected: str) -> None:
    assert of_body(f"<w:p>{runs}</w:p>") == expected


def form(data: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (form('<w:ddList><w:result w:val="1"/><w:listEntry w:val="USD"/><w:listEntry w:val="CHF"/></w:ddList>'), "CHF"),
        (form('<w:ddList><w:listEntry w:val="USD"/><w:listEntry w:val="CHF"/></w:ddList>'), "USD"),
        (form('<w:ddList><w:default w:val="1"/><w:listEntry w:val="a"/><w:listEntry w:val="b"/></w:ddList>'), "b"),
        (form("<w:checkBox><w:checked/></w:checkBox>"), "☒"),
        (form('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), "☐"),
        (form('<w:checkBox><w:default w:val="1"/></w:checkBox>'), "☒"),
        (form('<w:textInput><w:default w:val="x"/></w:textInput>'), ""),
        ('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>', "☑"),
        ('<w:r><w:sym w:font="Wingdings 2" w:char="F0A3"/></w:r>', "☐"),
        ('<w:r><w:sym w:font="Symbol" w:char="F0A0"/></w:r>', "€"),
        ('<w:r><w:sym w:font="MS Gothic" w:char="2612"/></w:r>', "☒"),
        ('<w:r><w:sym w:font="Webdings" w:char="F0FE"/><w:sym w:char="x"/></w:r>', ""),
    ],
)
def test_form_fields_and_symbols_are_what_they_show(content: str, expected: str) -> None:
    assert of_body(f"<w:p>{run('a ')}{content}{run(' b')}</w:p>") == f"a {expected} b"


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ("<w:showingPlcHdr/><w:text/>", "a b"),
        ('<w:showingPlcHdr w:val="0"/><w:text/>', "a shown b"),
        ('<w:dropDownList><w:listItem w:displayText="no"/></w:dropDownList>', "a shown b"),
        ("<w:rPr><w:vanish/></w:rPr><w:date/>", "a shown b"),
    ],
)
def test_placeholders_of_empty_controls_are_left_out(properties: str, expected: str) -> None:
    control = f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{run('shown ')}</w:sdtContent></w:sdt>"
    assert of_body(f"<w:p>{run('a ')}{control}{run('b')}</w:p>") == expected


ARCHIVE = (
    b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html; "
    b"charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>5 =E2=82=AC du=\r\ne</p>\r\n--x--\r\n"
)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.html", b"<p>in</p><p hidden>no</p>", "a\nin\nb"),
        ("a.txt", "für 5 €".encode(), "a\nfür 5 €\nb"),
        ("a.mht", ARCHIVE, "a\n5 € due\nb"),
        ("a.docx", word_body(paragraph("in")), "a\nin\nb"),
        ("absent.html", None, "a\nb"),
    ],
)
def test_embedded_parts_are_read_in_their_place(name: str, content: bytes | None, expected: str) -> None:
    assert text_of(embedding(name, content)) == expected


def embedding(name: str, content: bytes | None) -> bytes:
    main = (
        f'<w:document xmlns:w="{WORD_NAMESPACE}" xmlns:r="{PARTS}"><w:body>{paragraph("a")}<w:altChunk r:id="r1"/>'
        f"{paragraph('b')}</w:body></w:document>"
    )
    link = f'<Relationships><Relationship Id="r1" Target="{name}"/></Relationships>'
    parts: dict[str, str | bytes] = {"word/_rels/document.xml.rels": link}
    return package_of(main, parts if content is None else parts | {f"word/{name}": content})


def test_an_embedded_part_that_cannot_be_read_refuses_the_file() -> None:
    with pytest.raises(UnreadableDocument, match=r"embeds a part that cannot be read \(word/a.rtf"):
        text_of(embedding("a.rtf", b"{\\rtf1 in}"))
    with pytest.raises(UnreadableDocument, match="embeds a part that cannot be read"):
        text_of(embedding("a.docx", embedding("b.docx", word_body(paragraph("in")))))


def test_the_text_of_a_diagram_follows_its_paragraph() -> None:
    graphic = f'<w:r><w:drawing><relIds r:dm="r1"/></w:drawing></w:r>{run(" more")}'
    main = (
        f'<w:document xmlns:w="{WORD_NAMESPACE}" xmlns:r="{PARTS}"><w:body><w:p>{run("a")}{graphic}</w:p>'
        f"{paragraph('b')}</w:body></w:document>"
    )
    link = '<Relationships><Relationship Id="r1" Target="diagrams/data1.xml"/></Relationships>'
    data = f'<d xmlns:a="{DRAWING}"><a:p><a:r><a:t>Order</a:t></a:r></a:p><a:p><a:t>Pay</a:t></a:p><t>no</t></d>'
    parts: dict[str, str | bytes] = {"word/_rels/document.xml.rels": link, "word/diagrams/data1.xml": data}
    assert text_of(package_of(main, parts)) == "a more\nOrder\nPay\nb"
