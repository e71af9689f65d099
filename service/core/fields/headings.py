"""Headings of bills: tell credit notes and corrections from invoices.

The rules:
- A heading is a cell that begins with a bill's name ("Credit note", "AVOIR N° 9", "Invoice no.: 7"), at most one word
  before it. With more than `MOST_OTHER_LETTERS` letters beside the name, or in small letters without a number, it is
  prose. Names of any paper ("document") and of another bill ("original invoice") are none.
- The first heading names the document. A credit note is no invoice: its total is nothing to pay. A correction is one
  or the other, as its total's sign says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.core.fields.cells import cell_spans
from service.core.fields.vocabulary.phrases import PhraseTable, folded

MOST_OTHER_LETTERS = 20
"""Most letters of a heading beside the bill's name; a cell with more is prose."""
LONGEST_HEADING = 80
HEADING_CHARACTERS = 12_000
"""Characters of a bill's beginning that are searched for its heading."""
CREDIT, CORRECTION, BILL = "credit", "correction", "bill"
"""Kinds of headings; names of fields of `BillWords`."""

_TABLES = (PhraseTable("another_bill"), PhraseTable(CREDIT, CORRECTION), PhraseTable(BILL))
"""Tables of names, in order of precedence: a "Stornorechnung" is also a "*rechnung"."""
_ANY_PAPER = frozenset(map(folded, "doc document beleg re 伝票 单号 승인 doklad dokladu bon inv".split()))
_ONE_WORD = re.compile(r"(?:[^\W\d_]{1,20}[\s/-]{0,3})?")


def heading_kind(text: str) -> str | None:
    """Find the kind of a bill's first heading; None without one."""
    return next((kind for kind, _ in find_headings(text, 0, HEADING_CHARACTERS)), None)


def find_headings(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield kind and place of each heading in a part of a text."""
    for begin, stop in cell_spans(text, start, min(end, len(text))):
        if stop - begin <= LONGEST_HEADING and (kind := _kind(text[begin:stop])):
            yield kind, begin


def _kind(cell: str) -> str | None:
    """Classify a cell as a kind of heading; None if it is none."""
    line = folded(cell)
    names = (found[0] for table in _TABLES if (found := table.find(line)))
    name = min(names, key=lambda phrase: phrase.start, default=None)
    if name is None or name.kind == "another_bill" or not _ONE_WORD.fullmatch(line[: name.start]):
        return None
    written = line[name.start : name.end]
    others = sum(map(str.isalpha, line)) - sum(map(str.isalpha, written))
    is_prose = others > MOST_OTHER_LETTERS or (cell[0].islower() and others and not any(map(str.isdigit, cell)))
    return None if is_prose or written in _ANY_PAPER else name.kind
