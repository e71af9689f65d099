"""A page as fragments of text at places, composed from boxes of rows of pieces; knows nothing of reading.

A piece is text with a label or without; a piece of several lines holds line ends.

Units: x in characters of equal width (wide scripts take two), y in lines. A box's fragments are in the order in which
they are drawn, as in a PDF's content stream. An entity broken over several lines has one key in all its parts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

_FIRST_WIDE = 0x1100
_NARROW = ((0x2000, 0x2E7F), (0x1E00, 0x1FFF), (0xFB00, 0xFDFF))


class Piece(NamedTuple):
    """Some text, and its label when it is an entity."""

    text: str
    label: str | None = None


Row = tuple[Piece, ...]
Block = list[Row]


def row(*parts: str | Piece) -> Row:
    """A row of pieces; plain strings carry no label."""
    return tuple(part if isinstance(part, Piece) else Piece(part) for part in parts)


class Part(NamedTuple):
    """Some text of a fragment, its label, and the key of the entity that it belongs to."""

    text: str
    label: str | None
    key: object


class Fragment(NamedTuple):
    """Text on one line, words one space apart; `x` is its left edge."""

    x: float
    y: float
    parts: tuple[Part, ...]
    width: int

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)


class Box(NamedTuple):
    """Fragments in the order of drawing, from (0, 0) to (width, height)."""

    fragments: tuple[Fragment, ...]
    width: float
    height: float


EMPTY = Box((), 0, 0)


def lines(rows: Iterable[Row]) -> Box:
    """Rows one below another, flush left. A piece with line ends goes on in the rows below, as one entity."""
    fragments: list[Fragment] = []
    y = 0.0
    for row in rows:
        current: list[Part] = []
        for piece in row:
            key = object()
            for number, text in enumerate(piece.text.split("\n")):
                if number:
                    fragments += _fragment(current, y)
                    current, y = [], y + 1
                current.append(Part(text, piece.label, key))
        fragments += _fragment(current, y)
        y += 1
    return Box(tuple(fragments), max((f.width for f in fragments), default=0), y)


def stack(*boxes: Box, gap: float = 0) -> Box:
    """Boxes one below another, `gap` lines apart; empty ones leave no gap."""
    fragments: list[Fragment] = []
    y = 0.0
    full = [box for box in boxes if box.fragments]
    for box in full:
        fragments += _moved(box, 0, y)
        y += box.height + gap
    return Box(tuple(fragments), max((box.width for box in full), default=0), max(0.0, y - gap))


def side_by_side(*boxes: Box, gap: float = 6, at: float | None = None) -> Box:
    """Boxes side by side, drawn one after the other; the second begins at `at` if that is free."""
    fragments: list[Fragment] = []
    x = 0.0
    full = [box for box in boxes if box.fragments]
    for number, box in enumerate(full):
        if number == 1 and at is not None:
            x = max(x, at)
        fragments += _moved(box, x, 0)
        x += box.width + gap
    return Box(tuple(fragments), max(0.0, x - gap), max((box.height for box in full), default=0))


def grid(
    rows: Sequence[Sequence[Row]], *, gap: float = 4, right: frozenset[int] = frozenset(), by_columns: bool = False
) -> Box:
    """A table, drawn row by row (or column by column); columns in `right` are flush right.

    Cells may hold several lines; a row may have fewer cells than others.
    """
    cells = [[lines([cell]) for cell in row] for row in rows]
    count = max(map(len, cells), default=0)
    widths = [max((row[n].width for row in cells if n < len(row)), default=0) for n in range(count)]
    starts = [sum(widths[:n]) + gap * n for n in range(count)]
    placed: list[tuple[int, Fragment]] = []
    y = 0.0
    for row in cells:
        for n, cell in enumerate(row):
            shift = starts[n] + (widths[n] - cell.width if n in right else 0)
            placed += [(n, fragment) for fragment in _moved(cell, shift, y)]
        y += max((cell.height for cell in row if cell.fragments), default=1)
    if by_columns:
        placed.sort(key=lambda pair: pair[0])
    return Box(tuple(fragment for _, fragment in placed), sum(widths) + gap * max(0, count - 1), y)


def indented(box: Box, by: float) -> Box:
    return Box(tuple(_moved(box, by, 0)), box.width + by, box.height) if box.fragments else box


def mirrored(box: Box, width: float) -> Box:
    """The box as scripts from right to left set it, on a page of the width."""
    width = max(width, box.width)
    return Box(tuple(f._replace(x=width - f.x - f.width) for f in box.fragments), width, box.height)


def width_of(text: str) -> int:
    """The width of a text in characters; Chinese, Japanese and Korean ones count twice."""
    if text.isascii():
        return len(text)
    return len(text) + sum(ord(c) >= _FIRST_WIDE and not any(a <= ord(c) <= b for a, b in _NARROW) for c in text)


def _fragment(parts: Sequence[Part], y: float) -> list[Fragment]:
    """The fragment of the parts, without blanks at its ends or in pairs; none of blanks alone."""
    kept: list[Part] = []
    for part in parts:
        text = " ".join(part.text.split(" ")) if "  " not in part.text else _single_spaced(part.text)
        if not kept or kept[-1].text.endswith(" "):
            text = text.lstrip()
        if text:
            kept.append(part._replace(text=text))
    while kept and not kept[-1].text.rstrip():
        kept.pop()
    if not kept:
        return []
    kept[-1] = kept[-1]._replace(text=kept[-1].text.rstrip())
    return [Fragment(0, y, tuple(kept), sum(width_of(part.text) for part in kept))]


def _single_spaced(text: str) -> str:
    inner = " ".join(text.split())
    return f"{' ' if text[:1] == ' ' else ''}{inner}{' ' if text[-1:] == ' ' and inner else ''}"


def _moved(box: Box, x: float, y: float) -> Iterable[Fragment]:
    return (Fragment(f.x + x, f.y + y, f.parts, f.width) for f in box.fragments)
