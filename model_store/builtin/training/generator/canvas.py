"""Documents as rows of pieces, and their rendering to text with exact offsets.

Offsets are computed here only: everything before works on rows, so no layout operation can break them.
A piece is text with a label or without; a piece of several lines holds line ends.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from model_store.builtin.training.labels import Span


class Piece(NamedTuple):
    """Some text, and its label when it is an entity."""

    text: str
    label: str | None = None


Row = tuple[Piece, ...]
Block = list[Row]


def row(*parts: str | Piece) -> Row:
    """A row of pieces; plain strings carry no label."""
    return tuple(part if isinstance(part, Piece) else Piece(part) for part in parts)


def fill(template: str, **values: Piece | str) -> Row:
    """A row from a template with {names}."""
    parts: list[str | Piece] = []
    for position, text in enumerate(template.replace("}", "{").split("{")):
        parts.append(values[text] if position % 2 else text)
    return row(*(part for part in parts if part != ""))


def text_of(line: Row) -> str:
    """The row's characters."""
    return "".join(piece.text for piece in line)


def split_lines(block: Iterable[Row]) -> Block:
    """Split pieces of several lines, so that each row is one line of text."""
    rows: Block = []
    for line in block:
        current: list[Piece] = []
        for piece in line:
            first, *others = piece.text.split("\n")
            current.append(Piece(first, piece.label))
            for other in others:
                rows.append(tuple(current))
                current = [Piece(other, piece.label)]
        rows.append(tuple(current))
    return rows


def beside(left: Sequence[Row], right: Sequence[Row], *, gap: str) -> Block:
    """Two blocks side by side, row by row, as a text extractor prints two columns."""
    left, right = split_lines(left), split_lines(right)
    merged: Block = []
    for number in range(max(len(left), len(right))):
        both = [block[number] for block in (left, right) if number < len(block)]
        merged.append((*both[0], Piece(gap), *both[1]) if len(both) == 2 else both[0])
    return merged


def render(rows: Sequence[Row], *, line_end: str = "\n") -> tuple[str, tuple[Span, ...]]:
    """Text and its spans. Entities are trimmed of white space; empty ones vanish."""
    parts: list[str] = []
    spans: list[Span] = []
    position = 0
    for number, line in enumerate(rows):
        for piece in (Piece(line_end if number else ""), *line):
            bare = piece.text.strip()
            if piece.label and bare:
                start = position + piece.text.index(bare)
                spans.append(Span(start, start + len(bare), piece.label))
            parts.append(piece.text)
            position += len(piece.text)
    return "".join(parts), tuple(spans)
