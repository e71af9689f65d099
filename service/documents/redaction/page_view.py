"""View of a part of a PDF's page as shown: draws it, and says where on an image its pixels lie."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.reader import loaded_page
from service.documents.redaction.painting import Pixels


class PageView(NamedTuple):
    """A part of a page as shown: its corner and size in pixels, and the pixels of a point."""

    corner: tuple[int, int]
    size: tuple[int, int]
    page_size: tuple[int, int]
    scale: Floats

    @classmethod
    def of(
        cls, document: pypdfium2.PdfDocument, page: int, area: tuple[float, ...], scale: float, most_pixels: int
    ) -> PageView:
        """View of an area in points, with so many pixels a point, or fewer where they would be too many."""
        with loaded_page(document, page) as loaded:
            frame = PageFrame.of(loaded)
        size = np.array((max(frame.width, 1.0), max(frame.height, 1.0)))
        low, high = np.clip(area[:2], 0, size), np.clip(area[2:], 0, size)
        scale = min(scale, math.sqrt(most_pixels / max(float((high - low).prod()), 1.0)))
        page_size = np.maximum(np.round(size * scale), 1).astype(int)
        exact = page_size / size
        first, last = np.floor(low * exact).astype(int), np.ceil(high * exact).astype(int)
        left, top = first.tolist()
        wide, high_pixels = np.maximum(last - first, 1).tolist()
        return cls((left, top), (wide, high_pixels), tuple(page_size.tolist()), exact.astype(np.float32))

    def drawn(self, document: pypdfium2.PdfDocument, page: int) -> Pixels:
        """uint8 [high, wide, 3]: red, green and blue."""
        bitmap = pypdfium2.PdfBitmap.new_native(*self.size, pdfium.FPDFBitmap_BGR)
        try:
            pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, *self.size, 0xFFFFFFFF)
            with loaded_page(document, page) as loaded:
                left, top = self.corner
                pdfium.FPDF_RenderPageBitmap(
                    bitmap.raw, loaded, -left, -top, *self.page_size, 0, pdfium.FPDF_REVERSE_BYTE_ORDER
                )
            return np.array(bitmap.to_numpy())
        finally:
            bitmap.close()

    def on(self, flags: Image.Image, corners: Floats, shape: tuple[int, ...]) -> Flags:
        """Flags of this view as they lie on an image, bool of a shape; False beside the view."""
        low, right, up = (corners * self.scale - np.array(self.corner)).tolist()
        high, wide = shape
        across = [(right[axis] - low[axis]) / wide for axis in (0, 1)]
        down = [(low[axis] - up[axis]) / high for axis in (0, 1)]
        matrix = (across[0], down[0], up[0], across[1], down[1], up[1])
        return np.array(flags.transform((wide, high), Image.Transform.AFFINE, matrix, fillcolor=0), np.bool_)
