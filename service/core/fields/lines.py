"""Lines and keys: the key of a value is the words before it on its line, or else the cell above it.

The rules:
- A key begins after the last amount before its value.
- Cells are separated by tabs or several spaces. The cell above is the one of the same index, if both lines have equally
  many cells. It is a key if it has no digit, and an amount's key only if no word stands before the amount on its line.
- An amount directly followed by another one is part of a table's row and has no key.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise


class TextLines:
    """Lines of one text, numbered from 0; offsets are code points."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]

    def at(self, offset: int) -> int:
        """Return the number of the line that holds `offset`."""
        return bisect_right(self._starts, offset) - 1

    def start(self, line: int) -> int:
        """Return the offset at which a line begins; the text's end for a line beyond its last."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def between(self, start: int, end: int) -> str:
        return self._text[start:end]

    def before(self, offset: int, most: int) -> str:
        """Return the last `most` characters before `offset` on its line."""
        return self._text[max(self._starts[self.at(offset)], offset - most) : offset]

    def after(self, offset: int, most: int) -> str:
        """Return the next `most` characters from `offset` on, on its line."""
        return self._text[offset : min(offset + most, self.end(self.at(offset)))]

    def end(self, line: int) -> int:
        """Return the offset at which a line ends, before its line break; the text's end for a line beyond its last."""
        return self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self._text)

    def line(self, offset: int) -> str:
        """Return the line that holds `offset`."""
        number = self.at(offset)
        return self._text[self._starts[number] : self.end(number)]

    def length(self, offset: int) -> int:
        """Count the characters of the line that holds `offset`."""
        number = self.at(offset)
        return self.end(number) - self._starts[number]

    def column(self, offset: int) -> int:
        """Count the characters before `offset` on its line."""
        return offset - self._starts[self.at(offset)]

    def above(self, offset: int, count: int, most: int) -> list[str]:
        """Return `count` lines above that of `offset`, the nearest first, without those of over `most` characters."""
        line = self.at(offset)
        borders = self._starts[max(line - count, 0) : line + 1]
        short = ((start, end - 1) for start, end in pairwise(borders) if end - 1 - start <= most)
        return [self._text[start:end] for start, end in short][::-1]


BEFORE = 64
"""Characters before a value that are searched for its key."""
AFTER = 24
"""Characters after an amount that are searched for another one."""
LONGEST_ABOVE = 120
"""Most characters of a line that is split into cells."""

_SUM = r"[0-9][0-9.,'’]*[.,](?:[0-9]{4}|[0-9]{2})(?![0-9])(?!\s?[%％])"
_ANY_SUM = re.compile(_SUM)
_LAST_SUM = re.compile(rf".*{_SUM}", re.DOTALL)
_SUM_FOLLOWS = re.compile(rf"\s*(?:[A-Z]{{2,3}}|[€$£¥])?\s*[-−(]?(?:[A-Z]{{2,3}}|[€$£¥])?\s*{_SUM}")
_CELL = re.compile(r"\S+(?: \S+)*")
_NOTHING = ("",)
_WORD = re.compile(r"[^\W\d_]{4}")
_NO_WORD = re.compile(r"[\W\d_]*")


def key_of(lines: TextLines, start: int) -> str:
    """Find the key of the value at `start`; empty where it has none."""
    before = lines.before(start, BEFORE)
    own = _LAST_SUM.sub("", before)
    if not _NO_WORD.fullmatch(own):
        return own
    return "" if has_characters(before) else key_above(lines, start)


def is_one_of_several(lines: TextLines, end: int) -> bool:
    """True if another amount directly follows, on its line, the one that ends at `end`."""
    return _SUM_FOLLOWS.match(lines.after(end, AFTER)) is not None


def has_sum(text: str) -> bool:
    """True if a text has a number with decimals of money, which is no rate."""
    return _ANY_SUM.search(text) is not None


def has_characters(text: str) -> bool:
    return any(map(str.isalnum, text))


def has_words(text: str) -> bool:
    """True if a text has four letters in a row: more than a unit or a currency."""
    return _WORD.search(text) is not None


def column_cell(line: str, lines: TextLines, start: int) -> str:
    """Find the cell of a line above in the column of the value that begins at `start`.

    With tabs: the cell of the same index, or else the last; with spaces: the one that begins nearest.
    """
    if "\t" in line:
        cells = line.split("\t")
        return cells[min(lines.before(start, LONGEST_ABOVE).count("\t"), len(cells) - 1)]
    column = lines.column(start)
    return min(_CELL.finditer(line), key=lambda cell: abs(cell.start() - column), default=_NOTHING)[0]


def key_above(lines: TextLines, start: int) -> str:
    """Find the cell above the one that begins at `start`; empty if it has a digit, or the lines differ in cells."""
    above = lines.above(start, 1, LONGEST_ABOVE)
    if not above or lines.length(start) > LONGEST_ABOVE:
        return ""
    cells, begins = _CELL.findall(above[0]), [cell.start() for cell in _CELL.finditer(lines.line(start))]
    place = lines.column(start)
    if len(cells) != len(begins) or place not in begins:
        return ""
    cell: str = cells[begins.index(place)]
    return "" if any(map(str.isdigit, cell)) else cell
