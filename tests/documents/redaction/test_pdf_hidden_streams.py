"""Words go from what a page paints without showing it as text, and from beside its visible part."""

from __future__ import annotations

import io
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from tests.support.odd_pdfs import form_xobject, helvetica, new_pdf, saved
from tests.support.redacted_pdfs import left_of, redacted, shown

NAME = "Jane Doe"
LINE = b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET\n"


def hexed(text: str) -> bytes:
    return b"BT /F1 12 Tf 10 20 Td <%s> Tj ET" % text.encode().hex().encode()


def kerned(text: str) -> bytes:
    return b"BT /F1 12 Tf 10 20 Td [%s] TJ ET" % b" 9 ".join(b"(%c)" % each for each in text.encode())


def with_pattern(content: bytes) -> bytes:
    file = new_pdf(LINE + b"/Pattern cs /P scn 0 0 600 400 re f\n")
    fonts = Dictionary(Font=Dictionary(F1=file.make_indirect(helvetica())))
    tile = pikepdf.Stream(file, content)
    tile.update(Dictionary(Type=Name.Pattern, PatternType=1, PaintType=1, TilingType=1, BBox=Array([0, 0, 200, 60]),
                           XStep=200, YStep=60, Resources=fonts))  # fmt: skip
    file.pages[0].obj["/Resources"]["/Pattern"] = Dictionary(P=file.make_indirect(tile))
    return saved(file)


def with_mask(content: bytes) -> bytes:
    file = new_pdf(LINE + b"/G gs 0 0 600 400 re f\n")
    group = form_xobject(file, b"1 g " + content, Group=Dictionary(S=Name.Transparency, CS=Name.DeviceGray))
    state = Dictionary(SMask=Dictionary(S=Name.Luminosity, G=group))
    file.pages[0].obj["/Resources"]["/ExtGState"] = Dictionary(G=state)
    return saved(file)


def with_glyph(content: bytes) -> bytes:
    file = new_pdf(LINE + b"BT /T3 12 Tf 60 300 Td (A) Tj ET\n")
    fonts = Dictionary(Font=Dictionary(F1=file.make_indirect(helvetica())))
    glyph = file.make_indirect(pikepdf.Stream(file, b"3000 0 d0 " + content))
    font = Dictionary(
        Type=Name.Font, Subtype=Name.Type3, FontBBox=Array([0, 0, 600, 100]),
        FontMatrix=Array([0.01, 0, 0, 0.01, 0, 0]),
        CharProcs=Dictionary(a=glyph), Encoding=Dictionary(Type=Name.Encoding, Differences=Array([65, Name.a])),
        FirstChar=65, LastChar=65, Widths=Array([3000]), Resources=fonts,
    )  # fmt: skip
    file.pages[0].obj["/Resources"]["/Font"]["/T3"] = file.make_indirect(font)
    return saved(file)


KINDS = {"pattern": with_pattern, "mask": with_mask, "glyph": with_glyph}


def test_a_form_within_a_pattern_leaves_the_file() -> None:
    with pikepdf.open(io.BytesIO(with_pattern(b"/F Do"))) as file:
        pattern = file.pages[0].obj["/Resources"]["/Pattern"]["/P"]
        pattern.Resources.XObject = Dictionary(F=form_xobject(file, hexed(f"For {NAME}")))
        data = saved(file)
    with pikepdf.open(io.BytesIO(redacted(data, NAME).data)) as file:
        streams = [each.read_bytes() for each in file.objects if isinstance(each, pikepdf.Stream)]
    assert not [each for each in streams if NAME.encode().hex().encode() in each]


@pytest.mark.parametrize("write", [hexed, kerned])
@pytest.mark.parametrize("words", ["For Jane Doe", "jane_doe", "JaneDoe copy"])
@pytest.mark.parametrize("kind", KINDS)
def test_words_painted_as_patterns_masks_or_glyphs_go(kind: str, words: str, write: Any) -> None:
    data = KINDS[kind](write(words))
    before, after = shown(data)[800:], shown(redacted(data, NAME).data)[800:]
    assert len(set(before.reshape(-1).tolist())) > 1, "nothing shows to begin with"
    assert len(set(after.reshape(-1).tolist())) == 1


@pytest.mark.parametrize("content", [hexed("DRAFT"), kerned("Janet Doll"), b"0 0 20 20 re f"])
@pytest.mark.parametrize("kind", KINDS)
def test_other_patterns_masks_and_glyphs_stay(kind: str, content: bytes) -> None:
    data = KINDS[kind](content)
    made = redacted(data, NAME)
    assert not set(made.removed) & {"Pattern", "SMask", "CharProcs"}
    assert (shown(data)[800:] == shown(made.data)[800:]).all()


@pytest.mark.parametrize(("x", "y"), [(60, 20), (60, 780), (-300, 500), (60, -200), (30_000, 500)])
def test_what_is_written_beside_the_visible_part_goes(x: int, y: int) -> None:
    hidden = b"BT /F1 12 Tf %d %d Td (Call Maria, 0170 1234567) Tj ET\n" % (x, y)
    file = new_pdf(LINE + hidden, b"BT /F1 12 Tf 60 400 Td (Another page) Tj ET " + hidden)
    for page in file.pages:
        page.obj["/CropBox"] = Array([0, 100, 600, 750])
    made = redacted(saved(file), NAME)
    assert left_of(made.data, NAME, "Maria", "1234567") == {}
    assert {each.method for each in made.pages} == {"rewritten"}
    assert left_of(made.data, "today", "Another page").keys() >= {"pdfium", "pdftotext"}
