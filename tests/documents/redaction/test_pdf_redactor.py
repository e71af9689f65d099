"""Redacted PDFs: nothing redacted is left for any reader; everything else stays in its place."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import Image, ImageDraw
from reportlab.lib.colors import white
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

from service.core.errors import UnreadableDocument, UnredactableDocument
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.redaction.pdf_redactor import redact_pdf
from service.documents.redaction.values import Range, RedactedFile, Redaction
from tests.support import document_files
from tests.support.document_files import column, drawn, pdf
from tests.support.odd_pdfs import form_xobject, ligature_font, new_pdf, odd_pdf, saved, text_annotation
from tests.support.redacted_pdfs import LIMITS, left_of, readings, redacted, shown

NAME = "Jane Doe"
LINE = f"Signed by {NAME} today"


def text_of(data: bytes) -> str:
    return read_pdf(data, limits=LIMITS).text


def kept_words(data: bytes, made: RedactedFile, *gone: str) -> None:
    """All words but those that went are still read."""
    before, after = (" ".join(readings(each)["pdfium"].split()) for each in (data, made.data))
    for each in gone:
        before = before.replace(each, "")
    assert sorted(before.split()) == sorted(after.split())


def methods(made: RedactedFile) -> list[str]:
    return [page.method for page in made.pages]


def with_truetype(draw: Callable[[Any], None]) -> bytes:
    """A PDF drawn with an embedded subset of DejaVu, whose codes say nothing."""
    pdfmetrics.registerFont(TTFont("DejaVu", Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"))
    return drawn(draw)


def truetype(canvas: Any) -> None:
    canvas.setFont("DejaVu", 11)
    canvas.drawString(60, 700, f"Ж {LINE} ü")


def hidden(canvas: Any) -> None:
    canvas.drawString(60, 700, "Seen")
    text = canvas.beginText(60, 650)
    text.setTextRenderMode(3)
    text.textLine(LINE)
    canvas.drawText(text)


def white_on_white(canvas: Any) -> None:
    canvas.drawString(60, 700, "Seen")
    canvas.setFillColor(white)
    canvas.drawString(60, 650, LINE)


def struck_out(canvas: Any) -> None:
    canvas.drawString(60, 700, "Seen")
    canvas.drawString(60, 650, LINE)
    canvas.line(60, 653.5, 60 + canvas.stringWidth(LINE), 653.5)


def turned(canvas: Any) -> None:
    canvas.translate(300, 300)
    canvas.rotate(30)
    canvas.scale(1.5, 0.8)
    canvas.drawString(0, 0, LINE)


def upside_down(canvas: Any) -> None:
    canvas.setPageRotation(180)
    canvas.translate(600, 800)
    canvas.rotate(180)
    canvas.drawString(60, 700, LINE)


def spaced(canvas: Any) -> None:
    text = canvas.beginText(60, 650)
    text.setCharSpace(2.5)
    text.setWordSpace(4)
    text.setHorizScale(80)
    text.setRise(3)
    text.textLine(LINE)
    canvas.drawText(text)


def bold_by_shifting(canvas: Any) -> None:
    for shift in (0.0, 0.2, 0.4):
        canvas.drawString(60 + shift, 650, LINE)


def two_columns() -> bytes:
    left = [f"The left column tells line {n}" for n in "abcdef"]
    right = [f"the right one says row {n}" for n in "abcdef"]
    left[2] = f"Here stands {NAME} on the left"
    return pdf(column(40, 90, left) + column(320, 90, right))


KERNED = b"BT /F1 12 Tf 60 700 Td [(Signed by Ja) -30 (ne D) 40 (oe to) -20 (day)] TJ ET"
QUOTES = b"""BT /F1 12 Tf 14 TL 60 700 Td (First) Tj (Signed by Jane Doe today) '
1 2 (again Jane Doe here) " T* (Last) Tj ET"""
SCALED = b"BT /F1 1 Tf 12 0 0 12 60 700 Tm (Signed by Jane Doe today) Tj ET"
UNBALANCED = b"Q Q q q 1 0 0 1 10 10 cm BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET"
OFF_CENTRE = b"1 0 0.3 1 0 0 cm BT /F1 12 Tf 60 300 Td (Signed by Jane Doe today) Tj ET"
DOCUMENTS: dict[str, Callable[[], bytes]] = {
    "plain": lambda: pdf([(60, 100, LINE)]),
    "rotated to the right": lambda: pdf([(60, 100, LINE)], rotation=90),
    "rotated to the left": lambda: pdf([(60, 100, LINE)], rotation=270),
    "upside down": lambda: drawn(upside_down),
    "two columns": two_columns,
    "over two lines": lambda: pdf([(60, 100, "Signed by Jane"), (60, 112, "Doe today")]),
    "twice on a page": lambda: pdf([(60, 100, LINE), (60, 300, "JANE DOE")]),
    "on two pages": lambda: pdf([(60, 100, LINE)], [(60, 300, LINE)]),
    "truetype subset": lambda: with_truetype(truetype),
    "turned": lambda: drawn(turned),
    "spaced": lambda: drawn(spaced),
    "bold by shifting": lambda: drawn(bold_by_shifting),
    "kerned": lambda: odd_pdf(KERNED),
    "quote operators": lambda: odd_pdf(QUOTES),
    "scaled by the matrix": lambda: odd_pdf(SCALED),
    "unbalanced states": lambda: odd_pdf(UNBALANCED),
    "slanted": lambda: odd_pdf(OFF_CENTRE),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_nothing_is_left_and_all_else_stays(kind: str) -> None:
    data = DOCUMENTS[kind]()
    assert left_of(data, NAME), "it is not there to begin with"
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    assert set(methods(made)) == {"rewritten"}
    kept_words(data, made, NAME, NAME.upper())


@pytest.mark.parametrize("draw", [hidden, white_on_white, struck_out])
def test_text_that_nobody_sees_or_that_is_struck_out_goes_as_a_whole(draw: Callable[[Any], None]) -> None:
    made = redacted(drawn(draw), NAME)
    assert (text_of(made.data), left_of(made.data, NAME)) == ("Seen", {})
    assert not left_of(made.data, "today")


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_black_bar_stands_where_the_text_stood_and_nowhere_else(turn: int) -> None:
    data = pdf([(60, 100, LINE)], rotation=turn)
    start = text_of(data).index("Jane")
    (box,) = read_pdf(data, limits=LIMITS).boxes(start, start + len("Jane"))
    before, after = shown(data), shown(redacted(data, "Jane").data)
    left, top, right, bottom = (round(2 * side) for side in box)
    assert not after[top:bottom, left:right].any()
    before[top - 8 : bottom + 8, left - 8 : right + 8] = after[top - 8 : bottom + 8, left - 8 : right + 8] = 0
    assert np.abs(before.astype(int) - after.astype(int)).max() <= 2


def test_a_ligature_goes_as_a_whole() -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Arriving: Of\x01ce today) Tj ET")
    file.pages[0].obj["/Resources"]["/Font"] = Dictionary(F1=file.make_indirect(ligature_font(file)))
    data = saved(file)
    assert "Offi" in text_of(data)
    made = redacted(data, "Office")
    assert left_of(made.data, "Office") == {}
    assert "today" in text_of(made.data)


def test_a_form_that_is_painted_twice_is_redacted_at_each_place() -> None:
    file = new_pdf(b"q /X Do Q q 1 0 0 1 0 -200 cm /X Do Q BT /F1 12 Tf 60 100 Td (Last) Tj ET")
    inner = form_xobject(file, b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    outer = form_xobject(file, b"/Y Do")
    outer["/Resources"]["/XObject"] = Dictionary(Y=inner)
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(X=outer)
    data = saved(file)
    assert text_of(data).count(NAME) == 2
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    kept_words(data, made, NAME)


def test_one_place_of_a_shared_form_can_go_alone() -> None:
    file = new_pdf(b"q /X Do Q q 1 0 0 1 0 -200 cm /X Do Q")
    form = form_xobject(file, b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(X=form)
    data = saved(file)
    start = text_of(data).index(NAME)
    only = Redaction((Range(start, start + len(NAME), NAME),), (), everywhere=False)
    made = redact_pdf(data, only, limits=LIMITS)
    assert text_of(made.data).count(NAME) == 1
    assert methods(made) == ["rewritten"]


def test_resources_of_the_tree_above_keep_nothing() -> None:
    file = new_pdf(b"/X Do", b"BT /F1 12 Tf 60 100 Td (Another page) Tj ET")
    form = form_xobject(file, b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    shared = Dictionary(XObject=Dictionary(X=form), Font=file.pages[1].obj["/Resources"]["/Font"])
    for page in file.pages:
        del page.obj["/Resources"]
    file.Root["/Pages"]["/Resources"] = shared
    made = redacted(saved(file), NAME)
    assert left_of(made.data, NAME) == {}
    assert "Another page" in text_of(made.data)


def test_annotations_go_with_all_that_they_hold() -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Nothing here) Tj ET")
    file.pages[0].obj["/Annots"] = Array([text_annotation(file, "Note by Jane Doe here")])
    data = saved(file)
    assert NAME in text_of(data)
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    assert links_of(made.data) == []
    assert {"Note", "by", "here"} <= set(text_of(made.data).split())


def linked(*links: tuple[float, Any], text: bytes = b"(Signed by Jane Doe today, see our terms) Tj") -> bytes:
    """A page with a text and links below one another, the first over it; each has its upper edge and its action."""
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td " + text + b" ET", b"BT /F1 12 Tf 60 700 Td (Another page) Tj ET")
    file.pages[0].obj["/Annots"] = Array(
        [
            file.make_indirect(
                Dictionary(
                    Type=Name.Annot,
                    Subtype=Name.Link,
                    Rect=Array([60, bottom + 14, 300, bottom]),
                    Border=Array([0, 0, 0]),
                    Contents=String(f"link of {NAME}"),
                    A=action,
                )
            )
            for bottom, action in links
        ]
    )
    file.pages[0].obj["/Annots"].append(
        file.make_indirect(
            Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=Array([60, 100, 300, 114]),
                       Dest=Array([file.pages[1].obj, Name.XYZ, 0, 700, None]))
        )
    )  # fmt: skip
    return saved(file)


def address(text: str) -> Dictionary:
    return Dictionary(S=Name.URI, URI=String(text))


def links_of(data: bytes) -> list[str]:
    """Where each link of the first page leads: an address, or a page's number."""
    with pikepdf.open(io.BytesIO(data)) as file:
        numbers = {page.obj.objgen: str(number) for number, page in enumerate(file.pages, 1)}
        found = file.pages[0].obj.get("/Annots", Array([]))
        return [str(each["/A"]["/URI"]) if "/A" in each else numbers[each["/Dest"][0].objgen] for each in found]


def test_links_go_if_they_cover_or_hold_redacted_text_others_stay() -> None:
    data = linked(
        (698.0, address("https://acme.example/over-the-name")),
        (600.0, address("https://acme.example/terms?of=2026")),
        (580.0, address("https://acme.example/people/Jane-Doe")),
        (560.0, address("mailto:jane.doe@acme.example")),
        (540.0, address("https://acme.example/?q=%254Aane%2520Doe")),
        (520.0, Dictionary(S=Name.JavaScript, JS=String(f"app.alert('{NAME}')"))),
        (500.0, Dictionary(S=Name.Launch, F=String("calc.exe"))),
    )
    made = redacted(data, NAME)
    assert links_of(made.data) == ["https://acme.example/terms?of=2026", "2"]
    assert "Links" in made.removed
    assert left_of(made.data, NAME, "Jane-Doe", "jane.doe") == {}
    assert b"acme.example/people" not in made.data
    assert "app.alert" not in readings(made.data)["raw"]
    assert methods(made) == ["rewritten"]


def test_links_of_a_file_from_which_nothing_goes_all_stay_where_they_are() -> None:
    data = linked((698.0, address("https://acme.example/a")), (600.0, address("https://acme.example/b")))
    made = redact_pdf(data, Redaction((), ()), limits=LIMITS)
    assert links_of(made.data) == ["https://acme.example/a", "https://acme.example/b", "2"]
    assert "Links" not in made.removed
    assert NAME in text_of(made.data)
    assert "link of" not in readings(made.data)["raw"], "a link keeps its address alone"


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_links_of_a_turned_page_are_judged_by_where_the_text_is(turn: int) -> None:
    links = ((698.0, address("https://acme.example/over")), (600.0, address("https://acme.example/apart")))
    with pikepdf.open(io.BytesIO(linked(*links))) as file:
        file.pages[0].obj["/Rotate"] = turn
        data = saved(file)
    made = redacted(data, NAME)
    assert links_of(made.data) == ["https://acme.example/apart", "2"]


def test_a_page_that_became_a_picture_has_no_links() -> None:
    with pikepdf.open(io.BytesIO(image_under_text())) as file:
        link = Dictionary(
            Type=Name.Annot, Subtype=Name.Link, Rect=Array([60, 100, 90, 120]), A=address("https://x.example")
        )
        file.pages[0].obj["/Annots"] = Array([file.make_indirect(link)])
        data = saved(file)
    made = redacted(data, NAME)
    assert methods(made) == ["rasterized"]
    assert links_of(made.data) == []
    assert "Links" in made.removed


def test_form_fields_go_with_their_values() -> None:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 700, "Name:")
        canvas.acroForm.textfield(name="holder", tooltip=LINE, value=NAME, x=120, y=690, width=200, height=20)

    data = drawn(draw)
    assert NAME in text_of(data)
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    assert "/AcroForm" not in readings(made.data)["raw"]


def test_metadata_attachments_outlines_and_structure_go() -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    file.docinfo["/Author"] = NAME
    with file.open_metadata() as metadata:
        metadata["dc:creator"] = [NAME]
    file.attachments["notes.txt"] = b"written by Jane Doe"
    with file.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem(f"Letter of {NAME} in May", 0))
    element = file.make_indirect(
        Dictionary(Type=Name.StructElem, S=Name.Span, Alt=String(NAME), ActualText=String(NAME))
    )
    file.Root["/StructTreeRoot"] = file.make_indirect(Dictionary(Type=Name.StructTreeRoot, K=element))
    file.pages[0].obj["/PieceInfo"] = Dictionary(App=Dictionary(Private=String(NAME)))
    file.pages[0].obj["/Metadata"] = pikepdf.Stream(file, b"<x>Jane Doe</x>")
    made = redacted(saved(file), NAME)
    assert left_of(made.data, NAME) == {}
    assert {"Info", "Metadata", "EmbeddedFiles", "StructTreeRoot", "PieceInfo"} <= set(made.removed)
    assert "[redacted]" in readings(made.data)["raw"], "the outline's other words are gone"


def test_words_that_do_not_show_go_from_the_content() -> None:
    content = b"BT /F1 12 Tf 60 700 Td /Span <</ActualText (Jane Doe)>> BDC (J. D.) Tj EMC ( today Jane Doe) Tj ET"
    made = redacted(odd_pdf(content), NAME)
    assert left_of(made.data, NAME) == {}
    other = odd_pdf(b"/P <</Alt (Jane Doe)>> BDC BT /F1 12 Tf 60 700 Td (Jane Roe) Tj ET EMC")
    made = redacted(other, "Jane Roe", NAME)
    assert left_of(made.data, NAME) == {}


@pytest.mark.parametrize("everywhere", [True, False])
def test_what_is_shown_goes_where_only_other_words_were_found(everywhere: bool) -> None:
    """pdfium reads the other words at the place of the passage's first glyphs, and none of the rest."""
    words = (
        b"/Span <</ActualText (mail:jane@acme.example)>> BDC (Mail) Tj 90 0 Td (jane at acme) Tj EMC 200 0 Td (here) Tj"
    )
    data = odd_pdf(b"BT /F1 12 Tf 60 700 Td " + words + b" ET")
    read = text_of(data)
    start = read.index("jane@acme.example")
    went = Range(start, start + 17, "jane@acme.example")
    made = redact_pdf(data, Redaction((went,), (went.text,), everywhere=everywhere), limits=LIMITS)
    assert left_of(made.data, went.text, "jane at acme") == {}
    assert methods(made) == ["rewritten"]
    assert text_of(made.data) == "here"
    assert not shown(made.data)[180:204, 302:360].max(axis=2).all(), "the second part has no bar"


def test_other_words_are_found_in_properties_and_in_forms() -> None:
    words = b"BT /F1 12 Tf 60 700 Td /Span /P0 BDC (jane at acme) Tj EMC 200 0 Td (here) Tj ET"
    named = Dictionary(P0=Dictionary(ActualText=String("jane@acme.example")))
    plain = odd_pdf(words, resources={"Properties": named})
    file = new_pdf(b"/X Do")
    form = form_xobject(file, words)
    form["/Resources"]["/Properties"] = named
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(X=form)
    for data in (plain, saved(file)):
        made = redacted(data, "jane@acme.example")
        assert left_of(made.data, "jane@acme.example", "jane at acme") == {}
        assert text_of(made.data) == "here"


def test_text_beside_the_page_goes_too() -> None:
    made = redacted(
        odd_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe) Tj 5000 0 Td (Jane Doe off page) Tj ET"), NAME
    )
    assert left_of(made.data, NAME) == {}


def test_earlier_revisions_of_the_file_are_gone() -> None:
    first = odd_pdf(b"BT /F1 12 Tf 60 700 Td (Jane Doe was here) Tj ET")
    update = b"\n99 0 obj\n(Jane Doe)\nendobj\nxref\n99 1\n%010d 00000 n \ntrailer\n<< /Size 100 /Root 1 0 R >>\n"
    data = first + update % (len(first) + 1)
    assert left_of(redacted(data, NAME).data, NAME) == {}


def test_a_file_without_a_password_to_open_is_decrypted() -> None:
    data = saved(
        new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET"),
        encryption=pikepdf.Encryption(owner="secret", user=""),
    )
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    assert "today" in text_of(made.data)


def image_under_text() -> bytes:
    from PIL import Image
    from reportlab.lib.utils import ImageReader

    def draw(canvas: Any) -> None:
        canvas.drawImage(ImageReader(Image.new("RGB", (40, 40), (200, 220, 240))), 50, 600, 300, 100)
        canvas.drawString(60, 650, LINE)

    return drawn(draw)


def test_a_page_with_an_image_under_the_text_becomes_a_picture_and_says_so() -> None:
    data = image_under_text()
    made = redacted(data, NAME)
    assert left_of(made.data, NAME) == {}
    (page,) = made.pages
    assert (page.method, page.reason) == ("rasterized", "an image lies under the text")
    before, after = shown(data), shown(made.data)
    assert before.shape == after.shape
    dark = (after.max(axis=2) < 40).sum()
    assert dark > 1_000, "there is no bar"
    with pytest.raises(UnreadableDocument):
        text_of(made.data)


@pytest.mark.parametrize("turn", [90, 270])
def test_a_turned_picture_shows_what_the_page_showed(turn: int) -> None:
    with pikepdf.open(io.BytesIO(image_under_text())) as file:
        file.pages[0].obj["/Rotate"] = turn
        data = saved(file)
    made = redacted(data, NAME)
    before, after = shown(data).astype(int), shown(made.data).astype(int)
    assert before.shape == after.shape
    assert np.abs(before - after).mean() < 8


UNKNOWN_MAP = Dictionary(
    Type=Name.Font, Subtype=Name.Type0, BaseFont=Name("/Odd"), Encoding=Name("/UniJIS-UCS2-H"),
    DescendantFonts=Array([Dictionary(
        Type=Name.Font, Subtype=Name.CIDFontType0, BaseFont=Name("/Odd"), DW=1000,
        CIDSystemInfo=Dictionary(Registry=String("Adobe"), Ordering=String("Japan1"), Supplement=2),
    )]),
)  # fmt: skip


def test_a_font_that_is_not_understood_makes_a_picture() -> None:
    content = b"BT /F1 12 Tf 60 700 Td <" + "Signed by Jane Doe".encode("utf-16-be").hex().encode() + b"> Tj ET"
    data = odd_pdf(content, font=UNKNOWN_MAP)
    assert NAME in text_of(data)
    made = redacted(data, NAME)
    assert methods(made) == ["rasterized"]
    assert "UniJIS" in made.pages[0].reason
    assert left_of(made.data, NAME) == {}


def test_pages_of_images_only_are_refused_unless_allowed() -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET", b"q 100 0 0 100 0 0 cm /Im Do Q")
    image = pikepdf.Stream(file, b"\xff" * 300)
    image.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=10, Height=10, BitsPerComponent=8, ColorSpace=Name.DeviceRGB
        )
    )
    file.pages[1].obj["/Resources"]["/XObject"] = Dictionary(Im=image)
    data = saved(file)
    with pytest.raises(UnredactableDocument, match=r"Pages 2 hold .* `allow_unread` .* `output=text`"):
        redacted(data, NAME)
    assert left_of(redacted(data, NAME, allow_unread=True).data, NAME) == {}


def test_a_scan_with_a_stamp_is_refused_unless_allowed() -> None:
    image = Image.new("L", (600, 800), 250)
    for row in range(100, 600, 15):
        ImageDraw.Draw(image).text((60, row), "A line of a scanned letter that says who lives where", fill=20)

    def draw(canvas: Any) -> None:
        canvas.drawImage(ImageReader(image), 0, 0, 600, 800)
        canvas.drawString(60, 760, LINE)

    data = drawn(draw)
    with pytest.raises(UnredactableDocument, match=r"Pages? 1 "):
        redacted(data, NAME)
    assert left_of(redacted(data, NAME, allow_unread=True).data, NAME) == {}


def test_another_text_than_was_found_is_refused() -> None:
    with pytest.raises(UnredactableDocument, match="reads differently"):
        redact_pdf(pdf([(60, 100, LINE)]), Redaction((Range(0, 4, "Nope"),), ()), limits=LIMITS)


@pytest.mark.parametrize(
    ("data", "error"),
    [(b"%PDF-1.7\nnothing", UnreadableDocument), (document_files.pdf([(1, 1, "x")], password="y"), UnreadableDocument)],
)
def test_what_cannot_be_read_cannot_be_redacted(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        redact_pdf(data, Redaction((), ()), limits=DocumentLimits())


def test_a_file_from_which_nothing_goes_is_cleaned_all_the_same() -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    file.docinfo["/Author"] = "Somebody"
    made = redact_pdf(saved(file), Redaction((), ()), limits=LIMITS)
    assert made.pages == ()
    assert made.removed == ("Info",)
    assert NAME in text_of(made.data)


@pytest.mark.parametrize("gone", [b"", b"/ID"], ids=["with an identifier", "without"])
@pytest.mark.parametrize("secret", ["Jane Doe", "nobody"])
def test_the_same_redaction_gives_the_same_file(gone: bytes, secret: str) -> None:
    data = pdf(column(40, 60, ["Jane Doe", "stays"]))
    data = data.replace(gone, b"/XX") if gone else data
    assert redacted(data, secret).data == redacted(data, secret).data
