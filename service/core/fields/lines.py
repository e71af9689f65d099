"""Lines and keys: the key of a value is the words before it on its line, or else the caption above it.

The rules:
- A key begins after the last amount before its value.
- A caption is the cell above in the value's column (`cells`). All cells of its line are captions: none has a digit but
  that of a rate; and they are several, or the value's line has one cell as well.
- Where the line above the captions has several captions too, the one above goes before it ("Unit" over "price").
- An amount takes a caption only if no word stands before it on its line. Amounts below amounts are a table's.
- An amount directly followed by another one on its line is part of a table's row and has no key before it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar, cast

from service.core.fields.cells import NO_CELLS, Cell, Extents, PlaceUnit, Row, in_column, nearest, row_of

_Found = TypeVar("_Found")


class TextLines:
    """Lines of one text, numbered from 0; offsets are code points.

    Args:
        text: the text.
        extents: finds where parts of a line stand on the page, if the document has a layout.
    """

    def __init__(self, text: str, extents: Extents | None = None) -> None:
        self._text = text
        self._extents = extents
        self._starts = [0, *(place.end() for place in _LINE_BREAK.finditer(text))]
        self._rows: dict[int, Row] = {}
        self._results: dict[Callable[[TextLines], object], object] = {}

    @property
    def text(self) -> str:
        """The whole text."""
        return self._text

    def beginning(self, characters: int) -> TextLines:
        """Return the lines of the text's first characters; these lines if it has no more."""
        return self if len(self._text) <= characters else TextLines(self._text[:characters], self._extents)

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self._starts)

    def at(self, offset: int) -> int:
        """Return the number of the line that holds `offset`."""
        return bisect_right(self._starts, offset) - 1

    def start(self, line: int) -> int:
        """Return the offset at which a line begins; the text's end for a line beyond its last."""
        return self._starts[line] if line < len(self._starts) else len(self._text)

    def between(self, start: int, end: int) -> str:
        return self._text[start:end]

    def first(self, characters: int) -> Iterator[tuple[int, str]]:
        """Yield offset and text of the lines in the first `characters` of the text."""
        for start, following in pairwise([*self._starts, len(self._text) + 1]):
            if start >= characters:
                return
            yield start, self._text[start : min(following - 1, characters)]

    def before(self, offset: int, most: int) -> str:
        """Return the last `most` characters before `offset` on its line."""
        return self._text[max(self._starts[self.at(offset)], offset - most) : offset]

    def after(self, offset: int, most: int) -> str:
        """Return the next `most` characters from `offset` on, on its line."""
        return self._text[offset : min(offset + most, self.end(self.at(offset)))]

    def around(self, offset: int) -> str:
        """Return the line that holds `offset`; of a long one the part within `LONGEST_ROW` characters on both sides."""
        return self.before(offset, LONGEST_ROW) + self.after(offset, LONGEST_ROW)

    def end(self, line: int) -> int:
        """Return the offset at which a line ends, before its line break; the text's end for a line beyond its last."""
        return self._starts[line + 1] - 1 if line + 1 < len(self._starts) else len(self._text)

    def line(self, offset: int) -> str:
        """Return the line that holds `offset`."""
        number = self.at(offset)
        return self._text[self._starts[number] : self.end(number)]

    def above(self, offset: int, count: int, most: int) -> list[str]:
        """Return `count` lines above that of `offset`, the nearest first, without those of over `most` characters."""
        line = self.at(offset)
        borders = self._starts[max(line - count, 0) : line + 1]
        short = ((start, end - 1) for start, end in pairwise(borders) if end - 1 - start <= most)
        return [self._text[start:end] for start, end in short][::-1]

    def row(self, line: int) -> Row:
        """Return the cells of a line; none of a line of over `LONGEST_ROW` characters, or beyond the text."""
        if line not in self._rows:
            start, end = self.start(max(line, 0)), self.end(max(line, 0))
            is_row = 0 <= line < len(self._starts) and end - start <= LONGEST_ROW
            self._rows[line] = row_of(self._text, start, end, self._extents) if is_row else NO_CELLS
        return self._rows[line]

    def once(self, find: Callable[[TextLines], _Found]) -> _Found:
        """Return what a function finds in these lines, which is called at the first use alone."""
        if find not in self._results:
            self._results[find] = find(self)
        return cast(_Found, self._results[find])

    def part(self, line: int, start: int, end: int) -> Cell:
        """Return a part of a line as a cell, placed in the unit of the line's cells."""
        row = self.row(line)
        whole = row.at(start)
        if row.unit is PlaceUnit.POINTS and self._extents is not None:
            ((left, right),) = self._extents([(start, end)])
            return Cell(start, end, left, right)
        if row.unit is PlaceUnit.TABS and whole is not None:
            return Cell(start, end, whole.left, whole.right)
        return Cell(start, end, start - self._starts[line], end - self._starts[line])


BEFORE = 64
"""Characters before a value that are searched for its key."""
AFTER = 24
"""Characters after an amount that are searched for another one."""
LINES_BESIDE, BESIDE = 8, 72.0
"""Most lines of another block above a cell, and the least gap in points between the two columns."""
LONGEST_LINE = 400
"""Most characters of a line that are searched for words and rates."""
LONGEST_ROW = 240
"""Most characters of a line that is divided into cells."""
LONGEST_CAPTION = 40
"""Most characters of a caption over two lines."""

_LINE_BREAK = re.compile("\n")
_SUM = (
    r"(?<![0-9])(?<![0-9][.,])(?![0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2})"
    r"[0-9][0-9.,'’]*[.,](?:[0-9]{4}|[0-9]{2})(?![0-9])(?!\s?[%％])"
)
"""A number with decimals of money that is no rate, and no day such as 18.09.2019."""
_ANY_SUM = re.compile(_SUM)
_LAST_SUM = re.compile(rf".*{_SUM}", re.DOTALL)
_SUM_FOLLOWS = re.compile(rf"\s*(?:[A-Z]{{2,3}}|[€$£¥])?\s*[-−(]?(?:[A-Z]{{2,3}}|[€$£¥])?\s*{_SUM}")
_WORD = re.compile(r"[^\W\d_]{4}")
_SHORT_WORD = re.compile(r"(?![A-Z]{3}(?![^\W\d_]))[^\W\d_]{3}")
"""Three letters in a row that are no currency's code."""
_NO_WORD = re.compile(r"[\W\d_]*")
_RATE = re.compile(r"[0-9]{1,3}(?:[.,][0-9]{1,3})?\s?[%％]")
_RUN = re.compile(r"\S+")
_SIGN_ALONE = re.compile(r"\s{0,4}(?:[€$£¥]|[A-Z]{3})\s{0,4}")
_MARKS = re.compile(r"(?:[A-Z]{3}|[^\w\n]){0,4}\s?")


def key_of(lines: TextLines, start: int) -> str:
    """Find the key of the amount at `start`; empty where it has none."""
    own = _LAST_SUM.sub("", lines.before(start, BEFORE))
    return caption_of(lines, start) if _NO_WORD.fullmatch(own) else own


def _key_below(lines: TextLines, start: int) -> str:
    """Find the words below an amount whose currency stands below them: a cell of two lines beside its key."""
    line = lines.at(start)
    own, below, sign = (lines.between(lines.start(at), lines.end(at)) for at in (line, line + 1, line + 2))
    is_wrapped = _SIGN_ALONE.fullmatch(sign) is not None and _SHORT_WORD.search(own) is None
    return below if is_wrapped and not any(map(str.isdigit, below)) else ""


def caption_of(lines: TextLines, start: int) -> str:
    """Find the caption above the amount at `start`; empty where it has none, words before it, or amounts below.

    The caption of an amount whose currency stands alone two lines below is the line between.
    """
    is_in_row = _SHORT_WORD.search(lines.before(start, BEFORE)) or is_one_of_many_rows(lines, start)
    return "" if is_in_row else _key_below(lines, start) or key_above(lines, start)


def is_one_of_several(lines: TextLines, end: int) -> bool:
    """True if another amount directly follows, on its line, the one that ends at `end`."""
    return _SUM_FOLLOWS.match(lines.after(end, AFTER)) is not None


def has_sum(text: str) -> bool:
    """True if a text has a number with decimals of money, which is no rate."""
    return _ANY_SUM.search(text) is not None


def has_words(text: str) -> bool:
    """True if a text has four letters in a row: more than a unit or a currency."""
    return _WORD.search(text) is not None


def key_above(lines: TextLines, start: int) -> str:
    """Find the caption above the cell that begins at `start`; empty where there is none."""
    line = lines.at(start)
    row = lines.row(line)
    cell = row.at(start)
    if cell is None or not _MARKS.fullmatch(lines.between(cell.start, start)):
        return ""
    captions = lines.row(line - 1)
    if len(captions.cells) < min(len(row.cells), 2) or not is_caption_row(lines, captions):
        return ""
    caption, upper = in_column(cell, row, captions), lines.row(line - 2)
    own = _words_of(lines, caption, cell, row) if caption else ""
    if len(upper.cells) > 1 and is_caption_row(lines, upper):
        first = in_column(caption, captions, upper) if caption else in_column(cell, row, upper)
        whole = f"{lines.between(first.start, first.end)} {own}".rstrip() if first else own
        return whole if len(whole) <= LONGEST_CAPTION else own
    return own


def _words_of(lines: TextLines, caption: Cell, cell: Cell, row: Row) -> str:
    """Return a caption's words; of one that reaches over several cells below, those above this cell."""
    text = lines.between(caption.start, caption.end)
    if row.unit is not PlaceUnit.POINTS or sum(caption.overlap(other) > 0 for other in row.cells) < 2:
        return text
    line = lines.at(caption.start)
    words = (lines.part(line, caption.start + word.start(), caption.start + word.end()) for word in _RUN.finditer(text))
    return " ".join(lines.between(word.start, word.end) for word in words if max(row.cells, key=word.overlap) is cell)


def is_one_of_many_rows(lines: TextLines, start: int) -> bool:
    """True if the line below that of the value at `start` has as many cells without words: both are rows of a table."""
    row, below = (lines.row(lines.at(start) + more) for more in (0, 1))
    if len(row.cells) < 2 or len(row.cells) != len(below.cells) or is_caption_row(lines, below):
        return False
    return _SHORT_WORD.search(lines.between(below.cells[0].start, below.cells[-1].end)) is None


def is_caption_row(lines: TextLines, row: Row) -> bool:
    """True if a line has cells, and no digit but those of rates."""
    if not row.cells:
        return False
    text = lines.between(row.cells[0].start, row.cells[-1].end)
    return not any(map(str.isdigit, _RATE.sub("", text) if "%" in text or "％" in text else text))


def cells_above(lines: TextLines, offset: int, count: int) -> Iterator[str]:
    """Yield the cell nearest to the column of `offset` from each of `count` lines above it, the nearest line first.

    Lines of another block of the page, beside all cells of the line, have an empty cell each and do not count.
    """
    line = lines.at(offset)
    row = lines.row(line)
    cell = row.at(offset)
    for above in range(line - 1, max(line - 1 - LINES_BESIDE - count, -1), -1):
        other = lines.row(above)
        found = nearest(cell, row, other) if cell else None
        is_beside = found is not None and _is_beside(row, other, found)
        yield lines.between(found.start, found.end) if found and not is_beside else ""
        count -= not is_beside
        if not count:
            return


def _is_beside(row: Row, other: Row, cell: Cell) -> bool:
    """True if a cell of the line `other` stands beside all of the line `row`, in another block of the page."""
    return row.unit is other.unit is PlaceUnit.POINTS and all(each.overlap(cell) < -BESIDE for each in row.cells)
