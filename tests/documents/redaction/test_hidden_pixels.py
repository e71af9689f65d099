"""What of an image no page shows is not in the redacted file; what is seen stays as it was (`hidden_pixels`)."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name
from PIL import Image, ImageDraw

from service.documents.redaction.hidden_pixels import HIDDEN_PIXELS
from service.documents.redaction.values import RedactedFile
from tests.support.drawn_sheets import noise
from tests.support.odd_pdfs import form_xobject, new_pdf, saved
from tests.support.redacted_pdfs import redacted, shown

NAME = "Jane Doe"
LINE = b"BT /F1 12 Tf 60 740 Td (Signed by Jane Doe today) Tj ET\n"
WIDE, HIGH = 400, 60
PAINT = b"q 200 0 0 30 100 300 cm /I Do Q\n"
Change = Callable[[pikepdf.Pdf, Any], None]


def gray(pdf: pikepdf.Pdf, picture: Image.Image, **more: Any) -> Any:
    """A picture in gray as an image."""
    made = pikepdf.Stream(pdf, b"")
    made.write(zlib.compress(picture.convert("L").tobytes()), filter=Name.FlateDecode)
    made.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=picture.width, Height=picture.height,
                           BitsPerComponent=8, ColorSpace=Name.DeviceGray, **more))  # fmt: skip
    return pdf.make_indirect(made)


def card() -> Image.Image:
    """Writing in black on white."""
    drawn = Image.new("L", (WIDE, HIGH), 255)
    ImageDraw.Draw(drawn).text((10, 10), "Maria Muster 0170 1234567", fill=0, font_size=30)
    return drawn


def photograph() -> Image.Image:
    """Noise that is neither black nor white."""
    return noise((200, 150), 30).point(lambda level: min(max(level, 90), 200))


def stencil(pdf: pikepdf.Pdf) -> Any:
    made = pikepdf.Stream(pdf, card().convert("1").tobytes())
    made.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=WIDE, Height=HIGH, ImageMask=True))
    return pdf.make_indirect(made)


def page_with(content: bytes, change: Change | None = None, *, image: Any = None) -> bytes:
    """A page that says the name, and paints `content`; `/I` is the writing, `/P` a photograph."""
    pdf = new_pdf(LINE + content)
    resources = pdf.pages[0].obj["/Resources"]
    written = gray(pdf, card()) if image is None else image(pdf)
    resources["/XObject"] = Dictionary(I=written, P=gray(pdf, photograph()))
    if change is not None:
        change(pdf, resources)
    return saved(pdf)


def states(**states: Any) -> Change:
    def change(_pdf: pikepdf.Pdf, resources: Any) -> None:
        resources["/ExtGState"] = Dictionary({f"/{name}": Dictionary(value) for name, value in states.items()})

    return change


def in_form(content: bytes = PAINT, **more: Any) -> Change:
    def change(pdf: pikepdf.Pdf, resources: Any) -> None:
        form = form_xobject(pdf, content)
        form.update(Dictionary(**more))
        form["/Resources"]["/XObject"] = Dictionary(I=resources["/XObject"]["/I"])
        resources["/XObject"]["/F"] = form

    return change


def cropped(_pdf: pikepdf.Pdf, resources: Any) -> None:
    _pdf.pages[0].obj["/CropBox"] = Array([0, 340, 600, 800])


def turned_and_cropped(pdf: pikepdf.Pdf, resources: Any) -> None:
    cropped(pdf, resources)
    pdf.pages[0].obj["/Rotate"] = 90


def masked_out(pdf: pikepdf.Pdf, resources: Any) -> None:
    group = form_xobject(pdf, b"0 g 0 0 600 800 re f", Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray))
    resources["/ExtGState"] = Dictionary(G=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=group)))


def in_mask(pdf: pikepdf.Pdf, resources: Any) -> None:
    group = form_xobject(pdf, PAINT, Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray))
    group["/Resources"]["/XObject"] = Dictionary(I=resources["/XObject"]["/I"])
    resources["/ExtGState"] = Dictionary(G=Dictionary(SMask=Dictionary(S=Name.Luminosity, G=group)))


def in_pattern(pdf: pikepdf.Pdf, resources: Any) -> None:
    cell = pikepdf.Stream(pdf, PAINT)
    cell.update(Dictionary(Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 600, 800]),
                           XStep=600, YStep=800, Resources=Dictionary(XObject=resources["/XObject"])))  # fmt: skip
    resources["/Pattern"] = Dictionary(P=pdf.make_indirect(cell))


def in_glyph(pdf: pikepdf.Pdf, resources: Any) -> None:
    glyph = pdf.make_indirect(pikepdf.Stream(pdf, b"600 0 d0 q 600 0 0 90 0 0 cm /I Do Q"))
    resources["/Font"]["/T3"] = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 600, 100]), CharProcs=Dictionary(a=glyph),
        FontMatrix=Array([0.01, 0, 0, 0.01, 0, 0]), FirstChar=65, LastChar=65, Widths=Array([600]),
        Encoding=Dictionary(Type=Name.Encoding, Differences=Array([65, Name.a])),
        Resources=Dictionary(XObject=resources["/XObject"]),
    )  # fmt: skip


def block_font(pdf: pikepdf.Pdf, resources: Any) -> None:
    in_glyph(pdf, resources)
    block = pikepdf.Stream(pdf, b"600 0 d0 0 0 600 100 re f")
    resources["/Font"]["/T3"]["/CharProcs"]["/a"] = pdf.make_indirect(block)


def annotated(pdf: pikepdf.Pdf, resources: Any) -> None:
    shape = form_xobject(pdf, b"q 200 0 0 30 0 0 cm /I Do Q 0.5 g 0 0 200 30 re f")
    shape["/BBox"] = Array([0, 0, 200, 30])
    shape["/Resources"]["/XObject"] = Dictionary(I=resources["/XObject"]["/I"])
    stamp = Dictionary(
        Type=Name.Annot, Subtype=Name.Stamp, Rect=Array([100, 300, 300, 330]), AP=Dictionary(N=shape), F=4
    )
    pdf.pages[0].obj["/Annots"] = Array([pdf.make_indirect(stamp)])
    del resources["/XObject"]["/I"]


def keyed_out(pdf: pikepdf.Pdf) -> Any:
    return gray(pdf, card(), Mask=Array([0, 254]))


INLINE = b"q 200 0 0 30 100 300 cm BI /W 400 /H 60 /BPC 8 /CS /G ID " + card().tobytes() + b" EI Q\n"
BAR = b" 90 290 220 50 re f 0 g\n"
HIDDEN: dict[str, Callable[[], bytes]] = {
    "below a white bar": lambda: page_with(PAINT + b"1 g" + BAR),
    "below a black bar": lambda: page_with(PAINT + b"0 g" + BAR),
    "below a bar of many parts": lambda: page_with(
        PAINT + b"0.4 g " + b" ".join(b"%d 290 21 50 re" % at for at in range(90, 310, 20)) + b" f 0 g\n"
    ),
    "below a wide line": lambda: page_with(PAINT + b"50 w 90 315 m 310 315 l S\n"),
    "below a photograph": lambda: page_with(PAINT + b"q 240 0 0 60 80 285 cm /P Do Q\n"),
    "below a shape of a font": lambda: page_with(PAINT + b"BT /T3 50 Tf 90 290 Td (A) Tj ET\n", block_font),
    "behind a clip": lambda: page_with(b"q 100 400 50 50 re W n " + PAINT + b"Q\n"),
    "behind a round clip": lambda: page_with(b"q 100 600 m 150 700 300 700 300 600 c W n " + PAINT + b"Q\n"),
    "outside a form": lambda: page_with(b"/F Do\n", in_form(BBox=Array([0, 400, 600, 800]))),
    "outside the crop box": lambda: page_with(PAINT, cropped),
    "outside a turned crop box": lambda: page_with(PAINT, turned_and_cropped),
    "beside the page": lambda: page_with(b"q 200 0 0 30 700 300 cm /I Do Q\n"),
    "far beside the page": lambda: page_with(b"q 200 0 0 30 -9000 300 cm /I Do Q\n"),
    "without opacity": lambda: page_with(b"q /G gs " + PAINT + b"Q\n", states(G={"/ca": 0})),
    "with little opacity": lambda: page_with(b"q /G gs " + PAINT + b"Q\n", states(G={"/ca": 0.01})),
    "below a soft mask": lambda: page_with(b"q /G gs " + PAINT + b"Q\n", masked_out),
    "darkening black": lambda: page_with(
        BAR + b"q /G gs " + PAINT + b"Q\n", states(G={"/BM": Name.Darken})),
    "lightening white": lambda: page_with(b"1 g" + BAR + b"q /G gs " + PAINT + b"Q\n", states(G={"/BM": Name.Lighten})),
    "drawn to a point": lambda: page_with(b"q 0.5 0 0 0.5 100 300 cm /I Do Q\n"),
    "drawn to a line": lambda: page_with(b"q 200 0 0 0.2 100 300 cm /I Do Q\n"),
    "drawn to nothing": lambda: page_with(b"q 0 0 0 0 100 300 cm /I Do Q\n"),
    "never painted": lambda: page_with(b""),
    "in a form that is never painted": lambda: page_with(b"", in_form()),
    "between operators": lambda: page_with(INLINE + b"1 g" + BAR),
    "between operators of a form": lambda: page_with(b"/F Do 1 g" + BAR, in_form(INLINE)),
    "an image mask below a bar": lambda: page_with(PAINT + b"1 g" + BAR, image=stencil),
    "an image mask in white": lambda: page_with(b"1 g " + PAINT + b" 0 g\n", image=stencil),
    "colours that are left out": lambda: page_with(PAINT, image=keyed_out),
    "a pattern that is never painted": lambda: page_with(b"", in_pattern),
    "a pattern's other part": lambda: page_with(b"/Pattern cs /P scn 0 500 600 100 re f\n", in_pattern),
    "a pattern below a bar": lambda: page_with(b"/Pattern cs /P scn 0 0 600 600 re f 1 g" + BAR, in_pattern),
    "a soft mask of nothing": lambda: page_with(b"q /G gs 0.5 g 0 500 600 100 re f Q\n", in_mask),
    "a glyph that is never shown": lambda: page_with(b"", in_glyph),
    "a glyph below a bar": lambda: page_with(b"BT /T3 30 Tf 100 300 Td (A) Tj ET 1 g" + BAR, in_glyph),
    "an annotation": lambda: page_with(b"", annotated),
}  # fmt: skip


def pictures(data: bytes) -> list[Any]:
    """The images of a file as they are stored, without their masks; and the masks."""
    found = []
    with pikepdf.open(io.BytesIO(data)) as pdf:
        streams = [each for each in pdf.objects if isinstance(each, pikepdf.Stream)]
        for each in streams:
            if each.get("/Subtype") == Name.Image:
                for mask in ("/SMask", "/Mask"):
                    if mask in each:
                        del each[mask]
                found.append(np.array(pikepdf.PdfImage(each).as_pil_image().convert("L")).astype(int))
        assert not any(b"BI /W" in each.read_bytes() for each in streams if each.get("/Subtype") != Name.Image)
    return found


def difference(first: bytes, second: bytes) -> int:
    """The most by which two pages, also turned ones, differ beside their line of text, of 255."""
    return int(np.abs(shown(first)[160:, :-160].astype(int) - shown(second)[160:, :-160]).max())


def methods(made: RedactedFile) -> set[str]:
    return {page.method for page in made.pages}


@pytest.mark.parametrize("how", HIDDEN)
def test_writing_in_an_image_goes_that_is(how: str) -> None:
    data = HIDDEN[how]()
    made = redacted(data, NAME, allow_unread=True)
    assert methods(made) == {"rewritten"}
    assert difference(data, made.data) < 16
    for each in pictures(made.data):
        assert not ((each < 60).any() and (each > 230).any()), each.shape


PARTS: dict[str, tuple[bytes, Change | None]] = {
    "bar": (PAINT + b"1 g 100 290 100 50 re f 0 g\n", None),
    "clip": (b"q 200 290 200 50 re W n " + PAINT + b"Q\n", None),
    "form": (b"/F Do\n", in_form(BBox=Array([200, 0, 600, 800]))),
}  # fmt: skip


@pytest.mark.parametrize("how", PARTS)
def test_the_seen_half_of_an_image_stays_and_the_other_goes(how: str) -> None:
    content, change = PARTS[how]
    data = page_with(content, change)
    made = redacted(data, NAME, allow_unread=True)
    assert HIDDEN_PIXELS in made.removed
    assert difference(data, made.data) < 16
    (left,) = (each for each in pictures(made.data) if each.shape == (HIGH, WIDE))
    before = np.array(card()).astype(int)
    assert np.array_equal(left[:, WIDE // 2 + 4 :], before[:, WIDE // 2 + 4 :])
    assert (left[:, : WIDE // 2 - 4] == 255).all()


def test_an_image_painted_twice_keeps_what_is_seen_at_either_place() -> None:
    there = b"q 200 0 0 30 100 200 cm /I Do Q\n"
    bars = b"1 g 100 290 100 50 re f 200 190 100 50 re f 0 g\n"
    made = redacted(page_with(PAINT + there + bars), NAME, allow_unread=True)
    assert HIDDEN_PIXELS not in made.removed
    assert any(np.array_equal(each, np.array(card())) for each in pictures(made.data))


SEEN: dict[str, tuple[bytes, Change | None]] = {
    "alone": (b"q 200 0 0 150 100 300 cm /P Do Q\n", None),
    "turned": (b"q 140 140 -100 100 300 300 cm /P Do Q\n", None),
    "mirrored": (b"q -200 0 0 150 400 300 cm /P Do Q\n", None),
    "in a form": (b"/F Do\n", in_form(b"q 200 0 0 150 100 300 cm /I Do Q\n")),
    "in a clip that fits": (b"q 100 300 200 150 re W n 200 0 0 150 100 300 cm /P Do Q\n", None),
    "behind text": (b"q 200 0 0 150 100 300 cm /P Do Q\n0 g BT /F1 14 Tf 110 350 Td (Summer holidays) Tj ET\n", None),
    "behind lines": (b"q 200 0 0 150 100 300 cm /P Do Q 1 w 90 340 m 320 340 l S 90 360 m 320 360 l S\n", None),
    "with half opacity": (b"q /G gs 200 0 0 150 100 300 cm /P Do Q\n", states(G={"/ca": 0.5})),
    "with a colour's hue": (
        b"1 0 0 rg 90 290 220 170 re f q /G gs 200 0 0 150 100 300 cm /P Do Q\n", states(G={"/BM": Name.Luminosity})),
    "at the page's edges": (b"q 602 0 0 700 -1 -1 cm /P Do Q\n", None),
    "in strips that touch": (b"q 200 0 0 75 100 300 cm /P Do Q q 200 0 0 75 100 375 cm /P Do Q\n", None),
}  # fmt: skip


@pytest.mark.parametrize("how", SEEN)
def test_a_photograph_stays_exactly_as_it_is(how: str) -> None:
    content, change = SEEN[how]

    def both(pdf: pikepdf.Pdf, resources: Any) -> None:
        resources["/XObject"]["/I"] = resources["/XObject"]["/P"]
        if change is not None:
            change(pdf, resources)

    content = content.replace(b"/P Do", b"/I Do")
    noise = photograph()
    data = page_with(content, both, image=lambda pdf: gray(pdf, noise))
    with pikepdf.open(io.BytesIO(data)) as pdf:
        before = [each.read_bytes() for each in pdf.objects if isinstance(each, pikepdf.Stream) and "/Width" in each]
    made = redacted(data, NAME, allow_unread=True)
    with pikepdf.open(io.BytesIO(made.data)) as pdf:
        after = [each.read_bytes() for each in pdf.objects if isinstance(each, pikepdf.Stream) and "/Width" in each]
    assert set(after) <= set(before)
    assert len(after) == 1
    assert HIDDEN_PIXELS not in made.removed


def test_what_a_pattern_shows_is_laid_over_the_page_as_a_picture() -> None:
    data = page_with(b"/Pattern cs /P scn 100 290 100 50 re f\n", in_pattern)
    made = redacted(data, NAME)
    before, after = (shown(each)[160:].reshape(72, 20, 60, 20, 3).mean(axis=(1, 3)) for each in (data, made.data))
    assert before.min() < 200
    assert abs(before - after).max() < 20
    assert methods(made) == {"rewritten"}
    assert max(each.shape[1] for each in pictures(made.data)) < WIDE


def test_letters_that_clip_are_not_taken_away_from_what_they_hide() -> None:
    data = page_with(b"q BT /F1 9 Tf 7 Tr 400 100 Td (o) Tj ET " + PAINT + b"Q\n")
    made = redacted(data, NAME)
    assert methods(made) == {"rasterized"}
    assert difference(data, made.data) < 16


def test_a_page_of_text_has_no_work_to_do() -> None:
    made = redacted(saved(new_pdf(LINE)), NAME)
    assert HIDDEN_PIXELS not in made.removed
