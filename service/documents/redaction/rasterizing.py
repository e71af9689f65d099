"""A page as a picture of itself, for one that is a picture or cannot be rewritten: nothing of its content stays."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable

import numpy as np
import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium
from pikepdf import Array, Dictionary, Name
from PIL import Image

from service.documents.document import Box
from service.documents.ocr.drawing import picture_dpi
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.page_objects import painted_objects
from service.documents.pdf.reader import loaded_page
from service.documents.redaction.geometry import Rectangle
from service.documents.redaction.painting import Pixels, paint

DOTS_PER_POINT = 200 / 72
MOST_DOTS = 12_000_000
MOST_SCAN_DPI, MOST_SCAN_DOTS = 600, 40_000_000
"""Most dots an inch of a scan, and most dots; an A4 sheet with 600 dots an inch has 35 million."""
_MARGIN = 1.0
"""Points around a box that are painted over too, as letters may hang over their boxes."""
_QUALITY = 85


def paint_page(
    pdf: pikepdf.Pdf, number: int, document: pypdfium2.PdfDocument, frame: PageFrame, boxes: Iterable[Rectangle]
) -> None:
    """Put in place of a page a picture of the same page of `document`, with these boxes painted over."""
    shown = frame.shown(np.array(list(boxes), np.float32).reshape(-1, 4))
    margin = np.array((-_MARGIN, -_MARGIN, _MARGIN, _MARGIN), np.float32)
    pixels = _pixels(document, number, (shown + margin).tolist(), DOTS_PER_POINT * 72, MOST_DOTS)
    _put(pdf, number, frame, pixels, zlib.compress(pixels.tobytes(), 6), Name.FlateDecode)


def paint_scan(
    pdf: pikepdf.Pdf, number: int, document: pypdfium2.PdfDocument, frame: PageFrame, boxes: Iterable[Box]
) -> None:
    """The same of a page that is a picture, in that picture's resolution; boxes are of the page as shown."""
    with loaded_page(document, number) as page:
        dpi = picture_dpi(painted_objects(page)[0], MOST_SCAN_DPI)
    pixels = _pixels(document, number, boxes, dpi, MOST_SCAN_DOTS)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=_QUALITY)
    _put(pdf, number, frame, pixels, file.getvalue(), Name.DCTDecode)


def _put(pdf: pikepdf.Pdf, number: int, frame: PageFrame, pixels: Pixels, data: bytes, packed: Name) -> None:
    """Make an image, packed in this way, all of a page."""
    height, width = pixels.shape[:2]
    picture = pikepdf.Stream(pdf, data)
    picture.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=width, Height=height, BitsPerComponent=8,
            ColorSpace=Name.DeviceGray if pixels.ndim == 2 else Name.DeviceRGB, Filter=packed,
        )
    )  # fmt: skip
    page = pdf.pages[number - 1].obj
    for key in list(page.keys()):
        if key not in ("/Type", "/Parent", "/UserUnit"):
            del page[key]
    page["/MediaBox"] = Array([0, 0, round(frame.width, 4), round(frame.height, 4)])
    page["/Rotate"] = 0
    page["/Resources"] = Dictionary(XObject=Dictionary(Page=pdf.make_indirect(picture)))
    drawn = f"q {frame.width:.4f} 0 0 {frame.height:.4f} 0 0 cm /Page Do Q"
    page["/Contents"] = pikepdf.Stream(pdf, drawn.encode())


def _pixels(document: pypdfium2.PdfDocument, number: int, boxes: Iterable[Box], dpi: float, most_dots: int) -> Pixels:
    """The page as shown with its boxes painted over, uint8 [height, width], or [height, width, 3] if it has colours."""
    page = document[number - 1]
    try:
        across, down = page.get_size()
        scale = min(dpi / 72, (most_dots / max(across * down, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, force_bitmap_format=pdfium.FPDFBitmap_BGRx)
        drawn = bitmap.to_numpy()
        is_gray = all(np.array_equal(drawn[..., 0], drawn[..., other]) for other in (1, 2))
        pixels = np.array(drawn[..., 0] if is_gray else drawn[..., :3])
        bitmap.close()
    finally:
        page.close()
    height, width = pixels.shape[:2]
    paint(pixels, boxes, (width / max(across, 1.0), height / max(down, 1.0)))
    return pixels
