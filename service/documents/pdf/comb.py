"""Finds characters that stand in a comb: the boxes of a form that hold one character each, at even distances.

An IBAN in such boxes is one word. Not a comb: text with typed spaces, rows of a table, a scale `1 2 3 4 5 6 7 8`, dots.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.documents.pdf.angles import Flags, Floats

_FEWEST = 8
"""Characters of a comb: a date, a BIC; a row of seven may be the days of a week."""
_NARROWEST_GAP, _WIDEST_STEP = 0.15, 4.0
"""Between the characters of a row, and from one to the next, in heights; some combs have wide gaps between groups."""
_WIDEST_BOX = 2.2
"""The most common step in a row, at most, in heights: cells of tables are wider."""
_EVEN = 0.06
"""Share by which a step may differ from the most common one."""
_MOSTLY = 0.6
"""Least share of even steps in a row; the others skip an empty box, or lead to the next group."""
_NEXT_ROW = 2.2
"""Rows with the same columns that are not this many heights apart are a table."""


class _Row(NamedTuple):
    """Characters from `start` to `end`, the common step and left edge in points, the middle, height, even steps."""

    start: int
    end: int
    step: float
    left: float
    middle: float
    height: float
    is_even: Flags


def comb_joints(boxes: Floats, codes: npt.NDArray[np.uint32], typed: Flags) -> Flags:
    """True for each character that stands in the box after that of the one before it; `typed`: after a typed space."""
    joints = np.zeros(len(boxes), np.bool_)
    rows = list(_rows(boxes, codes, typed))
    for row in rows:
        if not any(other is not row and _are_table(row, other) for other in rows):
            joints[row.start + 1 : row.end] = row.is_even
    return joints


def _rows(boxes: Floats, codes: npt.NDArray[np.uint32], typed: Flags) -> Iterator[_Row]:
    if len(boxes) < _FEWEST:
        return
    heights = np.minimum(boxes[1:, 3] - boxes[1:, 1], boxes[:-1, 3] - boxes[:-1, 1])
    apart = boxes[1:, 0] - boxes[:-1, 2] > _NARROWEST_GAP * heights
    apart &= boxes[1:, 0] - boxes[:-1, 0] < _WIDEST_STEP * heights
    apart &= np.abs(boxes[1:, 3] - boxes[:-1, 3]) < _NARROWEST_GAP * heights
    borders = np.flatnonzero(~(apart & ~typed[1:])) + 1
    starts, ends = np.append(0, borders), np.append(borders, len(boxes))
    for at in np.flatnonzero(ends - starts >= _FEWEST).tolist():
        row = _row(boxes, codes, int(starts[at]), int(ends[at]))
        if row is not None:
            yield row


def _row(boxes: Floats, codes: npt.NDArray[np.uint32], start: int, end: int) -> _Row | None:
    """The row of these characters, whose left edges or centres are evenly apart; None if they are not a comb's."""
    own = boxes[start:end]
    height = float(np.median(own[:, 3] - own[:, 1]))
    for x in (own[:, 0], (own[:, 0] + own[:, 2]) / 2):
        steps = np.diff(x)
        step = float(np.median(steps))
        is_even = np.abs(steps - step) <= _EVEN * step
        if is_even.mean() >= _MOSTLY and steps.min() >= (1 - _EVEN) * step and step <= _WIDEST_BOX * height:
            text = "".join(map(chr, codes[start:end].tolist()))
            is_scale = (np.diff(codes[start:end].astype(np.int64)) == 1).mean() >= _MOSTLY
            if is_scale or len(set(text)) == 1 or sum(map(str.isalnum, text)) < _MOSTLY * len(text):
                return None
            return _Row(start, end, step, float(x[0]), float(own[:, 1::2].mean()), height, is_even)
    return None


def _are_table(row: _Row, other: _Row) -> bool:
    """True if two rows are close, and their columns the same."""
    columns = abs(row.left - other.left) / row.step
    return (
        abs(row.step - other.step) <= _EVEN * row.step
        and abs(columns - round(columns)) <= 2 * _EVEN
        and abs(row.middle - other.middle) < _NEXT_ROW * row.height
    )
