"""Paints over words in the pixels of an image inside a PDF: the image's own, and those of its soft mask.

boxes on the page → the image's pixels, by the inverse of the matrix that places it → black, and opaque
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pikepdf
from pikepdf import Name
from PIL import ImageChops, ImageCms, TiffTags

from service.documents.document import Box
from service.documents.pdf.drawing import Pixels
from service.documents.redaction.bare_images import new_image
from service.documents.redaction.geometry import Matrix, Rectangle, around
from service.documents.redaction.painting import paint
from service.documents.redaction.values import CannotRewrite

_OPAQUE = 255
_MODES = {"1": "L", "L": "L", "P": "RGB", "RGB": "RGB"}
"""Modes of Pillow whose colours are kept exactly, and the mode in which they are painted."""
_SHOWN_BY = ("/Mask", "/ImageMask", "/Matte")
"""Keys of images whose samples do not say alone what shows; so does a `Decode` that is not the usual one."""
_MOST_PIXELS = 100_000_000
_IMPORTED = (ImageChops, ImageCms, TiffTags)
"""What pikepdf imports only when it unpacks an image, which a parser cannot."""


def painted_image(pdf: pikepdf.Pdf, image: Any, matrix: Matrix, boxes: Sequence[Rectangle]) -> Any:
    """A copy of an image, an XObject or inline, that a matrix places, without what it shows in boxes of the page.

    Raises:
        CannotRewrite: its pixels cannot be had, or something else decides which of them show.
    """
    is_inline = isinstance(image, pikepdf.PdfInlineImage)
    dictionary = image.obj if is_inline else image
    _check_plain(dictionary)
    inverse = _inverse(matrix)
    unit = [around(inverse, box) for box in boxes]
    made = _painted(pdf, image if is_inline else pikepdf.PdfImage(image), unit, 0)
    if (mask := None if is_inline else image.get("/SMask")) is not None:
        _check_plain(mask)
        made["/SMask"] = _painted(pdf, pikepdf.PdfImage(mask), unit, _OPAQUE)
    return made


def _check_plain(image: Any) -> None:
    """Refuse an image whose samples do not say alone what shows.

    Raises:
        CannotRewrite: it is one.
    """
    decode = [float(each) for each in image.get("/Decode", ())]
    if any(image.get(key, False) for key in _SHOWN_BY) or decode != [0.0, 1.0] * (len(decode) // 2):
        raise CannotRewrite("an image with a mask holds text to be removed")


def _painted(pdf: pikepdf.Pdf, image: Any, unit: Sequence[Rectangle], level: int) -> Any:
    """A new image, with boxes of the unit square, whose corner is at the lower left, painted over."""
    pixels = _pixels(image)
    height, width = pixels.shape[:2]
    boxes: list[Box] = [(left, 1 - top, right, 1 - bottom) for left, bottom, right, top in unit]
    paint(pixels, boxes, (width, height), level)
    made = pikepdf.Stream(pdf, b"")
    made.write(zlib.compress(pixels.tobytes(), 6), filter=Name.FlateDecode)
    space = Name.DeviceGray if pixels.ndim == 2 else Name.DeviceRGB
    made.update(new_image(width, height, BitsPerComponent=8, ColorSpace=space))
    return pdf.make_indirect(made)


def _pixels(image: Any) -> Pixels:
    try:
        if image.width * image.height > _MOST_PIXELS:
            raise CannotRewrite("an image is too large")
        shown = image.as_pil_image()
        return np.array(shown.convert(_MODES[shown.mode]))
    except (pikepdf.PdfError, OSError, ValueError, TypeError, KeyError, NotImplementedError, AttributeError) as error:
        raise CannotRewrite("an image that holds text to be removed cannot be unpacked") from error


def _inverse(matrix: Matrix) -> Matrix:
    a, b, c, d, e, f = matrix
    area = a * d - b * c
    if abs(area) < 1e-9:
        raise CannotRewrite("an image that holds text to be removed has no area")
    return d / area, -b / area, -c / area, a / area, (c * f - d * e) / area, (b * e - a * f) / area
