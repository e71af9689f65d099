"""What stands beside a PDF's pages goes too: titles, actions, what images say, in any spelling."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, String
from PIL import Image

from service.core.errors import UnredactableDocument
from service.core.redaction import Repeats
from tests.support.odd_pdfs import form_xobject, new_pdf, saved
from tests.support.redacted_pdfs import readings, redacted, shown

NAME = "Jane Doe"


def outlined(*titles: str, action: Any = None) -> bytes:
    """A page with an outline; `action`: of each of its items, made by what is given its page."""
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    with file.open_outline() as outline:
        outline.root.extend(pikepdf.OutlineItem(title, 0) for title in titles)
    item = file.Root["/Outlines"]["/First"]
    if action is not None:
        del item["/Dest"]
        item["/A"] = action(file.pages[0].obj)
    return saved(file)


@pytest.mark.parametrize(
    "title", ["Letter_Jane_Doe_2026.docx", "JaneDoe", "jane-doe", "Jane\u200bDoe", "Ja\u00adne.Doe"]
)
def test_titles_go_in_any_spelling(title: str) -> None:
    made = redacted(outlined(title, "Janet Dole"), NAME)
    raw = readings(made.data)["raw"]
    assert title not in raw
    assert "Janet Dole" in raw
    assert not Repeats((NAME,)).are_named_in(raw)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_chained_actions_go_at_any_depth(depth: int) -> None:
    def action(page: Any) -> Dictionary:
        chain = Dictionary(S=Name.JavaScript, JS=String("app.alert(1)"), Next=Dictionary(S=Name.URI, URI=String("x:y")))
        for _ in range(depth):
            chain = Dictionary(S=Name.GoTo, D=Array([page, Name.Fit]), Next=chain)
        return chain

    raw = readings(redacted(outlined("Start", action=action), NAME).data)["raw"]
    assert "app.alert" not in raw
    assert "x:y" not in raw
    assert "Start" in raw


@pytest.mark.parametrize("key", ["/Jane Doe", "/sec_jane_doe"])
def test_keys_of_old_destinations_go(key: str) -> None:
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    place = Array([file.pages[0].obj, Name.Fit])
    file.Root["/Dests"] = Dictionary({key: place, "/Intro": place})
    with pikepdf.open(io.BytesIO(redacted(saved(file), NAME).data)) as after:
        assert list(after.Root["/Dests"].keys()) == ["/Intro"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["comment", "exif"])
def test_what_images_say_beside_the_picture_goes(kind: str, packed: bool) -> None:
    exif = Image.Exif()
    exif[0x013B] = "Photographed by Somebody"
    more: Any = {"comment": b"Photographed by Somebody"} if kind == "comment" else {"exif": exif}
    written = io.BytesIO()
    Image.new("RGB", (20, 20), (10, 200, 30)).save(written, "JPEG", **more)
    file = new_pdf(b"BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET q 20 0 0 20 400 100 cm /Im Do Q")
    made = pikepdf.Stream(file, zlib.compress(written.getvalue()) if packed else written.getvalue())
    filters = Array([Name.FlateDecode, Name.DCTDecode]) if packed else Name.DCTDecode
    made.update(Dictionary(Type=Name.XObject, Subtype=Name.Image, Width=20, Height=20, ColorSpace=Name.DeviceRGB,
                           BitsPerComponent=8, Filter=filters))  # fmt: skip
    other = pikepdf.Stream(file, b"Jane Doe", Subtype=Name.Image, Width=1, Height=1)
    made["/Alternates"] = Array([Dictionary(Image=file.make_indirect(other))])
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(Im=file.make_indirect(made))
    data = saved(file)
    after = redacted(data, NAME)
    assert b"Somebody" not in after.data
    with pikepdf.open(io.BytesIO(after.data)) as pdf_after:
        image = pdf_after.pages[0].resources["/XObject"]["/Im"]
        assert b"Somebody" not in image.read_raw_bytes()
        assert "/Alternates" not in image
    assert np.array_equal(shown(data)[1300:], shown(after.data)[1300:])


@pytest.mark.parametrize("key", ["/Length1", "/N", "/FunctionType"])
def test_a_stream_is_looked_at_whatever_it_says_it_is(key: str) -> None:
    file = new_pdf(b"/X Do BT /F1 12 Tf 60 700 Td (Signed by Jane Doe today) Tj ET")
    form = form_xobject(file, b"% Jane Doe\nq Q")
    form[key] = 2
    file.pages[0].obj["/Resources"]["/XObject"] = Dictionary(X=form)
    try:
        made = redacted(saved(file), NAME)
    except UnredactableDocument:
        return
    assert b"Jane Doe" not in b"".join(each.read_bytes() for each in streams(made.data))


def streams(data: bytes) -> list[Any]:
    return [each for each in pikepdf.open(io.BytesIO(data)).objects if isinstance(each, pikepdf.Stream)]


@pytest.mark.parametrize("word", ["Page", "Font", "Type", "Catalog", "ObjStm", "Helvetica"])
def test_words_that_a_pdf_is_written_with_go_as_any_other(word: str) -> None:
    made = redacted(saved(new_pdf(b"BT /F1 12 Tf 60 700 Td (See %s here) Tj ET\n" % word.encode())), word)
    assert [page.method for page in made.pages] == ["rewritten"]
    assert word not in readings(made.data)["pdftotext"]
