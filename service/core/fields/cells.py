"""Cells of lines: where they begin and end, and which cells of two lines stand in one column.

The rules:
- Cells are separated by tabs, or by two spaces or more.
- A cell's place is in points where the document has boxes; else in tabs where its line has any, else in characters.
- A line whose boxes do not follow each other from left to right (drawn sideways, or read from right to left) has none.
- A cell is in the column of the one that it overlaps most; in characters only if that one overlaps no cell more.
  Without overlap the nearest two are in one column, if they are near.
- Two lines with equally many cells, or with equally many tabs, have the same columns where places do not tell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise

Span = tuple[int, int]
"""Code points `[start, end)`."""
Extents = Callable[[Sequence[Span]], Sequence[tuple[float, float]]]
"""Finds left and right edge, in points of the page, of each part of one line, in order; NaN where nothing is placed."""

_CELL = re.compile(r"[^\t\n ]+(?: [^\t\n ]+)*")


class PlaceUnit(Enum):
    """Unit of a line's places; the value is the widest gap between two cells of one column that do not overlap."""

    POINTS = 18.0
    TABS = 0.0
    CHARACTERS = 3.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its code points `[start, end)` in the text, and its left and right edge in its line's unit."""

    start: int
    end: int
    left: float
    right: float

    def overlap(self, other: Cell) -> float:
        """Return the width that two cells share; below 0: the gap between them, negative."""
        return min(self.right, other.right) - max(self.left, other.left)


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of one line; `tabs`: tabs between them."""

    cells: tuple[Cell, ...]
    unit: PlaceUnit
    tabs: int = 0

    def at(self, offset: int) -> Cell | None:
        """Find the cell that holds an offset."""
        return next((cell for cell in self.cells if cell.start <= offset < cell.end), None)


NO_CELLS = Row((), PlaceUnit.CHARACTERS)


def cell_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the cells of a part of a text, of one line or several."""
    return (match.span() for match in _CELL.finditer(text, start, end))


def row_of(text: str, start: int, end: int, extents: Extents | None = None) -> Row:
    """Divide the line `[start, end)` into cells."""
    spans = list(cell_spans(text, start, end))
    tabs = text.count("\t", start, end)
    if extents is not None and spans:
        places = extents(spans)
        if all(one[0] < one[1] <= two[0] for one, two in pairwise([*places, (places[-1][1], places[-1][1])])):
            return Row(
                tuple(Cell(*span, *place) for span, place in zip(spans, places, strict=True)), PlaceUnit.POINTS, tabs
            )
    if not tabs:
        return Row(tuple(Cell(*span, span[0] - start, span[1] - start) for span in spans), PlaceUnit.CHARACTERS)
    gaps = pairwise([start, *(begin for begin, _ in spans)])
    before = accumulate(text.count("\t", one, two) for one, two in gaps)
    return Row(tuple(Cell(*span, at, at + 1) for span, at in zip(spans, before, strict=True)), PlaceUnit.TABS, tabs)


def in_column(cell: Cell, row: Row, other: Row) -> Cell | None:
    """Find the cell of the line `other` that stands in the column of a cell of the line `row`."""
    if not other.cells:
        return None
    if row.unit is other.unit and row.unit is not PlaceUnit.TABS:
        found = max(other.cells, key=cell.overlap)
        shared, is_mutual = found.overlap(cell), max(row.cells, key=found.overlap) is cell
        if (shared > 0 and row.unit is PlaceUnit.POINTS) or (shared >= -row.unit.value and is_mutual):
            return found
    if len(row.cells) == len(other.cells):
        return other.cells[row.cells.index(cell)]
    has_same_tabs = row.unit is other.unit is PlaceUnit.TABS and row.tabs == other.tabs
    return next((each for each in other.cells if has_same_tabs and each.left == cell.left), None)


def nearest(cell: Cell, row: Row, other: Row) -> Cell | None:
    """Find the cell of the line `other` that is nearest to the column of a cell of the line `row`."""
    if found := in_column(cell, row, other):
        return found
    if row.unit is other.unit and row.unit is not PlaceUnit.TABS:
        return max(other.cells, key=cell.overlap, default=None)
    return other.cells[min(row.cells.index(cell), len(other.cells) - 1)] if other.cells else None
