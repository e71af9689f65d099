"""Text as it flows from a marked-up format: words, blocks, table cells → lines.

    blocks begin on a new line · rows of a table are lines · cells of a row are separated by a tab
    white space is owed, and written only when something follows it, so lines never end in blanks

Owns white space. Does not know any markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")


@dataclass(slots=True)
class _Row:
    """An open table row, and the state to return to should it turn out empty."""

    owed: str
    parts: int
    in_empty_cell: bool
    cells: int = 0


class TextWriter:
    """Collects text; `result()` gives it. Time and memory are linear in what is written.

    `characters` counts what has been written so far, in code points.
    """

    def __init__(self) -> None:
        self.characters = 0
        self._parts: list[str] = []
        self._owed = ""
        self._at_line_start = True
        self._in_empty_cell = False
        self._rows: list[_Row] = []

    def words(self, text: str) -> None:
        """Running text: white space collapses to one space, as in a browser; a no-break space counts as white space."""
        collapsed = _BLANKS.sub(" ", text)
        if collapsed.startswith(" ") and not self._owed and not self._at_line_start:
            self._owed = " "
        if core := collapsed.strip(" "):
            self.verbatim(core)
            if collapsed.endswith(" "):
                self._owed = " "

    def verbatim(self, text: str) -> None:
        """Text whose white space counts."""
        if not text:
            return
        self._parts += (self._owed, text)
        self.characters += len(self._owed) + len(text)
        self._owed = ""
        self._at_line_start = text.endswith("\n")
        self._in_empty_cell = False

    def line_break(self) -> None:
        """A new line, also where one has just begun; not before the first word of a cell or of everything."""
        if self._parts and not self._in_empty_cell:
            self._owed = (self._owed if self._owed.startswith("\n") else "") + "\n"
            self._at_line_start = True

    def block(self) -> None:
        """What follows begins on a line of its own; the first block of a cell stands in the cell's line."""
        if not self._in_empty_cell and not self._at_line_start:
            self._owed = "\n"
            self._at_line_start = True

    def row_start(self) -> None:
        self.block()
        self._rows.append(_Row(self._owed, len(self._parts), self._in_empty_cell))

    def cell_start(self) -> None:
        """A cell outside of any row is a block."""
        if not self._rows:
            self.block()
            return
        row = self._rows[-1]
        if row.cells:
            self._owed = self._owed + "\t" if self._in_empty_cell else "\t"
        row.cells += 1
        self._at_line_start = True
        self._in_empty_cell = True

    def row_end(self) -> None:
        if not self._rows:
            return
        row = self._rows.pop()
        is_empty = row.parts == len(self._parts)
        self._owed = row.owed if is_empty else "\n"
        self._in_empty_cell = row.in_empty_cell and is_empty
        self._at_line_start = True

    def result(self) -> str:
        return "".join(self._parts)
