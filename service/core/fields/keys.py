"""The key of a value: the words that stand for it, before it on its line or, where nothing is, in the cell above it.

The rules:
- Between a key and its value there is no other amount: behind one a new key begins.
- Cells are parted by tabs or several spaces; the cell above is that of the same number, if both lines have as many. It
  is a key if it has no digit, of an amount only if nothing stands before that.
- An amount that another one follows directly is one of a table's row: no key names it.
"""

from __future__ import annotations

import re

from service.core.fields.lines import TextLines

BEFORE = 64
"""Characters before a value in which its key is looked for."""
AFTER = 24
"""Characters after an amount in which another one is looked for."""
LONGEST_ABOVE = 120
"""Characters of a line above that may be keys."""

_SUM = r"[0-9][0-9.,'’]*[.,](?:[0-9]{4}|[0-9]{2})(?![0-9])(?!\s?[%％])"
_LAST_SUM = re.compile(rf".*{_SUM}", re.DOTALL)
_SUM_FOLLOWS = re.compile(rf"\s*(?:[A-Z]{{2,3}}|[€$£¥])?\s*[-−(]?(?:[A-Z]{{2,3}}|[€$£¥])?\s*{_SUM}")
_CELL = re.compile(r"\S+(?: \S+)*")
_NO_WORD = re.compile(r"[\W\d_]*")


def key_of(lines: TextLines, start: int) -> str:
    """The key of the value at `start`; empty where it has none."""
    before = lines.before(start, BEFORE)
    own = _LAST_SUM.sub("", before)
    if not _NO_WORD.fullmatch(own):
        return own
    return "" if has_characters(before) else key_above(lines, start)


def is_one_of_several(lines: TextLines, end: int) -> bool:
    """True where another amount follows directly the one that ends at `end`, on its line."""
    return _SUM_FOLLOWS.match(lines.after(end, AFTER)) is not None


def has_characters(text: str) -> bool:
    """Whether a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def key_above(lines: TextLines, start: int) -> str:
    """The cell above the one that a value at `start` begins; empty if lines have other cells, or that one a digit."""
    above = lines.above(start, 1, LONGEST_ABOVE)
    if not above or lines.length(start) > LONGEST_ABOVE:
        return ""
    cells, begins = _CELL.findall(above[0]), [cell.start() for cell in _CELL.finditer(lines.line(start))]
    place = lines.column(start)
    if len(cells) != len(begins) or place not in begins:
        return ""
    cell: str = cells[begins.index(place)]
    return "" if any(map(str.isdigit, cell)) else cell
