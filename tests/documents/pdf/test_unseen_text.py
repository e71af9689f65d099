"""Text that nobody sees is not read but said, and goes with any redaction; what is seen by the same means is read."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream
from PIL import Image
from reportlab.pdfbase.pdfmetrics import stringWidth

from service.core.errors import UnreadableDocument
from service.documents.document import Document, UnreadReason
from service.documents.limits import DocumentLimits
from service.documents.ocr.joining import with_recognized
from service.documents.pdf.page_objects import MOST_OBJECTS
from service.documents.pdf.reader import MOST_DRAWN, read_pdf
from service.documents.redaction.pdf_redactor import redact_pdf
from service.documents.redaction.values import Redaction
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH
from tests.support.odd_pdfs import PAGE, form_xobject, new_pdf, saved
from tests.support.scans import written

SEEN = "0 g BT /F1 12 Tf 60 740 Td (Total GBP 240.00) Tj ET\n"
LINE = "Pay to DE89 3704, total 9240.00"
TEXT = f"BT /F1 12 Tf 60 700 Td ({LINE}) Tj ET\n"
BAR = "50 690 300 26 re f\n"


def read(data: bytes) -> Document:
    return read_pdf(data, limits=DocumentLimits())


def page(content: str, **resources: Any) -> bytes:
    return saved(new_pdf((SEEN + content).encode(), resources=resources))


def foreign(content: str, **resources: Any) -> bytes:
    """A page with the font `/F1` of the system, whose codes 200 and 201 are letters that pdfium may not draw."""
    names = Array([200, Name("/Lslash"), Name("/uni4E00")])
    encoding = Dictionary(Type=Name.Encoding, BaseEncoding=Name.WinAnsiEncoding, Differences=names)
    font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica, Encoding=encoding)
    return saved(new_pdf((SEEN + content).encode(), font=font, resources=resources))


def sized(size: float, matrix: str = "1 0 0 1 60 700", scaling: float = 100) -> str:
    return f"BT {scaling} Tz /F1 {size} Tf {matrix} Tm ({LINE}) Tj ET\n"


def states(**values: Any) -> dict[str, Any]:
    return {"ExtGState": Dictionary(G=Dictionary(**values))}


def image(pdf: pikepdf.Pdf, picture: Image.Image) -> Any:
    stream = Stream(pdf, picture.tobytes())
    stream.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=picture.width, Height=picture.height, BitsPerComponent=8,
            ColorSpace=Name.DeviceGray if picture.mode == "L" else Name.DeviceRGB,
        )
    )  # fmt: skip
    return pdf.make_indirect(stream)


def with_image(content: str, picture: Image.Image) -> bytes:
    """A page with `/I`, a picture."""
    pdf = new_pdf((content + "\n" + SEEN).encode())
    pdf.pages[0].obj["/Resources"]["/XObject"] = Dictionary(I=image(pdf, picture))
    return saved(pdf)


def in_form(content: str, form: str, box: Sequence[float] = PAGE, **more: Any) -> bytes:
    """A page with the form `/X`, and a state `/G` without opacity."""
    pdf = new_pdf((SEEN + content).encode())
    stream = form_xobject(pdf, form.encode(), **more)
    stream["/BBox"] = Array(box)
    pdf.pages[0].obj["/Resources"]["/XObject"] = Dictionary(X=stream)
    pdf.pages[0].obj["/Resources"]["/ExtGState"] = Dictionary(G=Dictionary(ca=0.0))
    return saved(pdf)


def masked(level: float) -> bytes:
    """Text behind a soft mask that lets so much of it through."""
    pdf = new_pdf((SEEN + f"q /G gs {TEXT} Q").encode())
    group = Dictionary(S=Name.Transparency, CS=Name.DeviceGray)
    mask = form_xobject(pdf, f"{level} g 0 0 600 800 re f".encode(), Group=group)
    soft = Dictionary(Type=Name.Mask, S=Name.Luminosity, G=mask)
    pdf.pages[0].obj["/Resources"]["/ExtGState"] = Dictionary(G=Dictionary(SMask=soft))
    return saved(pdf)


def separation(tint: float) -> dict[str, Any]:
    """The colour space `/S`, an ink that is red."""
    function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([0, 0, 0, 0]), C1=Array([0, 1, 1, 0]), N=1)
    return {"ColorSpace": Dictionary(S=Array([Name.Separation, Name("/Red"), Name.DeviceCMYK, function]))}


def shading(first: float, last: float) -> dict[str, Any]:
    """The shading `/H`, of greys from the left to the right."""
    function = Dictionary(FunctionType=2, Domain=Array([0, 1]), C0=Array([first]), C1=Array([last]), N=1)
    return {
        "Shading": Dictionary(
            H=Dictionary(
                ShadingType=2, ColorSpace=Name.DeviceGray, Coords=Array([0, 0, 600, 0]), Function=function,
                Extend=Array([True, True]),
            )
        )
    }  # fmt: skip


def pattern(first: float, last: float) -> dict[str, Any]:
    """The same as the pattern `/P`."""
    return {"Pattern": Dictionary(P=Dictionary(PatternType=2, Shading=shading(first, last)["Shading"]["/H"]))}


def type3(glyph: bytes) -> bytes:
    """A line in a font that draws each letter by such a procedure."""
    pdf = new_pdf((SEEN + f"BT /T 12 Tf 60 700 Td ({LINE}) Tj ET").encode())
    codes = range(32, 127)
    names = {code: f"/c{code}" for code in codes}
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 600, 700]),
        FontMatrix=Array([0.001, 0, 0, 0.001, 0, 0]), FirstChar=32, LastChar=126, Widths=Array([600] * 95),
        CharProcs=Dictionary({name: pdf.make_indirect(Stream(pdf, glyph)) for name in names.values()}),
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array([32, *(Name(name) for name in names.values())])),
    )  # fmt: skip
    lines = "\n".join(f"<{code:02X}> <{code:04X}>" for code in codes)
    cmap = f"1 begincodespacerange <00> <FF> endcodespacerange\n{len(codes)} beginbfchar\n{lines}\nendbfchar\n"
    font["/ToUnicode"] = Stream(pdf, cmap.encode())
    pdf.pages[0].obj["/Resources"]["/Font"]["/T"] = pdf.make_indirect(font)
    return saved(pdf)


def noisy(picture: Image.Image) -> Image.Image:
    """As a scanner sees a sheet."""
    grain = np.random.default_rng(1).normal(0, 8, (picture.height, picture.width))
    return Image.fromarray((np.asarray(picture) * 0.9 + grain).clip(0, 255).astype(np.uint8))


def turned(content: str, degrees: int) -> bytes:
    pdf = new_pdf((SEEN + content).encode())
    pdf.pages[0].obj["/Rotate"] = degrees
    return saved(pdf)


def cropped(content: str) -> bytes:
    pdf = new_pdf(content.encode())
    pdf.pages[0].obj["/CropBox"] = Array([-20, 400, 580, 790])
    return saved(pdf)


def scan(left: float, bottom: float, line: str) -> Image.Image:
    return written([(left, bottom, line)])


WHOLE = f"q {PAGE_WIDTH} 0 0 {PAGE_HEIGHT} 0 0 cm /I Do Q\n"
BLACK, WHITE = Image.new("RGB", (4, 4), (0, 0, 0)), Image.new("L", (4, 4), 255)
INVISIBLE = f"q BT 3 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET Q\n"
FADED = [170 + level // 4 for level in range(256)]
LOGO = "0 0.2 0.6 rg 400 720 m 460 720 l 430 770 l h f\n"

RULES = "0.5 w " + " ".join(f"{x} 660 m {x} 720 l S" for x in range(50, 400, 70)) + " 50 696 m 400 696 l S\n"
LETTER = [(60, 660, "Kestrel Paper Ltd, York"), (60, 640, "Invoice 2026-118"), (60, 620, "Total GBP 240.00")]
SCAN = written([*LETTER, (60, 740, "Total GBP 240.00")])
LAYER = "".join(f"q BT 3 Tr /F1 12 Tf {left} {bottom} Td ({text}) Tj ET Q\n" for left, bottom, text in LETTER)
UNSEEN = {
    "invisible": page(INVISIBLE),
    "a clip alone": page(f"q BT 7 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET Q"),
    "white": page(f"1 g {TEXT}"),
    "nearly white": page(f"0.996 0.996 0.992 rg {TEXT}"),
    "pale yellow": page(f"1 1 0.93 rg {TEXT}"),
    "no ink, CMYK": page(f"0 0 0 0 k {TEXT}"),
    "no tint of an ink": page(f"/S cs 0 scn {TEXT}", **separation(0)),
    "red on red": page(f"0.8 0.1 0.1 rg {BAR} 0.79 0.1 0.1 rg {TEXT}"),
    "black on black": page(f"0 g {BAR} {TEXT}"),
    "black on a black picture": with_image(f"q 300 0 0 26 50 690 cm /I Do Q {TEXT}", BLACK),
    "grey on a shading of this grey": page(f"q 50 690 300 26 re W n /H sh Q 0.5 g {TEXT}", **shading(0.5, 0.5)),
    "white outlines": page(f"1 G 0.2 w BT 1 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET"),
    "white pattern": page(f"/Pattern cs /P scn {TEXT}", **pattern(1, 1)),
    "no opacity": page(f"q /G gs {TEXT} Q", **states(ca=0.0)),
    "hardly any opacity": page(f"q /G gs {TEXT} Q", **states(ca=0.02)),
    "white, multiplied": page(f"0 0 1 rg {BAR} q /G gs 1 g {TEXT} Q", **states(BM=Name.Multiply)),
    "form without opacity": in_form("q /G gs /X Do Q", TEXT, Group=Dictionary(S=Name.Transparency)),
    "soft mask": masked(0),
    "clipped to nothing": page(f"q 0 0 0 0 re W n {TEXT} Q"),
    "beside its clip": page(f"q 300 100 200 30 re W n {TEXT} Q"),
    "beside its form": in_form("/X Do", TEXT, box=(300, 100, 500, 130)),
    "0.4 points": page(sized(0.4)),
    "scaled down": page(sized(12, "0.03 0 0 0.03 60 700")),
    "flat": page(sized(12, "1 0 0 0.01 60 700")),
    "narrow": page(sized(12, scaling=1)),
    "beside the page": page(f"BT /F1 12 Tf 60 -40 Td ({LINE}) Tj ET"),
    "behind a picture": with_image(f"{TEXT} q 300 0 0 26 50 690 cm /I Do Q", WHITE),
    "behind a polygon": page(f"{TEXT} 1 g 20 706 m 200 600 l 400 706 l 200 800 l h f {SEEN}"),
    "behind a large sheet": page(f"{TEXT} 1 g 0 0 600 800 re f {SEEN}"),
    "on blank paper of a scan": with_image(f"{WHOLE} {INVISIBLE}", scan(60, 740, "Total GBP 240.00")),
    "injected into a scan's layer": with_image(f"{WHOLE} {LAYER} {INVISIBLE}", noisy(SCAN)),
    "injected behind a scan's line": with_image(f"{WHOLE} {LAYER} {INVISIBLE.replace('60 700', '230 660')}", SCAN),
    "invisible on an underline": page(f"1 w 50 703 m 300 703 l S {INVISIBLE}"),
    "invisible in a table": page(f"{RULES} {INVISIBLE}"),
    "invisible on a coloured bar": page(f"0.9 0.9 1 rg {BAR} 50 690 300 26 re S {INVISIBLE}"),
    "strokes without opacity": page(f"q /G gs BT 1 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET Q", **states(CA=0.0)),
    "black on a thick line": page(f"26 w 50 703 m 350 703 l S {TEXT}"),
    "behind a thick line": page(f"{TEXT} 1 G 26 w 50 703 m 350 703 l S"),
    "glyphs without strokes": type3(b"600 0 0 0 500 700 d1"),
    "white glyphs": type3(b"600 0 d0 1 g 0 0 500 700 re f"),
    "turned page": turned(f"1 g {TEXT}", 90),
    "cropped page": cropped(f"{SEEN} 1 g {TEXT}"),
}  # fmt: skip

OUTLINES = "".join(f"{x} 700 m {x + 4} 708 l {x + 4} 700 l S\n" for x in range(60, 230, 6))
SHOWN = {
    "black": page(TEXT),
    "white on a dark bar": page(f"0.1 0.1 0.4 rg {BAR} 1 g {TEXT}"),
    "white on a dark bar, turned": turned(f"0.1 0.1 0.4 rg {BAR} 1 g {TEXT}", 270),
    "white on a round bar": page(f"0 0.3 0.2 rg 50 690 m 350 690 l 370 703 350 716 350 716 c 50 716 l h f 1 g {TEXT}"),
    "white on a shading": page(f"q 50 690 300 26 re W n /H sh Q 1 g {TEXT}", **shading(0, 0.5)),
    "white on a picture": with_image(f"q 300 0 0 26 50 690 cm /I Do Q 1 g {TEXT}", BLACK),
    "black on a grey picture": with_image(f"q 300 0 0 26 50 690 cm /I Do Q {TEXT}", Image.new("L", (9, 9), 180)),
    "white on a transparent dark bar": page(f"q /G gs 0 g {BAR} Q 1 g {TEXT}", **states(ca=0.6)),
    "light grey": page(f"0.75 g {TEXT}"),
    "watermark": page(f"0.9 g BT /F1 36 Tf 0.7 0.7 -0.7 0.7 60 200 Tm ({LINE}) Tj ET"),
    "see-through watermark": page(f"q /G gs BT /F1 30 Tf 60 300 Td ({LINE}) Tj ET Q", **states(ca=0.15)),
    "footnote of 3 points": page(f"0.3 g {sized(3)}"),
    "a page in millimetres": saved(new_pdf(f"BT /F1 3 Tf 20 200 Td ({LINE}) Tj ET".encode())),
    "outlined": page(f"1 g 0 G 0.5 w BT 1 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET"),
    "filled and outlined": page(f"1 g 0 G 0.4 w BT 2 Tr /F1 12 Tf 60 700 Td ({LINE}) Tj ET"),
    "shaded letters": page(f"/Pattern cs /P scn {TEXT}", **pattern(0, 0.6)),
    "an ink of its own": page(f"/S cs 1 scn {TEXT}", **separation(1)),
    "below a marker": page(f"{TEXT} q /G gs 1 1 0 rg {BAR} Q", **states(BM=Name.Multiply)),
    "on a marker": page(f"1 1 0 rg {BAR} 0 g {TEXT}"),
    "half-masked": masked(0.6),
    "in a group": in_form("/X Do", TEXT, Group=Dictionary(S=Name.Transparency, K=True, I=True)),
    "clipped to its line": page(f"q 58 696 300 14 re W n {TEXT} Q"),
    "a logo beside it": page(f"q 400 720 60 50 re W n {LOGO} Q {TEXT}"),
    "below a frame": page(f"{TEXT} 1 g 40 680 360 40 re 50 690 300 26 re f*"),
    "struck out": page(f"{TEXT} 60 703 200 1 re f"),
    "white, then black": page(f"1 g BT /F1 12 Tf 60.3 699.7 Td ({LINE}) Tj ET 0 g {TEXT}"),
    "with a shadow": page(f"0.8 g BT /F1 12 Tf 61 699 Td ({LINE}) Tj ET 0 g {TEXT}"),
    "glyphs of a font of procedures": type3(b"600 0 d0 0.2 g 0 0 500 700 re f"),
    "layer over a scan": with_image(f"{WHOLE} {INVISIBLE}", scan(60, 700, LINE)),
    "layer some points beside": with_image(f"{WHOLE} {INVISIBLE}", scan(63, 704, LINE)),
    "layer below a scan": with_image(f"{TEXT} {WHOLE}", scan(60, 700, LINE)),
    "white on a cropped page": cropped(f"0 0.2 0.3 rg {BAR} 1 g {TEXT}"),
    "filled strokes of a font": type3(b"600 0 0 0 500 700 d1 0 0 500 700 re f"),
    "layer over a noisy scan": with_image(f"{WHOLE} {INVISIBLE}", noisy(scan(60, 700, LINE))),
    "layer over a fax": with_image(f"{WHOLE} {INVISIBLE}", scan(60, 700, LINE).convert("1").convert("L")),
    "layer over a slanting scan": with_image(f"{WHOLE} {INVISIBLE}", scan(60, 700, LINE).rotate(0.5, fillcolor=250)),
    "layer over outlines": page(f"{OUTLINES} {INVISIBLE}"),
    "layer over a faded scan": with_image(f"{WHOLE} {INVISIBLE}", scan(60, 700, LINE).point(FADED)),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNSEEN)
def test_text_that_nobody_sees_is_not_read_but_said(kind: str) -> None:
    document = read(UNSEEN[kind])
    assert "9240" not in document.text
    assert "Total GBP 240.00" in document.text
    assert [(part.page, part.reason) for part in document.partly_read] == [(1, UnreadReason.HIDDEN)]


def test_a_page_with_text_as_a_clip_becomes_a_picture() -> None:
    result = redact_pdf(UNSEEN["a clip alone"], Redaction((), ()), limits=DocumentLimits())
    assert [(page.number, page.method) for page in result.pages] == [(1, "rasterized")]
    assert b"9240" not in result.data


@pytest.mark.parametrize("kind", [kind for kind in UNSEEN if kind != "a clip alone"])
def test_text_that_nobody_sees_goes_with_any_redaction(kind: str) -> None:
    result = redact_pdf(UNSEEN[kind], Redaction((), ()), limits=DocumentLimits()).data
    assert "Total GBP 240.00" in read(result).text
    with pikepdf.open(io.BytesIO(result)) as pdf:
        streams = [each.read_bytes() for each in pdf.objects if isinstance(each, Stream)]
    assert not any(b"9240" in stream for stream in streams)


@pytest.mark.parametrize("kind", SHOWN)
def test_text_that_is_seen_is_read(kind: str) -> None:
    document = read(SHOWN[kind])
    assert LINE in document.text
    assert not [part for part in document.partly_read if part.reason is UnreadReason.HIDDEN]


@pytest.mark.parametrize("part", ["and ", "and total GBP ", "GBP 9"])
@pytest.mark.parametrize(
    "content",
    [
        "q 50 690 {wide} 30 re W n {text} Q",
        "{text} 1 g {edge} 690 200 26 re f",
        "0 g {edge} 690 200 26 re f {text}",
        "0 g 50 690 {wide} 26 re f 1 g {text}",
    ],
    ids="clip cover ground bar".split(),
)
def test_of_a_line_in_part_hidden_the_other_part_is_read(content: str, part: str) -> None:
    line = "Keep this part and total GBP 9240.00"
    kept = line[: line.index(part) + len(part)]
    edge = 60 + stringWidth(kept, "Helvetica", 12) - 0.5
    text = f"BT /F1 12 Tf 60 700 Td ({line}) Tj ET"
    document = read(page(content.format(wide=edge - 50, edge=edge, text=text)))
    assert document.text == f"Total GBP 240.00\n{kept.strip()}"
    assert sum(each.characters for each in document.partly_read) == len(line[len(kept) :].replace(" ", ""))


@pytest.mark.parametrize(
    ("before", "is_read"),
    [
        ("0 g", True),
        ("0.5 g", True),
        ("40 600 300 200 re W n", True),
        ("/G gs", False),
        ("1 g", False),
        ("3 Tr", False),
        ("300 100 200 30 re W n", False),
    ],
)
def test_letters_that_cannot_be_drawn_are_judged_by_their_paint(before: str, *, is_read: bool) -> None:
    text = f"q {before} BT /F1 12 Tf 60 700 Td (\\311\\311\\311\\311) Tj 0 -30 Td ({LINE} \\310) Tj ET Q"
    document = read(foreign(text, **states(ca=0.0)))
    assert ("\u4e00" * 4 in document.text, LINE in document.text) == (is_read, is_read)


@pytest.mark.parametrize("form", [TEXT, "1 g " + TEXT])
@pytest.mark.parametrize("many", ["0 0 m 1 0 l S ", "0 0 1 1 re f "])
def test_text_after_more_objects_than_are_kept_is_judged_too(many: str, form: str) -> None:
    document = read(in_form(f"{many * (MOST_OBJECTS + 1)} /X Do 1 g BT /F1 12 Tf 60 600 Td (Pay 8.50) Tj ET", form))
    assert (LINE in document.text, "8.50" in document.text) == (form is TEXT, False)


def test_invisible_text_of_pages_that_are_not_drawn_is_not_read() -> None:
    text = read(saved(new_pdf(*[(SEEN + INVISIBLE).encode()] * (MOST_DRAWN + 2)))).text
    assert (text.count("240.00"), text.count("9240")) == (MOST_DRAWN + 2, 0)


def test_hidden_text_of_a_recognized_page_stays_said() -> None:
    first = read(UNSEEN["white"])
    assert with_recognized(first, {1: read(page(""))}).partly_read == first.partly_read


def test_a_file_of_nothing_but_hidden_text_says_so() -> None:
    with pytest.raises(UnreadableDocument, match="26 characters are hidden"):
        read(saved(new_pdf(f"1 g {TEXT}".encode())))
