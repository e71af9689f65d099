"""Draws a PDF's page, or a place on it, for its text to be recognized, in the resolution of its pictures."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium

from service.documents.document import Box
from service.documents.ocr.pictures import READ_PIXELS
from service.documents.ocr.straighten import Gray
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.page_objects import Painted, boxes_of

_DPI, _LEAST_DPI, _MOST_DPI = 200, 100, 300
"""Dots an inch in which a PDF's pages are drawn, unless a picture has its own: drawn otherwise it would be blurred."""
_LEAST_CONTRAST = 64
"""Levels between the darkest and the lightest pixel of a place; one with less is drawn in colours too."""
_MOST_PICTURES = 1_000
"""Most pictures of a page among which the largest is searched; a scan has few."""

Colours = npt.NDArray[np.uint8]
"""[height, width, 1 or 3]"""


def drawn_page(page: Any, size: tuple[float, float], dpi: float, place: Box | None = None) -> Gray:
    """A loaded page of a size in points, or a place on it, as a gray picture.

    A place whose grays are nearly the same, such as red letters on green, is drawn in the colour that tells it apart.
    """
    left, top, right, bottom = place or (0.0, 0.0, *size)
    across, down = max(right - left, 1.0), max(bottom - top, 1.0)
    scale = min(dpi / 72, (READ_PIXELS / (across * down)) ** 0.5)
    wide, high = max(round(across * scale), 1), max(round(down * scale), 1)
    area = (round(-left * scale), round(-top * scale), *(max(round(side * scale), 1) for side in size))
    gray = _drawn(page, (wide, high), area, pdfium.FPDFBitmap_Gray)[..., 0]
    if place is None or (contrast := int(np.ptp(gray))) >= _LEAST_CONTRAST:
        return gray
    colours = _drawn(page, (wide, high), area, pdfium.FPDFBitmap_BGR)
    contrasts = np.ptp(colours, axis=(0, 1))
    return colours[..., contrasts.argmax()].copy() if contrasts.max() > contrast else gray


def _drawn(page: Any, size: tuple[int, int], area: tuple[int, ...], kind: int) -> Colours:
    """The page in an area of a white picture of a size in pixels."""
    bitmap = pypdfium2.PdfBitmap.new_native(*size, kind)
    try:
        pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, *size, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap.raw, page, *area, 0, pdfium.FPDF_ANNOT)
        pixels = bitmap.to_numpy()
        return np.array(pixels[..., None] if pixels.ndim == 2 else pixels, np.uint8)
    finally:
        bitmap.close()


def dpi_at(place: Box, objects: Sequence[Painted], frame: PageFrame) -> float:
    """Dots an inch of the largest picture at a place of a page."""
    pictures = [each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE]
    boxes = frame.shown(boxes_of(pictures))
    touches = (np.minimum(boxes[:, 2:], place[2:]) > np.maximum(boxes[:, :2], place[:2])).all(axis=1)
    return picture_dpi([pictures[at] for at in np.flatnonzero(touches).tolist()])


def picture_dpi(objects: Sequence[Painted], most: float = _MOST_DPI) -> float:
    """Dots an inch of the largest picture among a page's objects, if they are usual for a scan; at most so many."""
    pictures = [each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE][:_MOST_PICTURES]
    largest, dpi = 0.0, float(_DPI)
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    for picture, (left, bottom, right, top) in zip(pictures, boxes_of(pictures).tolist(), strict=True):
        area = (right - left) * (top - bottom)
        if area > largest and pdfium.FPDFImageObj_GetImagePixelSize(picture.handle, wide, high):
            # A picture may lie on its side: its longer side is as long as that of its bounds.
            dots = max(wide.value, high.value) / max(right - left, top - bottom) * 72
            largest, dpi = area, dots if _LEAST_DPI <= dots <= most else min(max(dots, _DPI), most)
    return dpi
