"""Pictures on a PDF page: the places of its images that may hold writing, and of the text layer that a scan has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Floats
from service.documents.pdf.page_objects import Painted, boxes_of, is_invisible

LEAST_LONG, LEAST_SHORT = 28.0, 7.0
"""Points of a picture's longer and shorter side that hold a word."""
MOST_PLACES = 24
"""Pictures of a page that are told apart; of more, those that are nearest become one."""
_MOST_COMPARED = 400
"""Images of a page that are compared with each other; more are one picture in strips or tiles."""
_TOUCHING = 1.5
"""Points between the parts of one picture."""


def image_boxes(objects: Sequence[Painted]) -> Floats:
    """Boxes [left, bottom, right, top] of a page's images, in its own space."""
    return boxes_of([each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_IMAGE])


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
