"""Pictures on pages of text: what they say goes from their pixels, what cannot be read is refused, all else stays."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pikepdf
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.utils import ImageReader

from service.core.errors import UnredactableDocument
from service.documents.document import Document, UnreadReason
from service.documents.redaction.values import RedactedFile
from tests.support.document_files import drawn
from tests.support.drawn_sheets import noise
from tests.support.odd_pdfs import saved
from tests.support.scans import InProcessPool, redacted_scan

NAME, NUMBER = "Katrin Morgenstern", "RE-2026-118"
TYPED = f"Order {NUMBER} of {NAME}, which is paid"
Place = tuple[float, float, float, float]
"""Left, bottom, width, height in points."""


def slip(*lines: str, ink: Any = "black", paper: Any = "white", size: tuple[int, int] = (800, 200)) -> Image.Image:
    picture = Image.new("RGB", size, paper)
    for row, line in enumerate(lines):
        ImageDraw.Draw(picture).text((20, 15 + 55 * row), line, fill=ink, font=ImageFont.load_default(40))
    return picture


def signature() -> Image.Image:
    picture = Image.new("RGB", (600, 200), "white")
    points = [(20 + 12 * step, 100 + 70 * math.sin(step * step)) for step in range(45)]
    ImageDraw.Draw(picture).line(points, fill="navy", width=5)
    return picture


def photograph() -> Image.Image:
    grains = noise((60, 40), 90).resize((480, 320), Image.Resampling.BICUBIC)
    return Image.merge("RGB", (grains, grains.filter(ImageFilter.GaussianBlur(9)), grains))


def shapes() -> Image.Image:
    picture = Image.new("RGB", (240, 240), "white")
    pen = ImageDraw.Draw(picture)
    pen.ellipse((10, 10, 230, 230), fill="firebrick")
    pen.polygon([(120, 40), (200, 180), (40, 180)], fill="white")
    return picture


def code() -> Image.Image:
    squares = np.random.default_rng(5).random((25, 25)) < 0.5
    return Image.fromarray(np.kron(squares, np.ones((10, 10))).astype(np.uint8) * 255)


def chart() -> Image.Image:
    picture = Image.new("RGB", (800, 400), "white")
    pen, random = ImageDraw.Draw(picture), np.random.default_rng(4)
    for colour in ("red", "blue", "green"):
        heights = 200 + np.cumsum(random.normal(0, 14, 30))
        pen.line([(20 + 26 * at, float(height)) for at, height in enumerate(heights)], fill=colour, width=5)
    return picture


def page(*pictures: tuple[Image.Image, Place], in_form: bool = False, turned: int = 0) -> bytes:
    def draw(canvas: Any) -> None:
        canvas.drawString(60, 700, TYPED)
        if in_form:
            canvas.beginForm("pictures")
        for picture, place in pictures:
            canvas.drawImage(ImageReader(picture), *place, mask="auto" if picture.mode == "RGBA" else None)
        if in_form:
            canvas.endForm()
            canvas.doForm("pictures")
        for row in range(8):
            canvas.drawString(60, 300 - 14 * row, "A line of a letter that says nothing in particular")

    if not turned:
        return drawn(draw)
    with pikepdf.open(io.BytesIO(drawn(draw))) as pdf:
        pdf.pages[0].rotate(turned, relative=False)
        return saved(pdf)


def on_the_page(picture: Image.Image, **options: Any) -> bytes:
    return page((picture, (60, 450, picture.width / 4, picture.height / 4)), **options)


def transparent() -> Image.Image:
    """Letters that are the opacity of a black picture."""
    letters = slip(f"{NAME} signed").convert("L").point(lambda level: 255 - level)
    picture = Image.new("RGBA", letters.size, "black")
    picture.putalpha(letters)
    return picture


SLIP = slip(f"Paid to {NAME}", "for the lens cloth", f"see {NUMBER}")
PICTURES: dict[str, bytes] = {
    "slip": on_the_page(SLIP),
    "one small line": page((slip(NAME, size=(400, 80)), (60, 450, 60, 12))),
    "on its side": on_the_page(SLIP.rotate(90, expand=True)),
    "upside down": on_the_page(SLIP.rotate(180)),
    "white on blue": on_the_page(slip(f"Paid to {NAME}", ink="white", paper="navy")),
    "gray on gray": on_the_page(slip(f"Paid to {NAME}", ink=(90,) * 3, paper=(200,) * 3)),
    "pale": on_the_page(slip(f"Paid to {NAME}", ink=(180,) * 3, paper=(238,) * 3)),
    "red on green of the same gray": on_the_page(slip(f"Paid to {NAME}", ink=(200, 0, 0), paper=(0, 102, 0))),
    "in a form": on_the_page(SLIP, in_form=True),
    "on a turned page": on_the_page(SLIP, turned=90),
    "in the head": page((slip(NAME, size=(800, 80)), (60, 760, 200, 20))),
    "beside a photograph": page((photograph(), (300, 450, 120, 80)), (SLIP, (60, 450, 200, 50))),
}


def redacted(data: bytes, *texts: str, **options: Any) -> tuple[Document, RedactedFile]:
    return redacted_scan(data, *texts, pool=InProcessPool(), **options)


@pytest.mark.parametrize("name", PICTURES)
def test_what_a_picture_says_is_read_and_goes_from_its_pixels(name: str) -> None:
    document, made = redacted(PICTURES[name], NAME, NUMBER)
    assert document.text.count(NAME) == 2, document.text
    assert [(each.number, each.method) for each in made.pages] == [(1, "painted")]
    again, _ = redacted(made.data, "nothing that is there", allow_unread=True)
    assert not {*NAME.split(), NUMBER} & set(again.text.split()), again.text
    assert "A line of a letter" in again.text


def test_letters_that_are_the_opacity_of_a_picture_go() -> None:
    document, made = redacted(on_the_page(transparent()), NAME)
    assert document.text.count(NAME) == 2, document.text
    assert [each.number for each in made.pages] == [1]
    again, _ = redacted(made.data, "nothing that is there", allow_unread=True)
    assert not {*NAME.split()} & set(again.text.split()), again.text


@pytest.mark.parametrize("picture", [photograph, shapes, code, chart])
def test_pictures_without_writing_stay_as_they_are(picture: Any) -> None:
    before = picture()
    document, made = redacted(on_the_page(before), NAME)
    assert [(each.number, each.method) for each in made.pages] == [(1, "rewritten")]
    assert (document.incomplete_pages, len(document.recognized)) == ((), 1)
    with pikepdf.open(io.BytesIO(made.data)) as pdf:
        (image,) = (each for each in pdf.objects if isinstance(each, pikepdf.Stream) and "/Width" in each)
        assert np.array_equal(np.asarray(pikepdf.PdfImage(image).as_pil_image().convert("RGB")), before.convert("RGB"))


def test_a_signature_is_refused_unless_it_may_stay() -> None:
    data = on_the_page(signature())
    with pytest.raises(UnredactableDocument, match="Pages 1 hold writing"):
        redacted(data, NAME)
    document, made = redacted(data, NAME, allow_unread=True)
    assert [(part.page, part.reason) for part in document.partly_read] == [(1, UnreadReason.IMAGE)]
    assert [each.method for each in made.pages] == ["rewritten"]


def test_without_recognition_what_looks_written_on_is_refused() -> None:
    with pytest.raises(UnredactableDocument, match="Pages 1 hold writing"):
        redacted(PICTURES["slip"], NAME, is_available=False)
    _, made = redacted(on_the_page(photograph()), NAME, is_available=False)
    assert [each.method for each in made.pages] == ["rewritten"]


def test_pages_that_show_the_same_picture_are_painted_each() -> None:
    def draw(canvas: Any) -> None:
        for number in range(3):
            canvas.drawString(60, 700, f"Page {number} says nothing")
            canvas.drawImage(ImageReader(SLIP), 60, 450, 200, 50)
            canvas.showPage()

    pool = InProcessPool()
    document, made = redacted_scan(drawn(draw), NAME, pool=pool)
    assert (document.text.count(NAME), [each.page for each in document.recognized]) == (3, [1, 2, 3])
    assert [(each.number, each.method) for each in made.pages] == [(number, "painted") for number in (1, 2, 3)]


class Careless(InProcessPool):
    """Parsers that paint nothing."""

    async def redact(self, data: bytes, *args: Any, **options: Any) -> RedactedFile:
        made = await super().redact(data, *args, **options)
        return RedactedFile(data, made.pages)


def test_a_picture_that_still_says_what_is_to_go_is_refused() -> None:
    with pytest.raises(UnredactableDocument, match="still read on pages 1"):
        redacted_scan(PICTURES["slip"], NAME, pool=Careless())
