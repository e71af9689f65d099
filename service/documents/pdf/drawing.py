"""Drawing of a loaded PDF page: its pixels, those of a part of it, and where they lie on the page as shown."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from service.documents.document import Box
from service.documents.pdf.angles import Flags, Floats

_LEAST_CONTRAST = 64
"""Levels between the darkest and the lightest pixel of a place; one with less is drawn in colours too."""
_WHITE = 0xFFFFFFFF
_RED_FIRST = pdfium.FPDF_REVERSE_BYTE_ORDER
SHOWN = _RED_FIRST | pdfium.FPDF_ANNOT
"""Flags of a drawing with annotations, red first."""

Pixels = npt.NDArray[np.uint8]
"""[height, width], or [height, width, components]"""


def drawn(
    page: Any,
    size: tuple[int, int],
    area: tuple[int, ...] = (),
    *,
    kind: int = pdfium.FPDFBitmap_BGR,
    flags: int = _RED_FIRST,
    ground: int = _WHITE,
) -> Pixels:
    """A loaded page in a picture of a size in pixels: red, green and blue, unless `kind` and `flags` say otherwise.

    Args:
        area: the left and upper edge, width and height of the whole page in the picture; empty: all of it.
        ground: alpha, red, green and blue of what the page does not paint.
    """
    bitmap = pypdfium2.PdfBitmap.new_native(*size, kind)
    try:
        pdfium.FPDFBitmap_FillRect(bitmap.raw, 0, 0, *size, ground)
        pdfium.FPDF_RenderPageBitmap(bitmap.raw, page, *(area or (0, 0, *size)), 0, flags)
        return np.array(bitmap.to_numpy())
    finally:
        bitmap.close()


def in_fewest_components(pixels: Pixels) -> Pixels:
    """The same picture, [height, width] if its components are all the same."""
    first = pixels[..., 0]
    is_gray = all(np.array_equal(first, pixels[..., other]) for other in range(1, pixels.shape[2]))
    return np.ascontiguousarray(first) if is_gray else pixels


def gray_place(page: Any, size: tuple[float, float], dpi: float, most_pixels: int, place: Box | None = None) -> Pixels:
    """A loaded page of a size in points, or a place on it, as a gray picture, in fewer dots an inch if it is large.

    A place whose grays are nearly the same, such as red letters on green, is drawn in the colour that tells it apart.
    """
    left, top, right, bottom = place or (0.0, 0.0, *size)
    across, down = max(right - left, 1.0), max(bottom - top, 1.0)
    scale = min(dpi / 72, (most_pixels / (across * down)) ** 0.5)
    pixels = max(round(across * scale), 1), max(round(down * scale), 1)
    area = (round(-left * scale), round(-top * scale), *(max(round(side * scale), 1) for side in size))
    gray = drawn(page, pixels, area, kind=pdfium.FPDFBitmap_Gray, flags=pdfium.FPDF_ANNOT)
    if place is None or (contrast := int(np.ptp(gray))) >= _LEAST_CONTRAST:
        return gray
    colours = drawn(page, pixels, area, flags=pdfium.FPDF_ANNOT)
    contrasts = np.ptp(colours, axis=(0, 1))
    return colours[..., contrasts.argmax()].copy() if contrasts.max() > contrast else gray


class PageView(NamedTuple):
    """A part of a page as shown: its corner and size in pixels, and the pixels of a point."""

    corner: tuple[int, int]
    size: tuple[int, int]
    page_size: tuple[int, int]
    scale: Floats

    @classmethod
    def of(cls, size: tuple[float, float], boxes: Floats, scale: float, most_pixels: int) -> PageView:
        """View of the part of a page of a size in points that some boxes lie in.

        Args:
            scale: pixels of a point; fewer where they would be too many.
        """
        points = np.maximum(size, 1.0)
        low, high = boxes[:, :2].min(axis=0).clip(0, points), boxes[:, 2:].max(axis=0).clip(0, points)
        scale = min(scale, math.sqrt(most_pixels / max(float((high - low).prod()), 1.0)))
        page_size = np.maximum(np.round(points * scale), 1).astype(int)
        exact = page_size / points
        first, last = np.floor(low * exact).astype(int), np.ceil(high * exact).astype(int)
        (left, top), (wide, tall) = first.tolist(), np.maximum(last - first, 1).tolist()
        return cls((left, top), (wide, tall), tuple(page_size.tolist()), exact.astype(np.float32))

    def drawn(self, page: Any) -> Pixels:
        """uint8 [high, wide, 3]: red, green and blue; without annotations."""
        left, top = self.corner
        return drawn(page, self.size, (-left, -top, *self.page_size))

    def any_in(self, pixels: Flags, boxes: Floats) -> Flags:
        """True for boxes of the page that hold one of these pixels of the view."""
        low = np.floor(boxes[:, :2] * self.scale).astype(int) - self.corner
        high = np.ceil(boxes[:, 2:] * self.scale).astype(int) - self.corner
        places = np.concatenate((low, high), axis=1).clip(0, None).tolist()
        found = (pixels[top:bottom, left:right].any() for left, top, right, bottom in places)
        return np.fromiter(found, np.bool_, len(places))

    def colours_in(self, pixels: Pixels, boxes: Floats) -> Floats:
        """float32 [n, 3]: red, green and blue in the middle of boxes."""
        middles = np.floor((boxes[:, :2] + boxes[:, 2:]) / 2 * self.scale).astype(int) - self.corner
        across, down = middles.clip(0, np.array(self.size) - 1).T
        return np.asarray(pixels[down, across], np.float32)

    def on(self, flags: Image.Image, corners: Floats, shape: tuple[int, ...]) -> Flags:
        """Flags of this view as they lie on an image, bool of a shape; False beside the view.

        Args:
            corners: of the image on the page: lower left, lower right, upper left.
        """
        low, right, up = (corners * self.scale - np.array(self.corner)).tolist()
        high, wide = shape
        across = [(right[axis] - low[axis]) / wide for axis in (0, 1)]
        down = [(low[axis] - up[axis]) / high for axis in (0, 1)]
        matrix = (across[0], down[0], up[0], across[1], down[1], up[1])
        return np.array(flags.transform((wide, high), Image.Transform.AFFINE, matrix, fillcolor=0), np.bool_)
