"""Draws one page of a PDF as a PNG, whose pixels lie where the boxes of its characters say, or as a model reads it.

The picture is bounded whatever the page claims to be: no side, and no area, grows beyond what is given here.
"""

from __future__ import annotations

import io
import math
from typing import Any

import pypdfium2.raw as pdfium
from PIL import Image

from service.core.errors import InvalidOptions
from service.documents.document import MOST_PIXELS, MOST_WIDTH, PagePicture, PictureRequest
from service.documents.limits import DocumentLimits
from service.documents.pdf.drawing import SHOWN, drawn, in_fewest_components
from service.documents.pdf.reader import loaded_page, opened_pdf

MOST_SIDE = 16_000
"""Longest side in pixels, for a page that is a thin strip."""
TIMES_LARGER = 4
"""Ratio of a drawing's width to the side of the square that is made of it."""
_COMPRESSION = 3
"""zlib's level: at its default of 6 a page takes twice as long, and is a tenth smaller."""


def draw_page(data: bytes, wanted: PictureRequest, *, limits: DocumentLimits) -> PagePicture:
    """Draw a page of a PDF file.

    Raises:
        UnreadableDocument: encrypted or damaged.
        DocumentTooLarge: too many bytes or pages.
        InvalidOptions: there is no such page.
    """
    limits.check_bytes(len(data))
    with opened_pdf(data) as document:
        pages = len(document)
        limits.check_pages(pages)
        if not 1 <= wanted.page <= pages:
            raise InvalidOptions(f"There is no page {wanted.page}; the file has {pages}.")
        with loaded_page(document, wanted.page) as page:
            across, down = float(pdfium.FPDF_GetPageWidthF(page)), float(pdfium.FPDF_GetPageHeightF(page))
            if wanted.resample is None:
                content = _png(page, *picture_size(across, down, wanted.width))
            else:
                pixels = drawn(page, picture_size(across, down, TIMES_LARGER * wanted.width), flags=SHOWN)
                content = squared(Image.fromarray(pixels), wanted)
            return PagePicture(content, across, down, pages)


def squared(picture: Image.Image, wanted: PictureRequest) -> bytes:
    """Resize a picture to the requested square, whatever its sides are, and return its pixels."""
    assert wanted.resample is not None, "a square is wanted"
    side = wanted.width
    return picture.convert("RGB").resize((side, side), Image.Resampling(wanted.resample)).tobytes()


def picture_size(across: float, down: float, width: int) -> tuple[int, int]:
    """The pixels (wide, high) of a page of so many points: as wide as wanted, unless that would be too large."""
    across, down = max(across, 1.0), max(down, 1.0)
    wide = max(min(width, MOST_WIDTH), 1)
    scale = min(wide / across, math.sqrt(MOST_PIXELS / (across * down)), MOST_SIDE / down)
    return max(int(across * scale), 1), max(int(down * scale), 1)


def _png(page: Any, wide: int, high: int) -> bytes:
    pixels = drawn(page, (wide, high), flags=SHOWN)
    file = io.BytesIO()
    Image.fromarray(in_fewest_components(pixels)).save(file, "PNG", compress_level=_COMPRESSION)
    return file.getvalue()
