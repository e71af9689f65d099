"""A page as a picture of itself, for one that cannot be rewritten exactly: nothing of its content stays."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium
from pikepdf import Array, Dictionary, Name

from service.documents.pdf.glyphs import PageFrame
from service.documents.redaction.geometry import Rectangle

DOTS_PER_POINT = 200 / 72
MOST_DOTS = 12_000_000
_MARGIN = 1.0
"""Points around a box that are painted over too, as letters may hang over their boxes."""


def paint_page(
    pdf: pikepdf.Pdf, number: int, document: pypdfium2.PdfDocument, frame: PageFrame, boxes: Iterable[Rectangle]
) -> None:
    """Put in place of a page a picture of the same page of `document`, with these boxes painted over."""
    pixels = _pixels(document, number, frame, boxes)
    height, width = pixels.shape[:2]
    picture = pikepdf.Stream(pdf, zlib.compress(pixels.tobytes(), 6))
    picture.update(
        Dictionary(
            Type=Name.XObject, Subtype=Name.Image, Width=width, Height=height, BitsPerComponent=8,
            ColorSpace=Name.DeviceRGB, Filter=Name.FlateDecode,
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


def _pixels(
    document: pypdfium2.PdfDocument, number: int, frame: PageFrame, boxes: Iterable[Rectangle]
) -> npt.NDArray[np.uint8]:
    """uint8 [height, width, 3]: the page as shown."""
    area = max(frame.width * frame.height, 1.0)
    scale = min(DOTS_PER_POINT, (MOST_DOTS / area) ** 0.5)
    page = document[number - 1]
    try:
        bitmap = page.render(scale=scale, rev_byteorder=True, force_bitmap_format=pdfium.FPDFBitmap_BGRx)
        pixels = np.array(bitmap.to_numpy()[:, :, :3])
        bitmap.close()
    finally:
        page.close()
    shown = frame.shown(np.array(list(boxes), np.float32).reshape(-1, 4))
    height, width = pixels.shape[:2]
    for left, top, right, bottom in shown.tolist():
        x0, x1 = (round(max(0.0, min(x * scale, width))) for x in (left - _MARGIN, right + _MARGIN))
        y0, y1 = (round(max(0.0, min(y * scale, height))) for y in (top - _MARGIN, bottom + _MARGIN))
        pixels[y0:y1, x0:x1] = 0
    return pixels
