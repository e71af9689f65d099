"""Descriptions of rows of goods: the whole cell of each, also in rows that the model missed.

The rules:
- Below a head that names the column of goods, the cells of that column are the descriptions; elsewhere the cells in
  which the model's items lie. Items of one line are one row, unless a sum stands between them.
- A number before the description is not of it; below a head only if the number has a column of its own there. A sum,
  and a quantity before a sum of the same cell, end it.
- A period alone in a description's cell goes on with the words alone above it.
- A line of a table is a row without an item of the model if it has a description, a value in the column of quantities
  or prices, if there is one, and a sum in that of amounts.
- Without a head for the amounts, a line beside a row is a row if it has as many cells, in the same columns, with words
  and sums in the same places. Lines of fewer than `FEWEST_CELLS` cells are rows only between two rows.
- A line named like a sum, a payment or a sum carried over is no row; the first sum ends the search for missed rows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from service.core.decoding.entities import Entity
from service.core.fields.amount_keywords import names_goods, names_sum
from service.core.fields.cells import Cell, Span, in_column
from service.core.fields.columns import ColumnKind, Table, find_tables, table_at
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention
from service.core.fields.roles import DATES
from service.core.fields.vocabulary.column_captions import UNITS
from service.core.fields.vocabulary.phrases import PhraseTable, count_letters, folded

ITEM = "LINE_ITEM"
FEWEST_CELLS = 3
"""Fewest cells of a row that is known by one neighbour alone."""

_UNITS = PhraseTable(phrases={"unit": UNITS})
_NUMBER = re.compile(r"(?:[0-9]{1,4}[.)]?|[-–•*])\s+(?:[x×]\s+)?(?=\D*[^\W\d_])")
_WORD = re.compile(r"[^\W\d_]{3}|[\u2e80-\uffdc]{2}|[^\W\d_a-zA-Z]{2}")
_LINK = re.compile(r"(?:\s|[,;:(]|\s(?:zu|je|à|a|at|x|×|@|per|á|ad)|\s[0-9]{1,4}(?:[.,][0-9]{1,3})?\s?[x×*])+$")
_LONG_WORD = re.compile(r"[^\W\d_]{4}|[\u2e80-\uffdc]{2}")


def _describes(text: str) -> bool:
    """True if a text names goods, and not their unit alone."""
    line = folded(text)
    units = sum(phrase.end - phrase.start for phrase in _UNITS.find(line))
    return names_goods(text) and (not units or units < count_letters(line))


def description_spans(lines: TextLines, entities: Sequence[Entity], sums: Sequence[Span]) -> list[Span]:
    """Find the descriptions of rows, in order."""
    rows = _Rows(lines, entities, sums)
    spans = [span for line in sorted(rows.items) for span in rows.on_line(line)]
    return sorted({*spans, *rows.missed()})


def of_rows(items: Sequence[Mention], lines: TextLines) -> list[Mention]:
    """Leave out the model's items on lines for which other descriptions were found, and those that name no goods."""
    new = (item for item in items if item.by_keyword)
    found = {line for item in new for line in range(lines.at(item.start), lines.at(item.end - 1) + 1)}
    return [item for item in items if (item.by_keyword or lines.at(item.start) not in found) and _describes(item.text)]


class _Rows:
    """Items of the model, tables and sums of one text, by line."""

    def __init__(self, lines: TextLines, entities: Sequence[Entity], sums: Sequence[Span]) -> None:
        self._lines = lines
        self._sums = sums
        self._sum_starts = [start for start, _ in sums]
        self.items: dict[int, list[Entity]] = defaultdict(list)
        self._counts: dict[int, list[Entity]] = defaultdict(list)
        self._dates: dict[int, list[Entity]] = defaultdict(list)
        for entity in entities:
            if entity.label in (ITEM, "QUANTITY", *DATES):
                by_line = self.items if entity.label == ITEM else self._counts
                by_line = self._dates if entity.label in DATES else by_line
                by_line[lines.at(entity.start)].append(entity)
        self._tables = lines.once(find_tables)

    def on_line(self, line: int) -> Iterator[Span]:
        """Yield the descriptions of a line with items of the model."""
        table = table_at(self._tables, line)
        cell = self._in_column(table, line, ColumnKind.ITEM) if table else None
        if table and cell and self._has_numbers_beside(cell, line):
            if self._is_period(cell, line) and (above := self._alone_above(table, line)):
                yield above.start, cell.end
                return
            if span := self._trimmed(cell, cell.start, table):
                below = (item.end for item in self.items[line] if item.end > self._lines.end(line))
                yield span[0], max(span[1], *below, 0)
            return
        for group in self._groups(line):
            item = max(group, key=lambda entity: (_WORD.search(entity.text) is not None, entity.end - entity.start))
            cell = self._lines.row(line).at(item.start)
            if cell is None or item.end > cell.end or not self._has_numbers_beside(cell, line):
                yield item.start, item.end
                continue
            first = min(entity.start for entity in group if cell.start <= entity.start)
            if span := self._trimmed(cell, first, None):
                yield span

    def _is_period(self, cell: Cell, line: int) -> bool:
        """True if a cell has dates and no other long words."""
        start, rest = cell.start, ""
        for date in self._dates[line]:
            if cell.start <= date.start and date.end <= cell.end:
                rest += self._lines.between(start, date.start)
                start = date.end
        return start > cell.start and _LONG_WORD.search(rest + self._lines.between(start, cell.end)) is None

    def _alone_above(self, table: Table, line: int) -> Cell | None:
        """Find the words above a line, if they are alone on their line of the table and in the column of goods."""
        row = self._lines.row(line - 1)
        if (
            len(row.cells) != 1
            or line <= table.first
            or table.kind_of(row.cells[0], row) not in (ColumnKind.ITEM, None)
        ):
            return None
        return row.cells[0]

    def missed(self) -> Iterator[Span]:
        """Yield the descriptions of rows without an item of the model."""
        for table in self._tables:
            yield from self._missed_in(table)
        yield from self._beside()

    def _missed_in(self, table: Table) -> Iterator[Span]:
        """Yield the descriptions of a table's rows without an item of the model, up to its first sum."""
        for line in range(table.first, table.end):
            cell = self._in_column(table, line, ColumnKind.ITEM)
            if self._ends_table(table, line, cell):
                return
            is_row = cell is not None and line not in self.items and self._is_row(table, line)
            if cell and is_row and (span := self._trimmed(cell, cell.start, table)):
                yield span

    def _ends_table(self, table: Table, line: int, description: Cell | None) -> bool:
        """True if a line names a sum; that of a quantity ("Total") is none of the bill."""
        words = self._lines.between(description.start, description.end) if description else ""
        if self._has_digits(self._in_column(table, line, ColumnKind.QUANTITY)):
            return names_sum(words) and not names_goods(words)
        return any(names_sum(self._lines.between(cell.start, cell.end)) for cell in self._lines.row(line).cells)

    def _has_digits(self, cell: Cell | None) -> bool:
        return cell is not None and any(map(str.isdigit, self._lines.between(cell.start, cell.end)))

    def _has_numbers_beside(self, cell: Cell, line: int) -> bool:
        """True if a cell of a description has a sum, or other cells of its line behind it have digits."""
        behind = (other for other in self._lines.row(line).cells if other.start > cell.start)
        return self._has_sum(cell) or any(map(self._has_digits, behind))

    def _beside(self) -> Iterator[Span]:
        """Yield the descriptions of lines that have the same cells as a row beside them."""
        rows = {line: items for line, items in self.items.items() if not self._is_in_whole_table(line)}
        for line, items in rows.items():
            for step in (-1, 1):
                other, found = line + step, list[Span]()
                while other not in rows and (cell := self._same_cells(line, other, items[0].start)):
                    span = self._trimmed(cell, cell.start, None)
                    found += [span] if span else []
                    other += step
                if other in rows or len(self._lines.row(line).cells) >= FEWEST_CELLS:
                    yield from found

    def _is_in_whole_table(self, line: int) -> bool:
        """True if a line is below a head that names the column of amounts."""
        table = table_at(self._tables, line)
        return table is not None and table.has(ColumnKind.AMOUNT)

    def _same_cells(self, line: int, other: int, start: int) -> Cell | None:
        """Find the description on another line that has the same cells as the row of a line."""
        row, beside = self._lines.row(line), self._lines.row(other)
        own = row.at(start)
        if own is None or not 2 <= len(row.cells) == len(beside.cells) or not self._has_sum(beside.cells[-1]):
            return None
        for cell in row.cells:
            twin = in_column(cell, row, beside)
            if twin is None or self._has_words(twin) is not self._has_words(cell):
                return None
        return in_column(own, row, beside)

    def _is_row(self, table: Table, line: int) -> bool:
        others = [kind for kind in (ColumnKind.QUANTITY, ColumnKind.PRICE) if table.has(kind)]
        has_other = not others or any(self._has_digits(self._in_column(table, line, kind)) for kind in others)
        return has_other and self._has_digits(self._in_column(table, line, ColumnKind.AMOUNT))

    def _in_column(self, table: Table, line: int, kind: ColumnKind) -> Cell | None:
        """Find the first cell of a line in a column of some kind; of goods the cell with most letters."""
        row = self._lines.row(line)
        cells = [cell for cell in row.cells if table.kind_of(cell, row) is kind]
        if kind is not ColumnKind.ITEM:
            return cells[0] if cells else None
        return max(filter(self._has_words, cells), key=self._letters, default=None)

    def _letters(self, cell: Cell) -> int:
        return count_letters(self._lines.between(cell.start, cell.end))

    def _groups(self, line: int) -> Iterator[list[Entity]]:
        """Divide the items of a line where a sum stands between two of them."""
        group: list[Entity] = []
        for item in self.items[line]:
            is_other = group and _WORD.search(item.text) and self._sum_between(group[-1].end, item.start) is not None
            if is_other:
                yield group
                group = []
            group.append(item)
        yield group

    def _trimmed(self, cell: Cell, first: int, table: Table | None) -> Span | None:
        """Return a cell without a number before the description, and without what is counted or charged in it.

        `first`: where the model's first item begins; the cell's own start if it has none.
        """
        has_words = _WORD.search(self._lines.between(cell.start, first)) is not None
        start = cell.start if has_words and self._sum_between(cell.start, first) is None else first
        end = self._sum_between(first, cell.end)
        if end is None:
            end = cell.end
        else:
            line = self._lines.at(cell.start)
            end = min([end, *(count.start for count in self._counts[line] if first < count.start < end)])
        if (number := _NUMBER.match(self._lines.between(start, end))) and (table is None or _has_number_column(table)):
            start += number.end()
        text = _LINK.sub("", self._lines.between(start, end))
        return (start, start + len(text)) if _WORD.search(text) and _describes(text) else None

    def _sum_between(self, start: int, end: int) -> int | None:
        """Find the place of the first sum in a part of the text."""
        place = bisect_left(self._sum_starts, start)
        return self._sum_starts[place] if place < len(self._sums) and self._sum_starts[place] < end else None

    def _has_sum(self, cell: Cell) -> bool:
        return self._sum_between(cell.start, cell.end) is not None

    def _has_words(self, cell: Cell) -> bool:
        return _WORD.search(self._lines.between(cell.start, cell.end)) is not None


def _has_number_column(table: Table) -> bool:
    """True if a column of numbers or quantities stands before that of goods."""
    kinds = [column.kind for column in sorted(table.columns, key=lambda column: column.cell.left)]
    before = kinds[: kinds.index(ColumnKind.ITEM)]
    return not {ColumnKind.OTHER, ColumnKind.QUANTITY}.isdisjoint(before)
