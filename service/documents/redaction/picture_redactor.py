"""Redacts picture files (PNG, JPEG, TIFF of many pages, WebP, BMP, GIF): words are painted over in their pixels.

The file is written anew from the pixels of its pages as they are shown, so nothing of it stays that does not show:
EXIF, thumbnails, comments, colour profiles, what is transparent, pictures behind the first of an animation.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image
from PIL.TiffImagePlugin import AppendingTiffWriter

from service.documents.document import Page
from service.documents.limits import DocumentLimits
from service.documents.ocr.pictures import as_shown, opened_picture, picture_pages, shown_dots, turn_to
from service.documents.pdf.drawing import Pixels
from service.documents.redaction.painting import paint
from service.documents.redaction.values import RedactedFile, RedactedPage, Redaction

_QUALITY = 90
_LOSSLESS_WEBP, _WEBP_START = b"VP8L", 4_096
_TOLD = ("exif", "xmp", "comment", "icc_profile", "photoshop", "transparency")


@dataclass(frozen=True, slots=True)
class _Picture:
    """A page: its pixels as shown, how its file had it, and names of what the file held beside the pixels."""

    page: Page
    pixels: Pixels
    format: str
    options: dict[str, Any]
    is_bilevel: bool
    told: frozenset[str]


def redact_picture(data: bytes, redaction: Redaction, *, limits: DocumentLimits) -> RedactedFile:
    """The picture file with the boxes of its pages painted over, in the same format.

    Raises:
        UnreadableDocument: the file is damaged.
        DocumentTooLarge: too many pages, or too many pixels.
    """
    boxes = {page.number: page.boxes for page in redaction.painted}
    file, removed = io.BytesIO(), set[str]()
    tiff = AppendingTiffWriter(file, True)
    for each in _pictures(data, picture_pages(data, limits=limits).pages or ()):
        height, width = each.pixels.shape[:2]
        paint(each.pixels, boxes.get(each.page.number, ()), (width / each.page.width, height / each.page.height))
        made = Image.fromarray(each.pixels)
        if each.is_bilevel:
            made = made.convert("1", dither=Image.Dither.NONE)
        made.save(tiff if each.format == "TIFF" else file, each.format, **each.options)
        if each.format == "TIFF":
            tiff.newFrame()
        removed |= each.told
    painted = tuple(RedactedPage(number, "painted") for number in sorted(boxes) if boxes[number])
    return RedactedFile(file.getvalue(), painted, tuple(sorted(removed)))


def _pictures(data: bytes, pages: Sequence[Page]) -> Iterator[_Picture]:
    with opened_picture(data) as picture:
        for page in pages:
            turn_to(picture, page.number)
            pixels = np.array(as_shown(picture))
            yield _Picture(page, pixels, _format(picture), _options(picture, data), picture.mode == "1", _told(picture))


def _format(picture: Image.Image) -> str:
    return "JPEG" if picture.format == "MPO" else picture.format or ""


def _options(picture: Image.Image, data: bytes) -> dict[str, Any]:
    """Options for writing a page, as in its file as far as possible."""
    options: dict[str, Any] = {"dpi": dots} if (dots := shown_dots(picture)) else {}
    match _format(picture):
        case "TIFF" if picture.mode == "1":
            options["compression"] = "group4"
        case "TIFF" if "jpeg" in str(picture.info.get("compression")):
            options |= {"compression": "jpeg", "quality": _QUALITY}
        case "TIFF":
            options["compression"] = "tiff_adobe_deflate"
        case "JPEG":
            options["quality"] = _QUALITY
        case "WEBP":
            options |= {"quality": _QUALITY, "lossless": _LOSSLESS_WEBP in data[:_WEBP_START]}
    return options


def _told(picture: Image.Image) -> frozenset[str]:
    names = {name for name in _TOLD if name in picture.info}
    if picture.format != "TIFF" and getattr(picture, "is_animated", False):
        names.add("frames")
    if getattr(picture, "text", None):
        names.add("text")
    return frozenset(names)
