"""Reads picture files (PNG, JPEG, TIFF, WebP, BMP, GIF) as gray pages; their text is recognized elsewhere (`ocr`).

What a file claims is judged by its header, before anything is decoded: a few bytes may unpack to gigabytes.
"""

from __future__ import annotations

import io
import math
import struct
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from service.core.errors import DocumentTooLarge, InvalidOptions, UnreadableDocument
from service.documents.document import Box, Document, Layout, Page, PagePicture, PictureRequest
from service.documents.limits import DocumentLimits
from service.documents.ocr.picture_parts import MOST_TAGS, check_parts, count_directories
from service.documents.ocr.straighten import Gray
from service.documents.pdf.picture import picture_size, squared

MOST_PIXELS, MOST_SIDE = 100_000_000, 30_000
"""Most pixels and longest side of one page of a picture file."""
READ_PIXELS = 8_700_000
"""Pixels that a page is read with, at most: an A4 sheet with 300 dots an inch; larger pictures are made smaller."""
_LEAST_DPI, _MOST_DPI, _USUAL_DPI = 100, 1_200, 200  # those believed (cameras say 72), and where there are none
_DENSITIES = ("dpi", "aspect", "jfif_density", "resolution")  # dots an inch, and dots of no unit in PNG, JPEG, TIFF
_MOST_ASPECT = 2.5
"""Dots of one direction for each of the other that are believed; a fax has 204 by 98 an inch."""
_BLACK, _EDGE = 48, 2
"""Most level of a box that is painted over, and the pixels at its edge that compression and drawing make gray."""
_AROUND, _PAPER = 8, 255
"""Pixels around such a box whose middling level is that of the paper there, and that level where all is black."""
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_COLOURS = ("RGB", "P", "CMYK", "YCbCr", "LAB", "HSV")
_BROKEN = (OSError, ValueError, TypeError, SyntaxError, EOFError, KeyError, IndexError, struct.error)

Image.MAX_IMAGE_PIXELS = MOST_PIXELS
Image.init()  # A parser cannot import what reads a format.


def picture_pages(data: bytes, *, limits: DocumentLimits) -> Document:
    """The pages of a picture file with their sizes in points; nothing of them is read.

    Raises:
        UnreadableDocument: the file is damaged.
        DocumentTooLarge: too many pages, or too many pixels.
    """
    pages: list[Page] = []
    with opened_picture(data) as picture:
        count = count_directories(data, limits.max_pages) if picture.format == "TIFF" else 1
        if count > limits.max_pages:
            raise DocumentTooLarge(f"The picture has more than {limits.max_pages:,} pages.")
        for number in range(1, count + 1):
            turn_to(picture, number)
            across, down = shown_dots(picture) or (_USUAL_DPI, _USUAL_DPI)
            wide, high = picture.size[::-1] if _stands_on_side(picture) else picture.size
            start = 2 * (number - 1)
            pages.append(Page(number, start, start, wide * 72 / across, high * 72 / down))
    text = "\n\n" * (len(pages) - 1)
    layout = Layout(np.full((len(text), 4), np.nan, np.float32), np.zeros(0, np.int32))
    return Document(text, tuple(pages), layout, tuple(page.number for page in pages))


@contextmanager
def opened_picture(data: bytes) -> Iterator[Image.Image]:
    """A picture file at its first page.

    Raises:
        UnreadableDocument: the file is damaged, also where that is seen within the context.
        DocumentTooLarge: it has far too many pixels, or parts.
    """
    check_parts(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=_FORMATS) as picture:
                count_directories(picture.info.get("exif", b"").removeprefix(b"Exif\0\0"), MOST_TAGS)
                yield picture
    except Image.DecompressionBombError:
        raise DocumentTooLarge(f"The picture has far more pixels than the limit of {MOST_PIXELS:,}.") from None
    except _BROKEN as error:
        why = str(error).partition(" <")[0][:100]  # Pillow says where in memory the file is.
        raise UnreadableDocument(f"The picture is damaged ({why or type(error).__name__}).") from None


def turn_to(picture: Image.Image, number: int) -> None:
    """Make a page the picture's current one, unless it is too large."""
    if number > 1:
        picture.seek(number - 1)
    wide, high = picture.size
    if wide * high > MOST_PIXELS or max(wide, high) > MOST_SIDE:
        raise DocumentTooLarge(
            f"The picture has {wide:,} × {high:,} pixels; the limit is {MOST_PIXELS:,}, and {MOST_SIDE:,} on a side."
        )


def shown_dots(picture: Image.Image) -> tuple[float, float] | None:
    """Dots an inch of the picture as shown, across and down; None where the file says none that can be."""
    dots = _stored_dots(picture)
    return dots[::-1] if dots and _stands_on_side(picture) else dots


def _stored_dots(picture: Image.Image) -> tuple[float, float] | None:
    """The same of the picture before its camera's turn.

    Where no unit is said, only how many are across for how many down, the more of the two are as many as usual.
    """
    said = next((picture.info[name] for name in _DENSITIES if name in picture.info), None)
    try:
        across, down = (float(each) for each in said)  # type: ignore[union-attr]
        aspect = across / down
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    if "dpi" not in picture.info and aspect != 1:
        across, down = (_USUAL_DPI * each / max(across, down) for each in (across, down))
    if not (
        across > 0
        and 1 / _MOST_ASPECT <= aspect <= _MOST_ASPECT
        and _LEAST_DPI <= math.sqrt(across * down) <= _MOST_DPI
    ):
        return None
    return across, down


def _stands_on_side(picture: Image.Image) -> bool:
    return picture.getexif().get(0x0112, 1) in (5, 6, 7, 8)


def gray_page(data: bytes, number: int) -> Gray:
    """One page of a picture file as it is shown, uint8 [height, width], at most `READ_PIXELS` of them, all square.

    Raises:
        UnreadableDocument: the file is damaged, or has no such page.
        DocumentTooLarge: too many pixels.
    """
    with opened_picture(data) as picture:
        turn_to(picture, number)
        scale = (READ_PIXELS / (picture.width * picture.height)) ** 0.5
        across, down = _stored_dots(picture) or (1.0, 1.0)
        if scale < 1:
            picture.draft("L", (int(picture.width * scale), int(picture.height * scale)))
        gray = _as_gray(picture)
        wide, high = gray.width * max(down / across, 1), gray.height * max(across / down, 1)
        scale = min(1.0, (READ_PIXELS / (wide * high)) ** 0.5)
        size = (max(int(wide * scale), 1), max(int(high * scale), 1))
        if size != gray.size:
            exif = gray.getexif()
            gray = _with_exif(gray.resize(size, Image.Resampling.BOX if scale < 1 else Image.Resampling.BICUBIC), exif)
        return np.asarray(ImageOps.exif_transpose(gray))


def draw_picture(data: bytes, wanted: PictureRequest, *, limits: DocumentLimits) -> PagePicture:
    """A page of a picture file as a PNG, or as a model reads it.

    Raises:
        UnreadableDocument: the file is damaged.
        DocumentTooLarge: too many pages, or too many pixels.
        InvalidOptions: there is no such page.
    """
    pages = picture_pages(data, limits=limits).pages or ()
    if not 1 <= wanted.page <= len(pages):
        raise InvalidOptions(f"There is no page {wanted.page}; the file has {len(pages)}.")
    page = pages[wanted.page - 1]
    with opened_picture(data) as picture:
        turn_to(picture, wanted.page)
        size = picture_size(page.width, page.height, wanted.width)
        if wanted.resample is None or picture.width * picture.height > READ_PIXELS:
            picture.draft("RGB", (max(size), max(size)))
        shown = as_shown(picture)
        if wanted.resample is not None:
            return PagePicture(squared(shown, wanted), page.width, page.height, len(pages))
        file = io.BytesIO()
        shown.resize(size, Image.Resampling.BOX).save(file, "PNG", compress_level=3)
    return PagePicture(file.getvalue(), page.width, page.height, len(pages))


def as_shown(picture: Image.Image) -> Image.Image:
    """Upright, in colours, or in gray where it has none; what is transparent is white."""
    if picture.mode in ("RGBA", "RGBa") or (picture.mode in _COLOURS and "transparency" in picture.info):
        orientation = picture.getexif()
        layer = picture.convert("RGBA")
        shown = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
        return ImageOps.exif_transpose(_with_exif(shown, orientation))
    return ImageOps.exif_transpose(picture.convert("RGB") if picture.mode in _COLOURS else _as_gray(picture))


def without_painted(gray: Gray, boxes: Iterable[Box], scale: tuple[float, float]) -> tuple[Gray, list[Box]]:
    """A page whose black boxes are paper, so that none is read as a letter; and the boxes that are not black all over.

    Args:
        boxes: in points. What one shows that is not black stays.
        scale: pixels a point, across and down.
    """
    across, down = scale
    black = gray <= _BLACK
    cleared = gray.copy()
    unpainted = list[Box]()
    for box in boxes:
        left, right = (round(max(0.0, min(x * across, gray.shape[1]))) for x in box[::2])
        top, bottom = (round(max(0.0, min(y * down, gray.shape[0]))) for y in box[1::2])
        x0, y0, x1, y1 = left + _EDGE, top + _EDGE, right - _EDGE, bottom - _EDGE
        if not black[y0:y1, x0:x1].all():
            unpainted.append(box)
        elif x0 < x1 and y0 < y1:
            x0, y0, x1, y1 = _all_black(black, x0, y0, x1, y1)
            around = slice(max(y0 - _AROUND, 0), y1 + _AROUND), slice(max(x0 - _AROUND, 0), x1 + _AROUND)
            levels = gray[around][~black[around]]
            paper = np.median(levels) if len(levels) else _PAPER
            cleared[max(y0 - _EDGE, 0) : y1 + _EDGE, max(x0 - _EDGE, 0) : x1 + _EDGE] = paper
    return cleared, unpainted


def _all_black(black: npt.NDArray[np.bool_], x0: int, y0: int, x1: int, y1: int) -> tuple[int, int, int, int]:
    """An area grown by the black rows and columns beside it, at most by its shorter side."""
    height, width = black.shape
    for _ in range(min(x1 - x0, y1 - y0)):
        grows = (
            x0 > 0 and bool(black[y0:y1, x0 - 1].all()),
            y0 > 0 and bool(black[y0 - 1, x0:x1].all()),
            x1 < width and bool(black[y0:y1, x1].all()),
            y1 < height and bool(black[y1, x0:x1].all()),
        )
        if not any(grows):
            break
        x0, y0, x1, y1 = x0 - grows[0], y0 - grows[1], x1 + grows[2], y1 + grows[3]
    return x0, y0, x1, y1


def _as_gray(picture: Image.Image) -> Image.Image:
    """Convert to levels from black to white; transparent becomes white."""
    exif = picture.getexif()
    if picture.mode.startswith("I") or picture.mode == "F":
        levels = np.asarray(picture, np.float32)
        low, high = float(levels.min()), float(levels.max())
        gray = Image.fromarray(((levels - low) * (255 / max(high - low, 1.0))).astype(np.uint8))
    elif picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        layer = picture.convert("RGBA")
        gray = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("L")
    else:
        gray = picture.convert("L")
    return _with_exif(gray, exif)


def _with_exif(picture: Image.Image, exif: Image.Exif) -> Image.Image:
    picture.info["exif"] = exif.tobytes()
    picture.getexif().update(exif)
    return picture
