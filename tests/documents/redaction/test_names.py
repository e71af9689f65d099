"""Names of fonts, inks and profiles that say what must go are replaced (`names`, `font_programs`)."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pikepdf
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.t2CharStringPen import T2CharStringPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from pikepdf import Array, Dictionary, Name, String
from PIL import ImageCms

from service.core.redaction import Repeats
from service.documents.redaction.font_programs import without_names
from tests.support.odd_pdfs import new_pdf, saved
from tests.support.redacted_pdfs import redacted, shown

NAME = "Acme GmbH"
LINE = b"BT /F1 12 Tf 60 700 Td (Signed by Acme GmbH today) Tj ET\n"
TERMS = LINE + b"BT /F2 24 Tf 60 500 Td (ABBA) Tj ET\n"
FONT_NAME = "ABCDEF+AcmeGmbHSans-Bold"
GLYPHS = [".notdef", "A", "B"]
Change = Callable[[pikepdf.Pdf, Any], None]


def square(pen: Any, side: int) -> Any:
    pen.moveTo((50, 0))
    pen.lineTo((50, side))
    pen.lineTo((side, side))
    pen.lineTo((side, 0))
    pen.closePath()
    return pen


def program(*, is_cff: bool) -> bytes:
    """A font of two squares, whose names say who had it made."""
    made = FontBuilder(1000, isTTF=not is_cff)
    made.setupGlyphOrder(GLYPHS)
    made.setupCharacterMap({65: "A", 66: "B"})
    sides = dict(zip(GLYPHS, (300, 500, 700), strict=True))
    if is_cff:
        drawn = {each: square(T2CharStringPen(600, None), side).getCharString() for each, side in sides.items()}
        told = {"FullName": "Acme GmbH Sans Bold", "FamilyName": "Acme GmbH Sans", "Notice": "For Acme GmbH"}
        made.setupCFF("AcmeGmbHSans-Bold", told, drawn, {})
    else:
        made.setupGlyf({each: square(TTGlyphPen(None), side).glyph() for each, side in sides.items()})
    made.setupHorizontalMetrics(dict.fromkeys(GLYPHS, (600, 0)))
    made.setupHorizontalHeader(ascent=900, descent=-200)
    made.setupNameTable({"familyName": "Acme GmbH Sans", "styleName": "Bold", "psName": "AcmeGmbHSans-Bold"})
    made.setupOS2()
    made.setupPost()
    written = io.BytesIO()
    made.font.save(written)
    return made.font.getTableData("CFF ") if is_cff else written.getvalue()


TYPE1 = (
    b"%!PS-AdobeFont-1.0: AcmeGmbHSans 001.000\n/FullName (Acme GmbH Sans) readonly def\n/FontName /AcmeGmbHSans def\n"
)


def with_font(data: bytes | None, key: str = "/FontFile2", **more: Any) -> bytes:
    pdf = new_pdf(TERMS)
    name = Name("/" + FONT_NAME)
    descriptor = Dictionary(
        Type=Name.FontDescriptor, FontName=name, FontFamily=String("Acme GmbH Sans"), Flags=32, ItalicAngle=0,
        FontBBox=Array([0, 0, 1000, 1000]), Ascent=900, Descent=-200, CapHeight=700, StemV=80,
    )  # fmt: skip
    if data is not None:
        descriptor[key] = pdf.make_indirect(pikepdf.Stream(pdf, data, **more))
    font = Dictionary(
        Type=Name.Font, Subtype=Name.TrueType if key == "/FontFile2" else Name.Type1, BaseFont=name, FirstChar=65,
        LastChar=66, Widths=Array([600, 600]), Encoding=Name.WinAnsiEncoding, Name=Name("/AcmeGmbH"),
        FontDescriptor=pdf.make_indirect(descriptor),
    )  # fmt: skip
    pdf.pages[0].obj["/Resources"]["/Font"]["/F2"] = pdf.make_indirect(font)
    return saved(pdf)


FONTS = {
    "without a program": lambda: with_font(None),
    "TrueType": lambda: with_font(program(is_cff=False)),
    "CFF": lambda: with_font(program(is_cff=True), "/FontFile3", Subtype=Name.Type1C),
}


def held(data: bytes) -> str:
    """All objects and unpacked streams of a file."""
    with pikepdf.open(io.BytesIO(data)) as pdf:
        objects = [repr(each) for each in pdf.objects]
        streams = [each.read_bytes().replace(b"\0", b"") for each in pdf.objects if isinstance(each, pikepdf.Stream)]
    return " ".join(objects) + b" ".join(streams).decode("latin-1")


@pytest.mark.parametrize("kind", FONTS)
def test_a_font_named_after_somebody_looks_the_same_under_another_name(kind: str) -> None:
    data = FONTS[kind]()
    made = redacted(data, NAME)
    assert "acme" in held(data).lower()
    assert "acme" not in held(made.data).lower()
    assert np.array_equal(shown(data)[400:], shown(made.data)[400:])
    assert "ABCDEF+Font" in held(made.data)


def test_the_clear_text_of_a_type_1_program_is_overwritten_in_place() -> None:
    plain = without_names(TYPE1 + b"currentfile eexec\x80Acme", Repeats((NAME,)))
    assert len(plain) == len(TYPE1) + len(b"currentfile eexec\x80Acme")
    assert b"AcmeGmbH" not in plain
    assert plain.endswith(b"eexec\x80Acme")


@pytest.mark.parametrize(
    "data", [b"", b"\1", b"\1\0\4", b"\0\1\0\0\0\x09", b"OTTO\0\1" + b"CFF ".rjust(10) + bytes(12)]
)
def test_damaged_programs_stay_as_they_are(data: bytes) -> None:
    assert without_names(data, Repeats((NAME,))) == data


def test_standard_fonts_keep_their_names() -> None:
    pdf = new_pdf(LINE)
    pdf.pages[0].obj["/Resources"]["/Font"]["/F1"]["/BaseFont"] = Name("/TimesNewRomanPS-BoldMT")
    assert "TimesNewRomanPS-BoldMT" in held(redacted(saved(pdf), NAME, "TimesNewRoman").data)


TINT = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([0, 0, 0, 0]), C1=Array([0, 1, 0, 0]), N=1)


def one_ink() -> Array:
    return Array([Name.Separation, Name("/Acme GmbH Red"), Name.DeviceCMYK, TINT])


def inks() -> Array:
    inner = Dictionary({"/AcmeGmbH Red": one_ink()})
    names = Array([Name("/AcmeGmbH Red")])
    return Array([Name.DeviceN, names, Name.DeviceCMYK, TINT, Dictionary(Subtype=Name.NChannel, Colorants=inner)])


@pytest.mark.parametrize("make", [one_ink, inks])
def test_an_ink_named_after_somebody_paints_the_same_under_another_name(make: Callable[[], Array]) -> None:
    pdf = new_pdf(LINE + b"/S cs 1 scn 60 400 100 100 re f\n")
    pdf.pages[0].obj["/Resources"]["/ColorSpace"] = Dictionary(S=make())
    data = saved(pdf)
    made = redacted(data, NAME)
    assert "acme" not in held(made.data).lower()
    assert np.array_equal(shown(data)[400:], shown(made.data)[400:])


def test_what_is_no_profile_becomes_plain_colours() -> None:
    pdf = new_pdf(LINE + b"/S cs 0.5 scn 60 400 100 100 re f\n")
    profile = pdf.make_indirect(pikepdf.Stream(pdf, b"desc of a scanner of Acme GmbH", N=1))
    pdf.pages[0].obj["/Resources"]["/ColorSpace"] = Dictionary(S=Array([Name.ICCBased, profile]))
    pdf.Root["/OutputIntents"] = Array([Dictionary(Info=String("Acme GmbH"), DestOutputProfile=profile)])
    data = saved(pdf)
    made = redacted(data, NAME)
    assert "acme" not in held(made.data).lower()
    assert np.array_equal(shown(data)[400:], shown(made.data)[400:])


@pytest.mark.parametrize(("kind", "colour"), [("sRGB", b"0.9 0.3 0.1"), ("LAB", b"60 40 -30")])
def test_colours_of_a_profile_look_the_same_without_it(kind: Any, colour: bytes) -> None:
    pdf = new_pdf(LINE + b"/S cs %s scn 60 400 100 100 re f\n" % colour)
    told = ImageCms.ImageCmsProfile(ImageCms.createProfile(kind)).tobytes()
    profile = pikepdf.Stream(
        pdf, told, N=3, Range=Array([0, 100, -128, 127, -128, 127] if kind == "LAB" else [0, 1] * 3)
    )
    pdf.pages[0].obj["/Resources"]["/ColorSpace"] = Dictionary(S=Array([Name.ICCBased, pdf.make_indirect(profile)]))
    data = saved(pdf)
    made = redacted(data, NAME).data
    assert "ICCBased" not in held(made)
    assert np.abs(shown(data)[400:].astype(int) - shown(made)[400:]).max() < 16


MAP = b"begincmap /CMapName /AcmeGmbH-UCS def % of Acme GmbH\n1 beginbfrange <41> <42> <0041> endbfrange endcmap"


def type_3() -> Dictionary:
    return Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 600, 700]), Name=Name("/AcmeGmbH"),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]), FirstChar=65, LastChar=66, Widths=Array([600, 600]),
        Resources=Dictionary(),
    )  # fmt: skip


def with_glyphs(pdf: pikepdf.Pdf, resources: Any) -> None:
    font = type_3()
    glyph = pdf.make_indirect(pikepdf.Stream(pdf, b"600 0 d0 0 0 500 500 re f"))
    font["/CharProcs"] = Dictionary({"/AcmeGmbH": glyph, "/B": glyph})
    font["/Encoding"] = Dictionary(Differences=Array([65, Name("/AcmeGmbH"), Name.B]))
    resources["/Font"]["/F2"] = font


def with_map(pdf: pikepdf.Pdf, resources: Any) -> None:
    resources["/Font"]["/F2"] = pdf.make_indirect(Dictionary(
        Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier, ToUnicode=pikepdf.Stream(pdf, MAP)))  # fmt: skip


def with_keys(pdf: pikepdf.Pdf, resources: Any) -> None:
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier, Foundry=Name("/Acme GmbH"))
    resources["/Font"]["/F2"] = font
    resources["/ExtGState"] = Dictionary(G=Dictionary(CA=1, Vendor=Name("/Acme GmbH")))
    layer = Dictionary(Type=Name.OCG, Name=String("Layer"), Usage=Dictionary({"/Acme GmbH": Dictionary(X=1)}))
    resources["/Properties"] = Dictionary(L=pdf.make_indirect(layer))
    pdf.pages[0].obj["/Group"] = Dictionary(S=Name.Transparency, Note=Name("/Acme GmbH"))


def with_resource(pdf: pikepdf.Pdf, resources: Any) -> None:
    cell = pikepdf.Stream(pdf, b"/Acme#20GmbH gs 0.5 g 0 0 5 5 re f")
    own = Dictionary(ExtGState=Dictionary({"/Acme GmbH": Dictionary(ca=0.5)}))
    cell.update(Dictionary(PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 10, 10]), XStep=10, YStep=10,
                           Resources=own))  # fmt: skip
    resources["/Pattern"] = Dictionary(P=pdf.make_indirect(cell))
    resources["/Font"]["/F2"] = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Courier)


@pytest.mark.parametrize("change", [with_glyphs, with_map, with_keys, with_resource])
def test_other_names_go_and_the_page_looks_the_same(change: Change) -> None:
    pdf = new_pdf(TERMS + b"/Pattern cs /P scn 60 300 100 100 re f\n")
    change(pdf, pdf.pages[0].obj["/Resources"])
    data = saved(pdf)
    made = redacted(data, NAME, allow_unread=True)
    assert [page.method for page in made.pages] == ["rewritten"]
    assert "acme" not in held(made.data).lower()
    assert np.array_equal(shown(data)[400:], shown(made.data)[400:])
