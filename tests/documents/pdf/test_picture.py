"""A page's picture: as large as wanted and no larger, and its ink lies where the reader's boxes say."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from service.core.errors import DocumentTooLarge, InvalidOptions, UnreadableDocument
from service.documents.document import MOST_PIXELS, MOST_PNG_BYTES, MOST_WIDTH, PagePicture, PictureRequest
from service.documents.limits import DocumentLimits
from service.documents.pdf.picture import MOST_SIDE, draw_page, picture_size
from service.documents.pdf.reader import read_pdf
from tests.support.document_files import PAGE_HEIGHT, PAGE_WIDTH, drawn, pdf

LIMITS = DocumentLimits()
DARK = 128


def picture(data: bytes, page: int = 1, width: int = 1_200) -> PagePicture:
    return draw_page(data, PictureRequest(page, width), limits=LIMITS)


def pixels(drawn: PagePicture) -> np.ndarray:
    assert len(drawn.content) < MOST_PNG_BYTES
    return np.asarray(Image.open(io.BytesIO(drawn.content)).convert("L"))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_ink_lies_in_the_boxes_that_the_reader_gives_and_nowhere_else(rotation: int) -> None:
    data = pdf([(80, 120, "Invoice INV-20931"), (300, 500, "Total EUR 1,200.00")], rotation=rotation, font_size=14)
    document = read_pdf(data, limits=LIMITS)
    shown = picture(data)
    ink = pixels(shown) < DARK
    scale = ink.shape[1] / shown.width_points
    words = () if rotation == 180 else ("INV-20931", "EUR 1,200.00")  # Upside down it reads as other words.
    for word in words:
        start = document.text.index(word)
        ((left, top, right, bottom),) = document.boxes(start, start + len(word))
        inside = ink[round(top * scale) : round(bottom * scale), round(left * scale) : round(right * scale)]
        assert 0.05 < inside.mean() < 0.9, word
    for box in document.boxes(0, len(document.text)):
        left, top, right, bottom = (int((side + room) * scale) for side, room in zip(box, (-1, -1, 2, 2), strict=True))
        ink[top:bottom, left:right] = False
    assert not ink.any(), "there is ink outside the boxes"


def test_a_model_reads_a_page_as_a_square_of_it() -> None:
    def half(canvas: object) -> None:
        canvas.setFillColorRGB(0, 0, 1)  # type: ignore[attr-defined]
        canvas.rect(0, PAGE_HEIGHT / 2, PAGE_WIDTH, PAGE_HEIGHT / 2, stroke=0, fill=1)  # type: ignore[attr-defined]

    square = draw_page(drawn(half), PictureRequest(1, 32, resample=2), limits=LIMITS)
    shown = np.frombuffer(square.content, np.uint8).reshape(32, 32, 3)
    assert (shown[:14] == (0, 0, 255)).all()
    assert (shown[18:] == 255).all()


def test_a_page_in_colours_keeps_them_and_one_in_greys_is_smaller() -> None:
    def coloured(canvas: object) -> None:
        canvas.setFillColorRGB(1, 0, 0)  # type: ignore[attr-defined]
        canvas.rect(0, 0, PAGE_WIDTH, PAGE_HEIGHT, fill=1)  # type: ignore[attr-defined]

    image = Image.open(io.BytesIO(picture(drawn(coloured)).content))
    assert image.mode == "RGB"
    assert image.getpixel((10, 10)) == (255, 0, 0)
    assert Image.open(io.BytesIO(picture(pdf([(80, 120, "a")])).content)).mode == "L"


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(0, 100_000))
def test_no_page_makes_a_picture_too_large(across: float, down: float, width: int) -> None:
    wide, high = picture_size(across, down, width)
    assert 1 <= wide <= MOST_WIDTH
    assert 1 <= high <= MOST_SIDE
    assert wide * high <= MOST_PIXELS + MOST_SIDE + MOST_WIDTH


@pytest.mark.parametrize("page", [0, 2, 10**9])
def test_a_page_that_is_not_there_is_named(page: int) -> None:
    with pytest.raises(InvalidOptions, match=f"no page {page}; the file has 1"):
        picture(pdf([(80, 120, "a")]), page=page)


def test_what_is_no_pdf_or_too_large_is_refused() -> None:
    with pytest.raises(UnreadableDocument):
        picture(b"%PDF-1.4 nothing")
    with pytest.raises(UnreadableDocument, match="password"):
        picture(pdf([(80, 120, "a")], password="x"))
    with pytest.raises(DocumentTooLarge, match="pages"):
        draw_page(pdf(*[[(80, 120, "a")]] * 3), PictureRequest(1, 100), limits=DocumentLimits(max_pages=2))
