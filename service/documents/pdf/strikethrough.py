"""Finds struck-out text of a PDF page: characters with a thin level line through their middle, and no longer than they.

Rules of tables, underlines, leaders and grids of charts stay apart by their place or their length: they run between
lines or at their foot, or go on beyond the text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Flags, Floats
from service.documents.pdf.page_objects import Box, Painted, are_inside, clip_boxes, common, cover

_THICKEST, _SHORTEST, _LONG = 6.0, 4.0, 3.0
"""Points of the height and length of a line with the space that pdfium leaves around it, and their ratio."""
_MOST_LINES = 1_000
"""Lines of a page, at the height of the middle of letters, that are compared with them."""
_LEAST_SHOWN = 0.3
"""Share of the length and height of a line that its clip leaves, with the space around it."""
_MOST_COVERS = 16
"""Paths over a line that are looked at."""
_UPPER, _LOWER = 0.22, 0.78
"""Part of a letter's height, from its top, that a line through its middle lies in."""
_FEWEST_LETTERS, _MOST_MISSED = 2, 0.2
"""Letters that a line goes through, and the share of those it touches that it does not go through the middle of."""
_LOWEST_LETTER = 0.3
"""Height of a letter in that of its line; points and dashes are lower, and say nothing."""
_OVERHANG, _THICK, _LEAST_COVERED = 0.6, 0.2, 0.6
"""Length of a line beyond the text on a side and its thickness, in heights of the text; its share with text on it."""
_JOINED = 1.0
"""Points between two lines that are one: many programs draw one for each word."""
_PALE = 224
"""Least of red, green and blue of a line that is not seen on paper."""
_LEAST_ALPHA = 64


def struck_characters(
    objects: Sequence[Painted],
    boxes: Floats,
    to_shown: Callable[[Floats], Floats],
    loose: Floats,
    ink: Floats,
    blank: Flags,
) -> Flags:
    """True for characters that are struck out.

    Args:
        boxes: of the objects on the page; `to_shown` makes such boxes of the page as shown.
        loose, ink: of the characters, [left, top, right, bottom] on the page as shown.
        blank: True for white space.
    """
    struck = np.zeros(len(blank), np.bool_)
    shown = to_shown(boxes)
    across, down = shown[:, 2] - shown[:, 0], shown[:, 3] - shown[:, 1]
    thin = np.flatnonzero((down <= _THICKEST) & (across >= np.maximum(_SHORTEST, _LONG * down)))
    if not len(thin) or not len(blank):
        return struck
    high = ink[:, 3] - ink[:, 1]
    letters = np.flatnonzero(~blank & (high >= _LOWEST_LETTER * (loose[:, 3] - loose[:, 1])) & (high > 0))
    upper, lower = ink[letters, 1] + _UPPER * high[letters], ink[letters, 1] + _LOWER * high[letters]
    middles = (shown[thin, 1] + shown[thin, 3]) / 2
    thin = thin[_are_within(middles, upper, lower)]
    paths = (at for at in thin.tolist() if objects[at].kind == pdfium.FPDF_PAGEOBJ_PATH)
    seen = (at for at in islice(paths, _MOST_LINES) if not _is_gone(objects, boxes, at))
    lines = (_line(objects[at].handle, shown[at]) for at in seen)
    center = (loose[:, 0] + loose[:, 2]) / 2
    for left, top, right, bottom in _joined([line for line in lines if line is not None]):
        middle = (top + bottom) / 2
        within = (center >= left) & (center <= right) & (loose[:, 1] < middle) & (loose[:, 3] > middle)
        of_line = letters[within[letters] & (ink[letters, 1] < bottom) & (ink[letters, 3] > top)]
        share = (middle - ink[of_line, 1]) / high[of_line]
        struck_letters = of_line[(share >= _UPPER) & (share <= _LOWER)]
        if len(struck_letters) < max(_FEWEST_LETTERS, (1 - _MOST_MISSED) * len(of_line)):
            continue
        text = loose[within]
        size = float(np.median(loose[struck_letters, 3] - loose[struck_letters, 1]))
        overhang = max(float(text[:, 0].min()) - left, right - float(text[:, 2].max()))
        covered = float((text[:, 2] - text[:, 0]).sum()) / (right - left)
        if overhang <= _OVERHANG * size and covered >= _LEAST_COVERED and bottom - top <= _THICK * size:
            struck |= within
    return struck


def _are_within(heights: Floats, upper: Floats, lower: Floats) -> Flags:
    """True for heights that lie in one of the bands."""
    if not len(upper):
        return np.zeros(len(heights), np.bool_)
    order = np.argsort(upper)
    deepest = np.maximum.accumulate(lower[order])
    place = np.searchsorted(upper[order], heights, side="right") - 1
    return np.asarray((place >= 0) & (deepest[place] >= heights))


def _is_gone(objects: Sequence[Painted], boxes: Floats, at: int) -> bool:
    """True if a line is clipped away, or something painted later covers it."""
    clip, line = common(clip_boxes(objects[at])), boxes[at : at + 1]
    if clip is not None and not are_inside(line, np.array([clip], np.float32), _LEAST_SHOWN).all():
        return True
    over = at + 1 + np.flatnonzero(are_inside(line, boxes[at + 1 :]))
    paths = (objects[each] for each in over.tolist() if objects[each].kind == pdfium.FPDF_PAGEOBJ_PATH)
    return any(cover(each) is not None for each in islice(paths, _MOST_COVERS))


def _joined(boxes: list[Box]) -> list[Box]:
    """Boxes of lines, those that go on in one another as one."""
    lines: list[Box] = []
    for left, top, right, bottom in sorted(boxes, key=lambda box: (round(box[1] + box[3]), box[0])):
        if lines and abs(lines[-1][1] - top) <= _JOINED / 2 and abs(left - lines[-1][2]) <= _JOINED:
            left, top = lines[-1][0], min(lines[-1][1], top)
            bottom = max(lines.pop()[3], bottom)
        lines.append((left, top, right, bottom))
    return lines


def _line(path: Any, box: Floats) -> Box | None:
    """The box of a line; None if it is not seen on paper. Around strokes pdfium leaves half their width."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    if not (fill.value or stroke.value):
        return None
    colour = [ctypes.c_uint() for _ in range(4)]
    get = pdfium.FPDFPageObj_GetStrokeColor if stroke.value else pdfium.FPDFPageObj_GetFillColor
    get(path, *colour)
    if min(each.value for each in colour[:3]) >= _PALE or colour[3].value < _LEAST_ALPHA:
        return None
    left, top, right, bottom = box.tolist()
    around = (bottom - top) / 4 if stroke.value else 0.0
    return left + around, top + around, right - around, bottom - around
