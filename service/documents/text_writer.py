"""Writes the text of a marked-up format as lines: words, blocks and table cells in, white space as in a browser.

blocks begin on a new line · rows of a table are lines · cells of a row are separated by a tab
white space is pending, and written only when text follows it, so lines never end in blanks
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from service.documents.document import UnreadReason

UNSEEN = "\xad\u200b\u2060\ufeff"
"""Characters without width: browsers and Word show nothing for them."""
_STROKE = "\u0336"
_STRUCK = re.compile(rf"(?:[^\uffff{_STROKE}][\u0300-\u0335]?)?{_STROKE}")
"""A character with a mark that strikes it out (combining long stroke overlay), perhaps after an accent; or the mark
alone, such as behind the sign of a picture."""
_LINE_PARTS = 16
"""Parts of the text, of a word or blank at least, that `line` looks at."""
_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")


@dataclass(slots=True)
class _Row:
    """An open table row, and the state to return to if it turns out to be empty."""

    pending: str
    parts: int
    in_empty_cell: bool
    cells: int = 0


class TextWriter:
    """Collects text; time and memory are linear in its length.

    `characters` is the length so far, in code points.
    """

    def __init__(self) -> None:
        self.characters = 0
        self._begin = ""
        self._parts: list[str] = []
        self._pending = ""
        self._at_line_start = True
        self._in_empty_cell = False
        self._rows: list[_Row] = []

    def words(self, text: str) -> None:
        """Write running text: white space, no-break spaces included, collapses to one space."""
        collapsed = _BLANKS.sub(" ", text)
        if collapsed.startswith(" ") and not self._pending and not self._at_line_start:
            self._pending = " "
        if core := collapsed.strip(" "):
            self.verbatim(core)
            if collapsed.endswith(" "):
                self._pending = " "

    def verbatim(self, text: str) -> None:
        """Write text with its white space as it is."""
        if not text:
            return
        self._parts += (self._pending, text)
        self.characters += len(self._pending) + len(text)
        self._pending = ""
        self._at_line_start = text.endswith("\n")
        self._in_empty_cell = False

    def mark(self, sign: str) -> None:
        """Note a place: write a sign behind what is written, before any white space, as if it were not there."""
        if self._parts:
            self._parts[-1] += sign
        else:
            self._begin += sign

    def gap(self, blank: str) -> None:
        """Separate what follows from what is before it in the line by a space or a tab, if nothing does yet."""
        if self._pending in ("", " ") and not self._at_line_start:
            self._pending = blank

    def line(self) -> str:
        """The end of the line so far, with the white space that is pending; of a long line the last part or more."""
        parts = self._parts[-_LINE_PARTS:]
        return ("".join(parts) + self._pending).rpartition("\n")[2]

    def line_break(self) -> None:
        """Begin a new line, even where one has just begun; not before the first word of a cell or of the text."""
        if self._parts and not self._in_empty_cell:
            self._pending = (self._pending if self._pending.startswith("\n") else "") + "\n"
            self._at_line_start = True

    def block(self) -> None:
        """Begin a block, on a line of its own; the first block of a cell stays in the cell's line."""
        if not self._in_empty_cell and not self._at_line_start:
            self._pending = "\n"
            self._at_line_start = True

    def row_start(self) -> None:
        """Begin a table row."""
        self.block()
        self._rows.append(_Row(self._pending, len(self._parts), self._in_empty_cell))

    def cell_start(self) -> None:
        """Begin a table cell; outside of a row it is a block."""
        if not self._rows:
            self.block()
            return
        row = self._rows[-1]
        if row.cells:
            self._pending = self._pending + "\t" if self._in_empty_cell else "\t"
        row.cells += 1
        self._at_line_start = True
        self._in_empty_cell = True

    def row_end(self) -> None:
        """End a table row; an empty one leaves no trace."""
        if not self._rows:
            return
        row = self._rows.pop()
        is_empty = row.parts == len(self._parts)
        self._pending = row.pending if is_empty else "\n"
        self._in_empty_cell = row.in_empty_cell and is_empty
        self._at_line_start = True

    def result(self, left_out: Counter[UnreadReason] | None = None) -> str:
        """The text so far, without pending white space and without characters that are struck out by a mark.

        Args:
            left_out: counts these characters.
        """
        text = self._begin + "".join(self._parts)
        if _STROKE not in text:
            return text
        kept = _STRUCK.sub("", text)
        if left_out is not None:
            left_out[UnreadReason.STRUCK] += len(text) - len(kept) - text.count(_STROKE)
        return kept
