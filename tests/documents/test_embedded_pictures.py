"""Pictures inside DOCX and HTML files: which are to be recognized, where their text goes, which are named."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from service.core.errors import UnreadableDocument
from service.documents.document import UNREAD_PICTURES, Document, Layout, Page, RecognizedPage
from service.documents.docx import docx_picture, read_docx
from service.documents.embedded_pictures import EmbeddedPictures, data_of
from service.documents.html import html_picture, read_html
from service.documents.limits import DocumentLimits
from service.documents.ocr.joining import with_pictures
from service.documents.reader import read_document
from tests.support.document_files import WORD_NAMESPACE, package_of, word_document
from tests.support.drawn_sheets import noise

LIMITS = DocumentLimits()
PARTS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
NAMED = (UNREAD_PICTURES,)


def picture(size: tuple[int, int] = (400, 100), kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("1" if kind == "PNG" else "RGB", size).save(file, kind)
    return file.getvalue()


BOMB = picture((20_000, 20_000))
EMF = b"\x01\x00\x00\x00" + bytes(100)


def paragraph(*runs: str) -> str:
    return "<w:p>" + "".join(f"<w:r>{run}</w:r>" for run in runs) + "</w:p>"


def words(text: str) -> str:
    return f"<w:t>{text}</w:t>"


def drawing(part: str = "a.png", size: int = 2_000_000, properties: str = "", effects: str = "", crop: str = "") -> str:
    blip = f'<w:blipFill><w:blip r:embed="{part}">{effects}</w:blip>{crop}</w:blipFill>'
    extent = f'<w:extent cx="{size}" cy="{size}"/>'
    return f"<w:drawing><w:inline>{extent}<w:docPr {properties}/><w:pic>{blip}</w:pic></w:inline></w:drawing>"


def pict(part: str = "a.png", attributes: str = "", style: str = "width:6in;height:200pt") -> str:
    return f'<w:pict><w:shape style="{style}"><w:imagedata r:id="{part}" {attributes}/></w:shape></w:pict>'


def either(choice: str, fallback: str) -> str:
    """In the compatibility markup of word processors, of which one is shown."""
    return f"<w:AlternateContent><w:Choice>{choice}</w:Choice><w:Fallback>{fallback}</w:Fallback></w:AlternateContent>"


def docx(body: str, data: bytes | None = None, header: str = "") -> bytes:
    """A DOCX with the parts a.png and a&b.png, which have this picture, and b.png."""
    names = ("a.png", "b.png", "a&amp;b.png")
    related = "".join(f'<Relationship Id="{name}" Target="media/{name}"/>' for name in names)
    part = f'<w:%s xmlns:w="{WORD_NAMESPACE}" xmlns:r="{PARTS}">%s</w:%s>'
    parts: dict[str, str | bytes] = {
        "word/media/a.png": picture() if data is None else data,
        "word/media/b.png": picture((300, 300), "JPEG"),
        "word/media/a&b.png": picture() if data is None else data,
        "word/_rels/document.xml.rels": f"<Relationships>{related}</Relationships>",
        "word/_rels/header1.xml.rels": f"<Relationships>{related}</Relationships>",
    }
    if header:
        parts["word/header1.xml"] = part % ("hdr", header, "hdr")
    return package_of(part % ("document", f"<w:body>{body}</w:body>", "document"), parts)


def address(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def image(data: bytes | None = None, attributes: str = "") -> str:
    return f'<img src="{address(picture() if data is None else data)}" {attributes}>'


def placed(document: Document) -> tuple[str, list[int]]:
    """The text, and the places of pictures in it."""
    return document.text, [place for place, _ in document.pictures]


@pytest.mark.parametrize(
    ("body", "text", "places"),
    [
        (paragraph(words("Below:")) + paragraph(drawing()) + paragraph(words("End")), "Below:\nEnd", [6]),
        (paragraph(drawing()), "", [0]),
        (paragraph(words("left "), drawing(), words("right")), "left right", [5]),
        (paragraph(pict()), "", [0]),
        (paragraph(either(drawing(), pict())), "", [0]),
        (
            "<w:tbl><w:tr><w:tc>" + paragraph(words("a")) + paragraph(drawing(), drawing("b.png")) + "</w:tc>"
            "<w:tc>" + paragraph(words("b")) + "</w:tc></w:tr></w:tbl>",
            "a\tb",
            [1, 1],
        ),
        (
            "<w:tbl><w:tr><w:tc>" + paragraph(drawing()) + "</w:tc></w:tr></w:tbl>" + paragraph(words("End")),
            "End",
            [0],
        ),
        (paragraph(words("a"), f"<w:txbxContent>{paragraph(drawing())}</w:txbxContent>"), "a", [1]),
        (paragraph("<w:rPr><w:vanish/></w:rPr>" + drawing()) + paragraph(words("a")), "a", []),
        (paragraph(drawing(properties='hidden="1"'), words("a")), "a", []),
        (paragraph(drawing(size=150_000), words("a")), "a", []),
        (paragraph(drawing(effects='<w:alphaModFix amt="2000"/>'), words("a")), "a", []),
        (paragraph(drawing(effects='<w:alphaModFix amt="50000"/>'), words("a")), "a", [0]),
        (paragraph(pict(style="width:9pt;height:9pt"), words("a")), "a", []),
        (paragraph(pict(style="position:absolute;visibility:hidden"), words("a")), "a", []),
        (paragraph("<w:rPr><w:strike/></w:rPr>" + drawing()) + paragraph(words("a")), "a", []),
        (paragraph('<w:rPr><w:color w:val="FFFFFF"/></w:rPr>' + drawing()) + paragraph(words("a")), "a", [0]),
        ("<w:p><w:del><w:r>" + drawing() + "</w:r></w:del></w:p>" + paragraph(words("a")), "a", []),
        (paragraph(drawing("missing.png"), words("a")), "a", []),
    ],
)
def test_pictures_of_a_docx_have_their_places(body: str, text: str, places: list[int]) -> None:
    document = read_docx(docx(body), limits=LIMITS)
    assert placed(document) == (text, places)
    assert document.partly_read == ()


def test_a_picture_whose_name_has_an_ampersand_is_found() -> None:
    data = docx(paragraph(drawing("a&amp;b.png")))
    assert len(read_docx(data, limits=LIMITS).pictures) == 1


def test_pictures_of_a_header_come_first() -> None:
    document = read_docx(docx(paragraph(words("a")), header=paragraph(drawing())), limits=LIMITS)
    assert placed(document) == ("a", [0])


def archive(data: bytes) -> bytes:
    """A web archive of a page and a picture."""
    part = f"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{base64.b64encode(data).decode()}"
    page = "Content-Type: text/html\n\n<p>a<img src=cid:1>"
    return f"Content-Type: multipart/related; boundary=b\n\n--b\n{page}\n--b\n{part}\n--b--".encode()


@pytest.mark.parametrize(
    ("ending", "data", "partly"),
    [
        ("html", f"<p>a{image()}".encode(), NAMED),
        ("html", b"<p>a", ()),
        ("txt", "a\uffff".encode(), ()),
        ("mht", b"Content-Type: text/plain; charset=utf-8\n\n\xef\xbf\xbfa", ()),
        ("mht", archive(picture()), NAMED),
        ("mht", archive(picture((20, 20))), ()),
        ("docx", docx(paragraph(words("a"), drawing())), NAMED),
    ],
)
def test_pictures_of_an_embedded_part_are_named(ending: str, data: bytes, partly: tuple[object, ...]) -> None:
    main = (
        f'<w:document xmlns:w="{WORD_NAMESPACE}" xmlns:r="{PARTS}"><w:body><w:altChunk r:id="1"/></w:body></w:document>'
    )
    related = f'<Relationships><Relationship Id="1" Target="a.{ending}"/></Relationships>'
    document = read_docx(
        package_of(main, {f"word/a.{ending}": data, "word/_rels/document.xml.rels": related}), limits=LIMITS
    )
    assert (document.text, document.pictures, document.partly_read) == ("a", (), partly)


def test_pictures_that_a_word_processor_wrote_are_noted() -> None:
    def fill(document: Any) -> None:
        document.sections[0].header.paragraphs[0].add_run().add_picture(io.BytesIO(picture()))
        document.add_paragraph("a")
        cell = document.add_table(1, 2).cell(0, 1)
        cell.paragraphs[0].add_run().add_picture(io.BytesIO(picture((300, 300), "JPEG")))

    file = word_document(fill)
    document = read_docx(file, limits=LIMITS)
    assert placed(document) == ("a", [0, 1])
    assert docx_picture(file, document.pictures[1][1]) == picture((300, 300), "JPEG")


@pytest.mark.parametrize(
    ("html", "text", "places"),
    [
        (f"<p>Below:</p>{image()}<p>End", "Below:\nEnd", [6]),
        (image(), "", [0]),
        (f"<table><tr><td>a<td>{image()}{image(picture(kind='WEBP'))}<td>b</table>", "a\t\tb", [1, 1]),
        (f'<picture><source srcset="a.webp">{image()}</picture>', "", [0]),
        (f"<svg><image href='{address(picture())}'/></svg>", "", [0]),
        (f"<object data='{address(picture())}'></object>", "", [0]),
        (f"<div style=\"background: url('{address(picture())}')\">a</div>", "a", [0]),
        (f"<div style='display:none'>{image()}</div>a", "a", []),
        (f"<div style='visibility:hidden'>{image()}</div>a", "a", []),
        (f"<div style='font-size:0'>{image()}</div>a", "a", [0]),
        (f"<s>{image()}</s><div style='opacity:0.05'>{image()}</div>a", "a", []),
        (f"{image(attributes='hidden')}{image(attributes='width=1 height=1')}a", "a", []),
        (f"{image(attributes='style=width:0px')}{image(picture((1, 1), 'GIF'))}{image(picture((64, 64)))}a", "a", []),
        (f"{image(attributes='height=20')}{image(attributes='width=50%')}a", "a", [0, 0]),
        ("<img src='https://acme.example/a.png'><img src=cid:1><img src='data:,'><img>a", "a", []),
        ("<svg><title>icon</title><path d=''/></svg>a", "a", []),
    ],
)
def test_pictures_of_an_html_file_have_their_places(html: str, text: str, places: list[int]) -> None:
    document = read_html(html.encode(), limits=LIMITS)
    assert placed(document) == (text, places)
    assert document.partly_read == ()


@pytest.mark.parametrize("data", [EMF, b"hello", picture()[:30], BOMB])
def test_a_picture_that_cannot_be_read_is_named(data: bytes) -> None:
    document = read_docx(docx(paragraph(words("a"), drawing()), data), limits=LIMITS)
    assert (placed(document), document.partly_read) == (("a", []), NAMED)
    document = read_html(f"a{image(data)}".encode(), limits=LIMITS)
    assert (placed(document), document.partly_read) == (("a", []), NAMED)


@pytest.mark.parametrize(
    "body",
    [
        paragraph(words("a"), drawing(crop='<w:srcRect b="40000"/>')),
        paragraph(words("a"), pict(attributes='croptop="0.4"')),
    ],
)
def test_a_cropped_picture_is_named_since_its_rest_does_not_show(body: str) -> None:
    document = read_docx(docx(body), limits=LIMITS)
    assert (placed(document), document.partly_read) == (("a", []), NAMED)


@pytest.mark.parametrize(
    "html", ["a<svg><text>b</text></svg>", "a<img src='data:image/svg+xml;utf8,<svg><text>b</text></svg>'>"]
)
def test_drawn_text_is_named(html: str) -> None:
    document = read_html(html.encode(), limits=LIMITS)
    assert (document.text, document.partly_read) == ("a", NAMED)


def test_a_picture_can_be_had_again_by_its_number() -> None:
    file = docx(paragraph(drawing(), drawing("b.png"), drawing()))
    numbers = [number for _, number in read_docx(file, limits=LIMITS).pictures]
    assert numbers[0] == numbers[2]
    assert [docx_picture(file, number) for number in numbers[:2]] == [picture(), picture((300, 300), "JPEG")]
    html = f"{image(picture((1, 1)))}{image()}<p>{image()}{image(picture(kind='GIF'))}".encode()
    numbers = [number for _, number in read_html(html, limits=LIMITS).pictures]
    assert numbers == [2, 2, 3]
    assert html_picture(html, 3, limits=LIMITS) == picture(kind="GIF")


@pytest.mark.parametrize("number", [0, 99])
def test_a_number_without_a_picture_is_unreadable(number: int) -> None:
    with pytest.raises(UnreadableDocument):
        docx_picture(docx("")[:-30] if number == 0 else docx(""), number)
    with pytest.raises(UnreadableDocument, match="no picture"):
        html_picture(image().encode(), number, limits=LIMITS)


def test_a_picture_whose_beginning_alone_is_looked_at_is_read() -> None:
    file = io.BytesIO()
    noise((600, 400), 90).save(file, "TIFF")
    assert len(read_docx(docx(paragraph(drawing()), file.getvalue()), limits=LIMITS).pictures) == 1


@pytest.mark.parametrize("data", [docx(paragraph(words("a"), drawing())), f"<html>a{image()}".encode()])
def test_pictures_are_named_where_nothing_may_be_recognized(data: bytes) -> None:
    document = read_document(data, limits=LIMITS)
    assert (document.text, document.pictures, document.partly_read) == ("a", (), NAMED)
    assert len(read_document(data, limits=LIMITS, ocr_pages=()).pictures) == 1


@pytest.mark.parametrize("data", [docx(paragraph(drawing())), f"<html>{image()}".encode()])
def test_a_file_that_is_a_picture_alone_needs_ocr(data: bytes) -> None:
    with pytest.raises(UnreadableDocument, match=r"no text but in pictures.*which is off here"):
        read_document(data, limits=LIMITS)
    assert read_document(data, limits=LIMITS, ocr_pages=()).text == ""


def test_an_address_may_be_percent_encoded_and_damaged() -> None:
    assert data_of("DATA:text/plain,a%20b") == b"a b"
    assert data_of("data:image/png;base64,YWJj\n ZA") == b"abcd"
    assert data_of("data:image/png;base64,YWJjZ") == b"?"


def read_as(number: int, text: str, *, unread: bool = False, partly: bool = False) -> Document:
    layout = Layout(np.zeros((len(text), 4), np.float32), np.zeros(1, np.int32), np.full(len(text), 0.9, np.float32))
    return Document(
        text,
        (Page(number, 0, len(text)),),
        layout,
        (number,) if unread else (),
        NAMED if partly else (),
        recognized=() if unread else (RecognizedPage(number, 0.9, 0, 0.0),),
    )


@pytest.mark.parametrize(
    ("text", "places", "expected"),
    [
        ("Below:\nEnd", [6], "Below:\n1\nEnd"),
        ("", [0], "1"),
        ("left right", [5], "left\n1\nright"),
        ("a\t\tb", [1, 1], "a\n1\n2\nb"),
        ("a \nb", [1], "a\n1\nb"),
        ("a", [0], "1\na"),
        ("a", [1, 1], "a\n1\n2"),
        ("a b", [1, 2], "a\n1\n2\nb"),
    ],
)
def test_the_text_of_a_picture_takes_lines_of_its_own(text: str, places: list[int], expected: str) -> None:
    pictures = tuple((place, number) for number, place in enumerate(places, 1))
    document = with_pictures(Document(text, pictures=pictures), {n: read_as(n, f"{n}00") for _, n in pictures})
    assert document.text == expected.replace("1", "100").replace("2", "200")
    for at, sign in enumerate(document.text):
        assert (document.confidence(at, at + 1) is not None) == sign.isdigit()
    assert document.boxes(0, len(document.text)) == []
    assert [each.page for each in document.recognized] == [None] * len(places)
    assert (document.pictures, document.partly_read) == ((), ())


@pytest.mark.parametrize(
    ("read", "partly"),
    [
        ({}, NAMED),
        ({1: read_as(1, "", unread=True)}, ()),
        ({1: read_as(1, "", unread=True, partly=True)}, NAMED),
        ({1: read_as(1, "")}, ()),
        ({1: read_as(1, "5 €")}, NAMED),
        ({1: read_as(1, "DEPART MENT OF", partly=True)}, NAMED),
    ],
)
def test_a_picture_without_a_text_is_named_if_it_may_have_one(
    read: dict[int, Document], partly: tuple[object, ...]
) -> None:
    document = with_pictures(Document("a b", pictures=((1, 1),)), read)
    assert (document.text, document.layout, document.partly_read) == ("a b", None, partly)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\uffff"), max_size=5), min_size=1))
def test_a_text_with_marks_is_taken_apart(texts: list[str]) -> None:
    pictures = EmbeddedPictures()
    marked = pictures.mark("a", 7, picture).join(texts)
    document = pictures.document(marked, left_out={})
    assert document.text == "".join(texts)
    assert [number for _, number in document.pictures] == [7] * (len(texts) - 1)
    assert [place for place, _ in document.pictures] == [len("".join(texts[: n + 1])) for n in range(len(texts) - 1)]
