"""Geometry of a PDF page's content: matrices, boxes, and the graphics state (ISO 32000-1, 8.4 and 9.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from service.documents.redaction.fonts import FontMetrics

Matrix = tuple[float, float, float, float, float, float]
Point = tuple[float, float]
Rectangle = tuple[float, float, float, float]
"""Left, bottom, right, top."""

IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_CELL = 8.0
"""Points: side of a cell of the grid below; about a line's height."""
_MOST_CELLS = 4_096


def multiply(first: Matrix, then: Matrix) -> Matrix:
    """The matrix that does `first`, `then` the other."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


def move(matrix: Matrix, x: float, y: float) -> Point:
    """Transform a point by a matrix."""
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def around(matrix: Matrix, box: Rectangle) -> Rectangle:
    """The upright box around what a matrix makes of a box."""
    left, bottom, right, top = box
    corners = [move(matrix, x, y) for x in (left, right) for y in (bottom, top)]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def joined(boxes: Iterable[Rectangle]) -> Rectangle:
    """The box around boxes."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


class BoxGrid:
    """Boxes, found by the cells of a grid that they lie in."""

    def __init__(self, boxes: Iterable[Rectangle]) -> None:
        self.boxes = list(boxes)
        self._cells: dict[tuple[int, int], list[Rectangle]] = {}
        self._large: list[Rectangle] = []
        for box in self.boxes:
            cells = list(_cells(box))
            if len(cells) > _MOST_CELLS:
                self._large.append(box)
            for cell in cells[:_MOST_CELLS]:
                self._cells.setdefault(cell, []).append(box)

    def holds(self, point: Point) -> bool:
        """True if a point lies in one of the boxes."""
        x, y = point
        if not (abs(x) < 1e9 and abs(y) < 1e9):  # NaN too.
            return False
        near = self._cells.get((int(x // _CELL), int(y // _CELL)), ())
        return any(b[0] <= x <= b[2] and b[1] <= y <= b[3] for b in (*near, *self._large))

    def touches(self, other: Rectangle) -> bool:
        """True if one of the boxes shares an area with another box."""
        left, bottom, right, top = other
        return any(b[0] < right and left < b[2] and b[1] < top and bottom < b[3] for b in self.boxes)


def _cells(box: Rectangle) -> Iterable[tuple[int, int]]:
    left, bottom, right, top = (int(side // _CELL) for side in box)
    if (right - left + 1) * (top - bottom + 1) > _MOST_CELLS:
        return [(0, 0)] * (_MOST_CELLS + 1)
    return ((x, y) for x in range(left, right + 1) for y in range(bottom, top + 1))


@dataclass(slots=True)
class GraphicsState:
    """The state at one operator. `matrix`: from user space to the page's; `text`, `line`: the text matrices."""

    matrix: Matrix = IDENTITY
    text: Matrix = IDENTITY
    line: Matrix = IDENTITY
    font: FontMetrics | None = None
    size: float = 0.0
    character_spacing: float = 0.0
    word_spacing: float = 0.0
    scaling: float = 1.0
    leading: float = 0.0
    rise: float = 0.0
    mode: float = 0.0

    def copy(self) -> GraphicsState:
        """The state as it is now."""
        return replace(self)

    def concatenate(self, matrix: Matrix) -> None:
        """`cm`."""
        self.matrix = multiply(matrix, self.matrix)

    def begin_text(self) -> None:
        """`BT`."""
        self.text = self.line = IDENTITY

    def next_line(self, x: float, y: float) -> None:
        """`Td`."""
        self.text = self.line = multiply((1.0, 0.0, 0.0, 1.0, x, y), self.line)

    def set_text(self, matrix: Matrix) -> None:
        """`Tm`."""
        self.text = self.line = matrix

    def advance(self, x: float, y: float) -> None:
        """Move the pen, in text space."""
        a, b, c, d, e, f = self.text
        self.text = (a, b, c, d, a * x + c * y + e, b * x + d * y + f)

    def glyphs(self) -> Matrix:
        """Matrix from a glyph's space, with font size 1, to the page's, with the pen at the origin."""
        size = (self.size * self.scaling, 0.0, 0.0, self.size, 0.0, self.rise)
        return multiply(size, multiply(self.text, self.matrix))
