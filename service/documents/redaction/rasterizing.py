"""A page as a picture of itself, for one that is a picture or cannot be rewritten: nothing of its content stays."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pikepdf
import pypdfium2
from pikepdf import Array, Dictionary, Name
from PIL import Image

from service.documents.document import Box
from service.documents.pdf.drawing import SHOWN, Pixels, drawn, in_fewest_components
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.page_objects import painted_objects
from service.documents.pdf.page_pictures import picture_dpi
from service.documents.pdf.reader import loaded_page
from service.documents.redaction.bare_images import new_image
from service.documents.redaction.geometry import Rectangle
from service.documents.redaction.painting import paint

DOTS_PER_POINT = 200 / 72
MOST_DOTS = 12_000_000
MOST_SCAN_DPI, MOST_SCAN_DOTS = 600, 40_000_000
"""Most dots an inch of a scan, and most dots; an A4 sheet with 600 dots an inch has 35 million."""
_MARGIN = 1.0
"""Points around a box that are painted over too, as letters may hang over their boxes."""
_QUALITY = 85


def paint_page(pdf: pikepdf.Pdf, number: int, document: pypdfium2.PdfDocument, boxes: Sequence[Rectangle]) -> None:
    """Put in place of a page a picture of the same page of `document`, with these boxes of it painted over."""
    with loaded_page(document, number) as page:
        frame = PageFrame.of(page)
        margin = np.array((-_MARGIN, -_MARGIN, _MARGIN, _MARGIN), np.float32)
        shown = (frame.shown(np.array(boxes, np.float32).reshape(-1, 4)) + margin).tolist()
        pixels = _painted(page, frame, shown, DOTS_PER_POINT, MOST_DOTS)
    _put(pdf, number, frame, pixels, zlib.compress(pixels.tobytes(), 6), Name.FlateDecode)


def paint_scan(pdf: pikepdf.Pdf, number: int, document: pypdfium2.PdfDocument, boxes: Iterable[Box]) -> None:
    """The same of a page that is a picture, in that picture's resolution; boxes are of the page as shown."""
    with loaded_page(document, number) as page:
        frame, dpi = PageFrame.of(page), picture_dpi(painted_objects(page)[0], MOST_SCAN_DPI)
        pixels = _painted(page, frame, boxes, dpi / 72, MOST_SCAN_DOTS)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=_QUALITY)
    _put(pdf, number, frame, pixels, file.getvalue(), Name.DCTDecode)


def _painted(page: Any, frame: PageFrame, boxes: Iterable[Box], scale: float, most_dots: int) -> Pixels:
    """A loaded page as shown with its boxes painted over, in so many dots a point, or fewer."""
    across, down = max(frame.width, 1.0), max(frame.height, 1.0)
    scale = min(scale, (most_dots / (across * down)) ** 0.5)
    wide, high = math.ceil(across * scale), math.ceil(down * scale)
    pixels = in_fewest_components(drawn(page, (wide, high), flags=SHOWN))
    paint(pixels, boxes, (wide / across, high / down))
    return pixels


def _put(pdf: pikepdf.Pdf, number: int, frame: PageFrame, pixels: Pixels, data: bytes, packed: Name) -> None:
    """Make an image, packed in this way, all of a page."""
    height, width = pixels.shape[:2]
    picture = pikepdf.Stream(pdf, data)
    space = Name.DeviceGray if pixels.ndim == 2 else Name.DeviceRGB
    picture.update(new_image(width, height, BitsPerComponent=8, ColorSpace=space, Filter=packed))
    page = pdf.pages[number - 1].obj
    for key in list(page.keys()):
        if key not in ("/Type", "/Parent", "/UserUnit"):
            del page[key]
    page["/MediaBox"] = Array([0, 0, round(frame.width, 4), round(frame.height, 4)])
    page["/Rotate"] = 0
    page["/Resources"] = Dictionary(XObject=Dictionary(Page=pdf.make_indirect(picture)))
    placed = f"q {frame.width:.4f} 0 0 {frame.height:.4f} 0 0 cm /Page Do Q"
    page["/Contents"] = pikepdf.Stream(pdf, placed.encode())
