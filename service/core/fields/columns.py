"""Tables of goods: the line of captions above a table's columns, and the column of a value below it.

The rules:
- A head is a line without digits that names an item or a quantity, and a price or an amount. At least half of its
  letters belong to captions; the next line may go on with them ("Unit" over "price").
- A column is as wide as its caption. A value belongs to the column that it overlaps most, else to the nearest one.
- A table ends before the next head, and `LINES_WITHOUT_CELLS` lines behind its last line of several cells.
- Places are compared in one unit only (`cells`): below a head with points a line without them has no columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from service.core.fields.cells import Cell, PlaceUnit, Row
from service.core.fields.lines import TextLines, is_caption_row
from service.core.fields.mentions import Mention
from service.core.fields.vocabulary.column_captions import CAPTIONS
from service.core.fields.vocabulary.phrases import PhraseMatch, PhraseTable, count_letters, folded, written_span

LINES_WITHOUT_CELLS = 8
"""Most lines of one cell between two rows of a table: long descriptions, and the foot of a page."""


class ColumnKind(StrEnum):
    """Kind of a column; the values are names in `CAPTIONS`."""

    ITEM = "item"
    QUANTITY = "quantity"
    UNIT = "unit"
    PRICE = "price"
    AMOUNT = "amount"
    TAX = "tax"
    DISCOUNT = "discount"
    OTHER = "other"


_TABLE = PhraseTable("including", "excluding", phrases=CAPTIONS)
_QUALIFIERS = ("including", "excluding")
_GOODS = frozenset((ColumnKind.ITEM, ColumnKind.QUANTITY))
_MONEY = frozenset((ColumnKind.PRICE, ColumnKind.AMOUNT))


@dataclass(frozen=True, slots=True)
class Column:
    """A caption's kind, the cell of its words, and how many letters they have."""

    kind: ColumnKind
    cell: Cell
    letters: int


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table; its rows are the lines from `first` on, before `end`."""

    columns: tuple[Column, ...]
    unit: PlaceUnit
    tabs: int
    first: int
    end: int

    def kind_of(self, cell: Cell, row: Row) -> ColumnKind | None:
        """Find the kind of the column of a cell, or a part of one, on the line `row`; None if places do not tell."""
        if row.unit is not self.unit or (row.unit is PlaceUnit.TABS and row.tabs != self.tabs):
            return None
        shared = [column.cell.overlap(cell) for column in self.columns]
        most = max(shared)
        kinds = {column.kind for column, width in zip(self.columns, shared, strict=True) if width == most}
        return kinds.pop() if len(kinds) == 1 and (most > 0 or self.unit is not PlaceUnit.TABS) else None

    def has(self, kind: ColumnKind) -> bool:
        return any(column.kind is kind for column in self.columns)


def head_columns(lines: TextLines, line: int) -> tuple[Column, ...]:
    """Find the columns that a line names; none if it is no head of a table of goods."""
    row = lines.row(line)
    if not is_caption_row(lines, row):
        return ()
    columns = tuple(_columns(lines, line))
    kinds = {column.kind for column in columns}
    if len(kinds) < 2 or kinds.isdisjoint(_GOODS) or kinds.isdisjoint(_MONEY):
        return ()
    letters = count_letters(lines.between(row.cells[0].start, row.cells[-1].end))
    return columns if 2 * sum(column.letters for column in columns) >= letters else ()


def find_tables(lines: TextLines) -> tuple[Table, ...]:
    """Find the tables of goods in a text, in order."""
    heads = [(line, columns) for line in range(lines.count) if (columns := head_columns(lines, line))]
    tables = []
    for place, (line, columns) in enumerate(heads):
        first = line + 1
        if wrapped := _with_next_line(lines, line, columns):
            columns, first = wrapped, first + 1
        border = heads[place + 1][0] if place + 1 < len(heads) else lines.count
        row = lines.row(line)
        tables.append(Table(columns, row.unit, row.tabs, first, _end(lines, first, border)))
    return tuple(tables)


def _columns(lines: TextLines, line: int) -> Iterator[Column]:
    for cell in lines.row(line).cells:
        text = lines.between(cell.start, cell.end)
        words = folded(text)
        found = _captions(words)
        for each in found:
            start, end = written_span(text, each.start, each.end)
            part = cell if len(found) == 1 else lines.part(line, cell.start + start, cell.start + end)
            yield Column(ColumnKind(each.kind), part, count_letters(words[each.start : each.end]))


def _captions(words: str) -> list[PhraseMatch]:
    """Find the captions in a cell; "price incl. VAT", "price/unit" and "product description" are one each."""
    captions: list[PhraseMatch] = []
    is_qualified = False
    for each in _TABLE.find(words):
        between = words[captions[-1].end : each.start].strip() if captions else ""
        is_same = captions and (captions[-1].kind == each.kind or between == "/")
        if is_same or (captions and is_qualified and each.kind == ColumnKind.TAX):
            captions[-1] = captions[-1]._replace(end=each.end)
        elif each.kind not in _QUALIFIERS:
            captions.append(each)
        is_qualified = each.kind in _QUALIFIERS
    return captions


def _with_next_line(lines: TextLines, line: int, columns: Sequence[Column]) -> tuple[Column, ...]:
    """Join a head with the captions of the next line; empty if it has none."""
    row, following = lines.row(line), lines.row(line + 1)
    if following.unit is not row.unit or not is_caption_row(lines, following):
        return ()
    more = list(_columns(lines, line + 1))
    if not more or len(more) < len(following.cells):
        return ()
    joined = list(columns)
    for column in more:
        above = next((place for place, each in enumerate(joined) if each.cell.overlap(column.cell) > 0), None)
        if above is None:
            joined.append(column)
            continue
        upper = joined[above].cell
        words = f"{lines.between(upper.start, upper.end)} {lines.between(column.cell.start, column.cell.end)}"
        joined[above] = replace(joined[above], kind=ColumnKind(_captions(folded(words))[0].kind))
    return tuple(joined)


def _end(lines: TextLines, first: int, border: int) -> int:
    last = first
    for line in range(first, border):
        if len(lines.row(line).cells) > 1:
            last = line + 1
        elif line - last >= LINES_WITHOUT_CELLS:
            break
    return last


class ColumnKinds:
    """Kinds of the columns in which mentions stand, in one text."""

    def __init__(self, lines: TextLines) -> None:
        self._lines = lines
        self._tables = lines.once(find_tables)

    def of(self, mention: Mention) -> ColumnKind | None:
        """Find the kind of a mention's column; None outside of tables."""
        line = self._lines.at(mention.start)
        if (table := table_at(self._tables, line)) is None:
            return None
        return table.kind_of(self._lines.part(line, mention.start, mention.end), self._lines.row(line))

    def has(self, mention: Mention, kind: ColumnKind) -> bool:
        """True if the table that holds a mention has a column of some kind."""
        table = table_at(self._tables, self._lines.at(mention.start))
        return table is not None and table.has(kind)


def table_at(tables: Sequence[Table], line: int) -> Table | None:
    """Find the table that holds a line."""
    place = bisect_right(tables, line, key=lambda table: table.first) - 1
    return tables[place] if place >= 0 and line < tables[place].end else None
