"""Attacks on redaction: the words stand on the page, and once more where a redactor may not look."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import Image

from service.core.errors import UnredactableDocument
from tests.support.odd_pdfs import form_xobject, helvetica, new_pdf, odd_pdf, saved
from tests.support.redacted_pdfs import left_of, readings, redacted, shown

NAME = "Jane Doe"
LINE = b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET\n"
HEX = b"<" + NAME.encode().hex().encode() + b">"
UTF16 = b"<" + (b"\xfe\xff" + NAME.encode("utf-16-be")).hex().encode() + b">"
SHOWN = b"BT /F1 12 Tf 10 20 Td " + HEX + b" Tj ET"
KERNED = b"BT /F1 12 Tf 10 20 Td [(J)10(an)5(e )2(D)3(o)1(e)] TJ ET"


def page_with(more: bytes, change: Callable[[pikepdf.Pdf, Any], None] | None = None, pages: int = 1) -> bytes:
    """A page that says the name plainly, and `more`; `change` gets the file and its last page's resources."""
    file = new_pdf(LINE + more, *[LINE + more] * (pages - 1))
    if change is not None:
        change(file, file.pages[-1].obj["/Resources"])
    return saved(file)


def pattern(content: bytes, *, in_form: bool = False) -> bytes:
    def change(file: pikepdf.Pdf, resources: Any) -> None:
        inner = form_xobject(file, content)
        cell = pikepdf.Stream(file, b"/X Do" if in_form else content)
        cell.update(
            Dictionary(Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 200, 60]),
                       XStep=200, YStep=60, Resources=Dictionary(Font=Dictionary(F1=helvetica())))
        )  # fmt: skip
        if in_form:
            cell["/Resources"]["/XObject"] = Dictionary(X=inner)
        resources["/Pattern"] = Dictionary(P=file.make_indirect(cell))

    return page_with(b"/Pattern cs /P scn 0 0 600 400 re f\n", change)


def soft_mask(content: bytes) -> bytes:
    def change(file: pikepdf.Pdf, resources: Any) -> None:
        group = form_xobject(file, content, Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray))
        resources["/ExtGState"] = Dictionary(G=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=group)))

    return page_with(b"/G gs 0 0 600 400 re f\n", change)


def glyph_procedure(content: bytes) -> bytes:
    def change(file: pikepdf.Pdf, resources: Any) -> None:
        glyph = file.make_indirect(pikepdf.Stream(file, b"3000 0 d0 100 0 0 100 0 0 cm " + content))
        resources["/Font"]["/T3"] = Dictionary(
            Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 6000, 1000]),
            FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]), CharProcs=Dictionary(a=glyph), FirstChar=65, LastChar=65,
            Encoding=Dictionary(Type=Name.Encoding, Differences=Array([65, Name.a])), Widths=Array([3000]),
            Resources=Dictionary(Font=Dictionary(F1=helvetica())),
        )  # fmt: skip

    return page_with(b"BT /T3 12 Tf 72 500 Td (A) Tj ET\n", change)


def outline(*titles: str, **item: Any) -> bytes:
    def change(file: pikepdf.Pdf, _resources: Any) -> None:
        with file.open_outline() as made:
            made.root += [pikepdf.OutlineItem(title, 0) for title in titles]
        if item:
            first = file.Root["/Outlines"]["/First"]
            del first["/Dest"]
            first.update(Dictionary(**item))

    return page_with(b"", change)


def cropped(file: pikepdf.Pdf, _resources: Any) -> None:
    file.pages[0].obj["/CropBox"] = Array([0, 100, 600, 800])


def destinations(*, by_name: bool) -> bytes:
    def change(file: pikepdf.Pdf, _resources: Any) -> None:
        place = Array([file.pages[0].obj, Name.Fit])
        if by_name:
            file.Root["/Dests"] = Dictionary({"/Jane Doe": place, "/JaneDoe2": place})
        else:
            names = Array([String("Jane Doe"), place, String("sec_Jane_Doe"), place])
            file.Root["/Names"] = Dictionary(Dests=Dictionary(Names=names))

    return page_with(b"", change)


def image(kind: str, **more: Any) -> bytes:
    picture, written = Image.new("RGB", (20, 20), "white"), io.BytesIO()
    exif = Image.Exif()
    exif[0x13B] = NAME
    if kind == "JPEG":
        picture.save(written, kind, comment=b"Scan of Jane Doe", exif=exif, progressive=bool(more))
    else:
        picture.save(written, kind)
        written.write(b"\0\0\0\x18uuid" + b"\0" * 8 + b"Jane Doe")

    def change(file: pikepdf.Pdf, resources: Any) -> None:
        made = pikepdf.Stream(file, written.getvalue())
        made.update(
            Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=20, Height=20, BitsPerComponent=8,
                       ColorSpace=Name.DeviceRGB, Filter=Name.DCTDecode if kind == "JPEG" else Name.JPXDecode)
        )  # fmt: skip
        other = pikepdf.Stream(file, b"Jane Doe", Subtype=Name.Image, Width=8, Height=1, BitsPerComponent=8)
        made["/Alternates"] = Array([Dictionary(Image=file.make_indirect(other), DefaultForPrinting=True)])
        resources["/XObject"] = Dictionary(I=file.make_indirect(made))

    return page_with(b"q 20 0 0 20 400 100 cm /I Do Q\n", change)


def form(content: bytes, name: str = "/X", **more: Any) -> bytes:
    def change(file: pikepdf.Pdf, resources: Any) -> None:
        made = form_xobject(file, content)
        made.update(Dictionary(**more))
        resources["/XObject"] = Dictionary({name: made})

    return page_with(name.replace(" ", "#20").encode() + b" Do\n", change)


SCRIPT = Dictionary(S=Name.JavaScript, JS=String("app.alert('Jane%20Doe')"))
GONE: dict[str, Callable[[], bytes]] = {
    "a pattern": lambda: pattern(b"BT /F1 12 Tf 10 20 Td (For Jane Doe) Tj ET"),
    "a pattern in hexadecimal": lambda: pattern(SHOWN),
    "a pattern, kerned": lambda: pattern(KERNED),
    "a form in a pattern": lambda: pattern(KERNED, in_form=True),
    "a soft mask": lambda: soft_mask(b"1 g " + SHOWN),
    "a soft mask, kerned": lambda: soft_mask(b"1 g " + KERNED),
    "a glyph procedure": lambda: glyph_procedure(SHOWN),
    "a glyph procedure, kerned": lambda: glyph_procedure(KERNED),
    "below the crop box": lambda: page_with(b"BT /F1 12 Tf 72 20 Td " + HEX + b" Tj ET\n", cropped),
    "far outside": lambda: page_with(b"BT /F1 12 Tf 1 0 0 1 30000 500 Tm " + HEX + b" Tj ET\n"),
    "bookmarks": lambda: outline("Letter_Jane_Doe_2026.docx", "JaneDoe", "Jane-Doe", "letterjanedoefinal"),
    "bookmarks with what does not show": lambda: outline("Jane\u200bDoe", "Ja\u00adne \u2060Doe", "Jane%20Doe"),
    "a chained script": lambda: outline("Start", A=Dictionary(S=Name.GoTo, D=Array([0, Name.Fit]), Next=SCRIPT)),
    "names of destinations": lambda: destinations(by_name=False),
    "old names of destinations": lambda: destinations(by_name=True),
    "a resource's name": lambda: form(b"q Q", "/Jane Doe"),
    "a resource's name in one": lambda: form(b"q Q", "/JaneDoe1"),
    "an expansion": lambda: page_with(b"/Span <</E " + UTF16 + b">> BDC BT 9 9 Td (J) Tj ET EMC\n"),
    "a key of marked content": lambda: page_with(b"/Artifact <</Contents " + UTF16 + b">> BDC q Q EMC\n"),
    "a tag of marked content": lambda: page_with(b"/Jane#20Doe BMC q Q EMC\n"),
    "a form's own key": lambda: form(b"q Q", **{"/Jane Doe": String("x"), "/Note": String("Jane_Doe")}),
    "a JPEG's comment and EXIF": lambda: image("JPEG"),
    "a progressive JPEG's": lambda: image("JPEG", progressive=True),
    "a JPEG 2000's box": lambda: image("JPEG2000"),
    "letters in reverse": lambda: page_with(
        b"".join(b"BT /F1 12 Tf %d 500 Td (%c) Tj ET\n" % (72 + 9 * i, ord(NAME[i])) for i in reversed(range(8)))
    ),
    "invisible": lambda: page_with(b"BT 3 Tr /F1 12 Tf 60 500 Td " + HEX + b" Tj ET\n"),
}  # fmt: skip
REFUSED: dict[str, Callable[[], bytes]] = {
    "text of no size": lambda: page_with(b"BT /F1 0 Tf 72 500 Td " + HEX + b" Tj ET\n"),
    "text of no scale": lambda: page_with(b"q 0 0 0 0 72 500 cm BT /F1 12 Tf " + HEX + b" Tj ET Q\n"),
    "kerned text of no size": lambda: page_with(b"BT /F1 0 Tf 72 500 Td [(Ja) -20 (ne) -300 (Doe)] TJ ET\n"),
}


@pytest.mark.parametrize("place", GONE)
def test_what_goes_from_the_page_goes_from(place: str) -> None:
    made = redacted(GONE[place](), NAME)
    assert left_of(made.data, NAME) == {}
    assert "app.alert" not in readings(made.data)["raw"]


@pytest.mark.parametrize("more", [{}, {"Length1": 5}, {"FunctionType": 4, "N": 3}])
def test_a_comment_of_content_is_refused_whatever_its_stream_says_it_is(more: Any) -> None:
    with pytest.raises(UnredactableDocument, match="no page"):
        redacted(form(b"% Jane Doe\nq Q", **more), NAME)


@pytest.mark.parametrize("place", REFUSED)
def test_what_has_no_place_on_the_page_is_refused(place: str) -> None:
    with pytest.raises(UnredactableDocument, match="no place"):
        redacted(REFUSED[place](), NAME)


@pytest.mark.parametrize("kind", ["JPEG", "JPEG2000"])
def test_images_look_as_before_without_what_they_tell(kind: str) -> None:
    data = image(kind)
    before, after = shown(data), shown(redacted(data, NAME).data)
    assert np.array_equal(before[300:], after[300:])


WIDTHS = dict(zip("JaneDo t", (500, 556, 556, 556, 722, 556, 278, 278), strict=True))


def _letters(style: str, name: str) -> bytes:
    """The name letter by letter, in the way of a producer, between two words that stay."""
    x, written = 100.0, b"BT /F1 12 Tf 1 0 0 1 60 700 Tm (Of) Tj ET\n"
    for number, letter in enumerate(name):
        show, wide = b"(" + letter.encode() + b") Tj", WIDTHS[letter] * 0.012
        written += {
            "Tm": b"BT /F1 12 Tf 1 0 0 1 %.3f 700 Tm %s ET\n" % (x, show),
            "cm": b"q 1 0 0 1 %.3f 700 cm BT /F1 12 Tf %s ET Q\n" % (x, show),
            "Td": (b"BT /F1 12 Tf 100 700 Td " if not number else b"") + b"%s %.3f 0 Td " % (show, wide),
            "Tj": (b"BT /F1 12 Tf 100 700 Td " if not number else b"") + show + b" ",
            "TJ": (b"BT /F1 12 Tf 100 700 Td " if not number else b"") + b"[(%s) -%d] TJ " % (letter.encode(), number),
            "TD": (b"BT /F1 12 Tf 100 700 TD " if not number else b"") + b"%s %.3f 0 TD " % (show, wide),
        }[style]
        x += wide
    if style in ("Td", "Tj", "TJ", "TD"):
        written += b"( today) Tj ET\n" if style != "TD" else b"T* ( today) Tj ET\n"
    return written + b"BT /F1 12 Tf 200 600 Td (Last) Tj 0 -20 Td (words) Tj ET"


@pytest.mark.parametrize("style", ["Tm", "cm", "Td", "Tj", "TJ", "TD"])
def test_what_is_left_does_not_tell_the_letters_that_went(style: str) -> None:
    """Two names of the same letters leave the same file."""
    names = ("Jane Doe", "Dean Joe")
    made = [redacted(odd_pdf(_letters(style, name)), name) for name in names]
    assert [page.method for each in made for page in each.pages] == ["rewritten"] * 2
    assert readings(made[0].data)["pdfium"].split()[-2:] == ["Last", "words"]
    with pikepdf.open(io.BytesIO(made[0].data)) as first, pikepdf.open(io.BytesIO(made[1].data)) as second:
        contents = [file.pages[0].obj["/Contents"].read_bytes() for file in (first, second)]
    assert contents[0] == contents[1]
