"""Pictures on a PDF page: the places of its images that may hold writing, their dots an inch, a scan's text layer."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
import pypdfium2.raw as pdfium

from service.documents.document import Box
from service.documents.pdf.angles import Floats
from service.documents.pdf.glyphs import PageFrame
from service.documents.pdf.page_objects import Painted, boxes_of, is_invisible

LEAST_LONG, LEAST_SHORT = 28.0, 7.0
"""Points of a picture's longer and shorter side that hold a word."""
MOST_PLACES = 24
"""Pictures of a page that are told apart; of more, those that are nearest become one."""
_MOST_COMPARED = 400
"""Images of a page that are compared with each other; more are one picture in strips or tiles."""
_TOUCHING = 1.5
"""Points between the parts of one picture."""
_DPI, _LEAST_DPI, _MOST_DPI = 200, 100, 300
"""Dots an inch in which a PDF's pages are drawn, unless a picture has its own: drawn otherwise it would be blurred."""
_MOST_PICTURES = 1_000
"""Most pictures of a page among which the largest is searched; a scan has few."""


def image_boxes(objects: Sequence[Painted]) -> Floats:
    """Boxes [left, bottom, right, top] of a page's images, in its own space."""
    return boxes_of(_images(objects))


def _images(objects: Sequence[Painted]) -> list[Painted]:
    return [each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE]


def layer_boxes(objects: Sequence[Painted]) -> Floats:
    """The same of texts that a scan's text layer may be of: those that are invisible, or painted before an image."""
    images = [at for at, each in enumerate(objects) if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE]
    last = images[-1] if images else 0
    texts = [
        each
        for at, each in enumerate(objects if images else ())
        if each.kind == pdfium.FPDF_PAGEOBJ_TEXT and (at < last or is_invisible(each.handle))
    ]
    return boxes_of(texts)


def joined_boxes(boxes: Floats, size: tuple[float, float]) -> Floats:
    """The parts on a page of this size of boxes [left, top, right, bottom] that hold a word; those that touch are one.

    So an image in strips is one picture.
    """
    boxes = np.nan_to_num(boxes.astype(np.float32)).clip(0, np.array((*size, *size), np.float32))
    boxes = boxes[(boxes[:, 2:] > boxes[:, :2]).all(axis=1)]
    if len(boxes) > _MOST_COMPARED:
        boxes = _around(boxes)
    boxes = _united(boxes, _TOUCHING)
    sides = boxes[:, 2:] - boxes[:, :2]
    boxes = boxes[(sides.max(axis=1) >= LEAST_LONG) & (sides.min(axis=1) >= LEAST_SHORT)]
    reach = _TOUCHING
    while len(boxes) > MOST_PLACES:
        reach *= 2
        boxes = _united(boxes, reach)
    return boxes[np.lexsort((boxes[:, 0], boxes[:, 1]))]


def _united(boxes: Floats, reach: float) -> Floats:
    """Boxes of which none is as near as this to another."""
    while len(boxes) > 1:
        grown = boxes + np.array((-reach, -reach, reach, reach), np.float32) / 2
        first, second = grown[:, None], grown[None]
        common = np.minimum(first[..., 2:], second[..., 2:]) - np.maximum(first[..., :2], second[..., :2])
        touches = (common > 0).all(axis=2)
        groups = touches.argmax(axis=1)  # the first of those that each touches
        united = np.concatenate([_around(boxes[groups == group]) for group in np.unique(groups)])
        if len(united) == len(boxes):
            break
        boxes = united
    return boxes


def _around(boxes: Floats) -> Floats:
    return np.concatenate((boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)))[None]


def dpi_at(place: Box, objects: Sequence[Painted], frame: PageFrame) -> float:
    """Dots an inch of the largest image at a place of a page."""
    images = _images(objects)
    boxes = frame.shown(boxes_of(images))
    touches = (np.minimum(boxes[:, 2:], place[2:]) > np.maximum(boxes[:, :2], place[:2])).all(axis=1)
    return picture_dpi([images[at] for at in np.flatnonzero(touches).tolist()])


def picture_dpi(objects: Sequence[Painted], most: float = _MOST_DPI) -> float:
    """Dots an inch of the largest image among a page's objects, if they are usual for a scan; at most so many."""
    images = _images(objects)[:_MOST_PICTURES]
    largest, dpi = 0.0, float(_DPI)
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    for image, (left, bottom, right, top) in zip(images, boxes_of(images).tolist(), strict=True):
        area = (right - left) * (top - bottom)
        if area > largest and pdfium.FPDFImageObj_GetImagePixelSize(image.handle, wide, high):
            # A picture may lie on its side: its longer side is as long as that of its bounds.
            dots = max(wide.value, high.value) / max(right - left, top - bottom) * 72
            largest, dpi = area, dots if _LEAST_DPI <= dots <= most else min(max(dots, _DPI), most)
    return dpi
