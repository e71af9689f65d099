"""Angles of a page's characters, and the frame in which text of one angle is level.

pdfium tells a character's angle by a slow call. So it is asked of the first character of a run only, where the next one
does not stand level on its right; and of single characters on a page that has such runs. Angles are degrees clockwise
on the page as shown.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2.raw as pdfium

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]

_Matrix = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_FontSize = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int)

_LARGEST_STEP = 1.5
"""Longest step between the corners of neighbours in a run, in sides of the larger box."""
_LARGEST_SLOPE = 0.02
"""Largest slope between the first two characters of a level run: points down for each point to the right."""
_LARGEST_SKEW = 3.5
"""Degrees from a quarter turn, and between lines of the same text, as in a scan that was laid down askew."""
_HEIGHT = 1.15
"""Height of a character's box from descent to ascent, in font sizes."""


class Turns(NamedTuple):
    """Compute each character's angle, 0 to 360, and, if that is no quarter turn, its height in points across it."""

    angles: Floats
    heights: Floats


def read_turns(text_page: int, indices: npt.NDArray[np.int32], boxes: Floats, spaced: Flags, quarters: int) -> Turns:
    """The angles of the characters with these boxes on a page that is shown turned by `quarters`.

    `text_page` is the address of pdfium's handle, `indices` are the characters' on it.
    """
    turns = Turns(np.zeros(len(boxes), np.float32), np.zeros(len(boxes), np.float32))
    if not len(boxes):
        return turns
    starts = _run_starts(boxes, spaced)
    ends = np.append(starts[1:], len(boxes))
    is_long, is_level = ends - starts > 1, _plainly_level(boxes, starts)
    if not (is_long & ~is_level).any():
        return turns
    asked, ends = starts[~(is_long & is_level)], ends[~(is_long & is_level)]
    matrices, sizes = _matrices(text_page, indices[asked])
    turned = (90 * quarters - np.degrees(np.arctan2(matrices[:, 1], matrices[:, 0]))) % 360
    found = _grouped(turned)
    if not found.any():
        return turns
    heights = _HEIGHT * sizes * np.hypot(matrices[:, 2], matrices[:, 3])
    for start, end, angle, height in zip(asked.tolist(), ends.tolist(), found.tolist(), heights.tolist(), strict=True):
        turns.angles[start:end] = angle
        turns.heights[start:end] = height
    return turns


def level_frame(boxes: Floats, angle: float, width: float, height: float) -> Floats:
    """Boxes on a page of this size as they are where the page is turned back by `angle`.

    Boxes of text that is turned by quarters stay exact; others turn about their centres and keep their sides.
    """
    left, top, right, bottom = boxes.T
    match angle:
        case 0:
            return boxes
        case 90:
            turned = (top, width - right, bottom, width - left)
        case 180:
            turned = (width - right, height - bottom, width - left, height - top)
        case 270:
            turned = (height - bottom, left, height - top, right)
        case _:
            cosine, sine = np.cos(np.radians(angle)), np.sin(np.radians(angle))
            x, y = (left + right) / 2, (top + bottom) / 2
            across, down = (right - left) / 2, (bottom - top) / 2
            x, y = x * cosine + y * sine, y * cosine - x * sine
            turned = (x - across, y - down, x + across, y + down)
    return np.stack(turned, axis=1).astype(np.float32)


def turned_back(boxes: Floats, turns: Turns) -> Floats:
    """Boxes with those of slanted characters, which span the slanted box, replaced by that box turned level."""
    slanted = turns.angles % 90 != 0
    if not slanted.any():
        return boxes
    spans, radians, down = boxes[slanted], np.radians(turns.angles[slanted]), turns.heights[slanted]
    cosine, sine = np.abs(np.cos(radians)), np.abs(np.sin(radians))
    wide, high = spans[:, 2] - spans[:, 0], spans[:, 3] - spans[:, 1]
    across = np.where(cosine > sine, (wide - down * sine) / cosine, (high - down * cosine) / np.maximum(sine, 0.5))
    half = np.stack((np.maximum(across, 0.05 * down), down), axis=1) / 2
    centres = (spans[:, :2] + spans[:, 2:]) / 2
    result = boxes.copy()
    result[slanted] = np.concatenate((centres - half, centres + half), axis=1)
    return result


def _run_starts(boxes: Floats, spaced: Flags) -> npt.NDArray[np.intp]:
    """The indices at which a run of neighbours begins: after white space, and after a step over other text."""
    step = np.abs(boxes[1:, :2] - boxes[:-1, :2]).max(axis=1)
    sides = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
    begins = spaced.copy()
    begins[1:] |= step > _LARGEST_STEP * np.maximum(sides[1:], sides[:-1])
    begins[0] = True
    return np.flatnonzero(begins)


def _plainly_level(boxes: Floats, starts: npt.NDArray[np.intp]) -> Flags:
    """True where the character after the first of a run stands on its right, as high as it."""
    first, second = boxes[starts], boxes[np.minimum(starts + 1, len(boxes) - 1)]
    right, down = second[:, 0] - first[:, 0], second[:, 3] - first[:, 3]
    return np.asarray((right > 0) & (np.abs(down) <= _LARGEST_SLOPE * right))


def _matrices(text_page: int, indices: npt.NDArray[np.int32]) -> tuple[Floats, Floats]:
    """The text matrices [a, b, c, d, e, f] of characters, and their font sizes in units of these."""
    rows, sizes = np.zeros((len(indices), 6), np.float32), np.zeros(len(indices), np.float32)
    read_matrix = ctypes.cast(pdfium.FPDFText_GetMatrix, _Matrix)
    read_size = ctypes.cast(pdfium.FPDFText_GetFontSize, _FontSize)
    base = rows.ctypes.data
    for number, index in enumerate(indices.tolist()):
        read_matrix(text_page, index, base + 24 * number)
        sizes[number] = read_size(text_page, index)
    return rows, sizes


def _grouped(angles: npt.NDArray[np.floating[Any]]) -> Floats:
    """Angles with those that differ by a skew made equal, and those near a quarter turn made one."""
    shifted = (angles + 45) % 360 - 45
    order = np.argsort(shifted)
    groups = np.cumsum(np.diff(shifted[order], prepend=shifted[order[0]]) > _LARGEST_SKEW)
    result = np.zeros(len(angles), np.float32)
    for group in range(groups[-1] + 1):
        members = order[groups == group]
        angle = float(np.median(shifted[members]))
        quarter = 90 * round(angle / 90)
        result[members] = (quarter if abs(angle - quarter) <= _LARGEST_SKEW else angle) % 360
    return result
