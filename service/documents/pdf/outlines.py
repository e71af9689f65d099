"""Letters that a PDF page paints as paths, filled or drawn by strokes, as some programs and plotters write text.

Paths alone do not tell letters from ornaments. A *row* is taken for writing if it is of many marks beside each other
that stand on one line and differ in size; signs of charts are alike, and the strokes of a signature stand anywhere.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Floats
from service.documents.pdf.page_objects import Box, Painted, boxes_of, moved, own_matrix

_HIGHEST = 24.0
"""Points: letters of text are lower, and so is whatever makes up one path of theirs."""
_HIGHEST_LETTER = 15.0
"""Points, of a row: higher ones are of a heading or a logo, or strokes of a signature."""
_SIMPLE_PATH = 5  # segments of a rectangle; such a path is a rule or a frame
_MOST_ALIKE, _FEWEST_ALIKE = 0.4, 20  # of the paths: if more of them have one shape, they are signs, not letters
_LOOKED_AT, _LONGEST_LETTER = 300, 60  # segments of such a path that are looked at, and of a letter
_MOST_SEGMENTS, _MOST_MARKS = 3_000, 2_000  # of a page that are looked at for rows
_FEWEST_MARKS, _FEWEST_SIZES, _LEAST_VARIED, _LEAST_ALIGNED = 6, 4, 0.3, 0.4
"""Bounds of a row: marks, sizes, the share of marks with a size of their own, and the share on its line."""
_WIDEST_GAP, _ON_LINE = 1.2, 0.05  # between marks of a row, and from its line; in heights of the row


def outline_segments(objects: Sequence[Painted]) -> int:
    """The segments of paths that may be letters: of many shapes, none of which is that of most, as signs in a chart."""
    shapes: dict[tuple[int, ...], int] = {}
    for path, box in _paths(objects):
        size = round(box[2] - box[0]), round(box[3] - box[1])
        if segments := _segments(path.handle, *size):
            shapes[(segments, *size)] = shapes.get((segments, *size), 0) + 1
    paths, most = sum(shapes.values()), max(shapes.values(), default=0)
    if most > _MOST_ALIKE * paths > _FEWEST_ALIKE:
        return 0
    return sum(shape[0] * count for shape, count in shapes.items())


def outline_rows(objects: Sequence[Painted]) -> Floats:
    """The boxes [left, bottom, right, top] on the page of rows of small paths that look like a line of letters."""
    marks: list[Box] = []
    left = _MOST_SEGMENTS
    for path, box in _paths(objects):
        wide, high = box[2] - box[0], box[3] - box[1]
        segments = _segments(path.handle, round(wide), round(high)) if high <= _HIGHEST else 0
        if not segments or len(marks) >= _MOST_MARKS:
            continue
        if wide <= _HIGHEST:
            marks.append(box)
        elif segments <= left:
            left -= segments
            marks += _parts(path, segments)
    rows = [chain for row in _in_rows(marks) for chain in _chains(row) if _is_writing(chain)]
    return np.array([_around(row) for row in rows], np.float32).reshape(-1, 4)


def _paths(objects: Sequence[Painted]) -> Iterator[tuple[Painted, Box]]:
    paths = [each for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_PATH]
    return zip(paths, map(tuple, boxes_of(paths).tolist()), strict=True)


def _segments(path: Any, width: int, height: int) -> int:
    """The segments of a path that is filled or drawn as letters are: no rectangle, no long line and no curve."""
    count = int(pdfium.FPDFPath_CountSegments(path))
    if count <= _SIMPLE_PATH:
        return count if count < 4 and max(width, height) <= _HIGHEST else 0
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    is_drawn = stroke.value and (height <= _HIGHEST or _has_parts(path, count))
    return count if fill.value or is_drawn else 0


def _has_parts(path: Any, count: int) -> bool:
    """True if a path begins anew as often as letters do."""
    kinds = [
        pdfium.FPDFPathSegment_GetType(pdfium.FPDFPath_GetPathSegment(path, index))
        for index in range(min(count, _LOOKED_AT))
    ]
    return kinds.count(pdfium.FPDF_SEGMENT_MOVETO) * _LONGEST_LETTER >= len(kinds)


def _parts(path: Painted, count: int) -> list[Box]:
    """The boxes on the page of the parts of a path, each of which begins anew."""
    matrices = (own_matrix(path.handle), *path.matrices)
    parts: list[list[tuple[float, float]]] = []
    for index in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path.handle, index)
        x, y = ctypes.c_float(), ctypes.c_float()
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        if not parts or pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO:
            parts.append([])
        parts[-1].append(moved((x.value, y.value), matrices))
    return [_around([(x, y, x, y) for x, y in part]) for part in parts]


def _around(boxes: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _in_rows(marks: list[Box]) -> list[list[Box]]:
    """Marks in rows: of each the middle is at the height of the one before it."""
    rows: list[list[Box]] = []
    for mark in sorted(marks, key=lambda box: box[1] + box[3]):
        if rows and rows[-1][-1][1] <= (mark[1] + mark[3]) / 2 <= rows[-1][-1][3]:
            rows[-1].append(mark)
        else:
            rows.append([mark])
    return rows


def _chains(row: list[Box]) -> list[list[Box]]:
    """The marks of a row that stand beside each other."""
    row = sorted(row)
    widest = _WIDEST_GAP * max(top - bottom for _, bottom, _, top in row)
    chains = [[row[0]]]
    for before, mark in pairwise(row):
        if mark[0] - before[2] > widest:
            chains.append([])
        chains[-1].append(mark)
    return chains


def _is_writing(marks: list[Box]) -> bool:
    """True if enough marks of different sizes stand on one line."""
    sizes = {(round(right - left, 1), round(top - bottom, 1)) for left, bottom, right, top in marks}
    if len(marks) < _FEWEST_MARKS or len(sizes) < max(_FEWEST_SIZES, _LEAST_VARIED * len(marks)):
        return False
    high = max(top - bottom for _, bottom, _, top in marks)
    if high > _HIGHEST_LETTER:
        return False
    near = _ON_LINE * high
    bottoms = [bottom for _, bottom, _, _ in marks]
    most = max(sum(abs(each - bottom) <= near for each in bottoms) for bottom in set(bottoms))
    return most >= _LEAST_ALIGNED * len(marks)
