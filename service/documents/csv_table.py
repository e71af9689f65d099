"""CSV table: its rows as lines, their cells separated by tabs, as the tables of other formats are.

- The first line that has tab, `;`, `|` or `,` outside of quotes and is divided as most lines are names the separator: a
  title above the table is not. Of several in it, that one counts which divides most lines into equally many cells, and
  of equals the one that fewer numbers have within.
- Excel's first line `sep=;` names the separator and is no row.
- White space and line ends in a cell are one space. Empty cells keep their place, but not at a line's end.
- Quotes that do not close, or close within a cell, could move words into other cells: the file is refused.

Source: RFC 4180.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

from service.core.errors import UnreadableDocument
from service.documents.charset import decode_text
from service.documents.document import Document
from service.documents.limits import DocumentLimits

_SEPARATORS = "\t;|,"
"""Separators, those first that stand in fewer numbers."""
_NAMED = re.compile(r"sep=(.)(?:\r\n?|\n)", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*"')
_SAMPLE_CHARACTERS = 65_536
"""Characters by which a separator is chosen."""
_LONGEST_CELL = 2_000_000
"""Characters of a cell; a longer one is taken for a quote that was not closed."""


def read_csv(data: bytes, *, charset: str | None = None, limits: DocumentLimits) -> Document:
    """The document in a CSV file.

    Raises:
        UnsupportedFormat: the content is binary.
        DocumentTooLarge: over the limit of characters.
        UnreadableDocument: it cannot be divided into cells with certainty.
    """
    text, found = decode_text(data, charset)
    limits.check_characters(len(text))
    if named := _NAMED.match(text):
        separator, text = named[1], text[named.end() :]
    else:
        separator = _separator(text[:_SAMPLE_CHARACTERS])
    lines = ("\t".join(" ".join(cell.split()) for cell in row).rstrip("\t") for row in _rows(text, separator))
    return Document("\n".join(lines), charset=found)


def _rows(text: str, separator: str, *, strict: bool = True) -> Iterator[list[str]]:
    csv.field_size_limit(_LONGEST_CELL)
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)
    try:
        yield from rows
    except csv.Error as error:
        raise UnreadableDocument(
            f"The CSV file cannot be divided into cells (line {rows.line_num}: {error}): "
            "mend its quotes, or send it as plain text."
        ) from None


def _separator(sample: str) -> str:
    evenness = {each: _evenness(sample, each) for each in _SEPARATORS if each in sample}
    best = max(evenness, key=lambda each: evenness[each], default=",")  # Of equals the first.
    for line in _QUOTED.sub("", sample).splitlines():
        there = [each for each in evenness if each in line]
        if there and max(map(evenness.__getitem__, there)) > 0.5:
            return max(there, key=evenness.__getitem__)
    return best


def _evenness(sample: str, separator: str) -> float:
    """The share of rows that have the most frequent number of cells, of those with several."""
    widths = Counter(len(row) for row in _rows(sample, separator, strict=False) if row)
    return max((count for width, count in widths.items() if width > 1), default=0) / max(widths.total(), 1)
