"""Line items: groups each description with the quantity and the amounts of its row.

The rules:
- Where the description has a box, its row is the band of its page from its top to the next description's top; where it
  has none, the lines from its own to the next description's.
- A row ends `LINES_BELOW` lines below its description; amounts further down belong to no item. Where an amount stands
  on the description's own line, no line below with words is of the row: that is another row, or a discount.
- Amounts with a role of the whole document (`taken`) belong to no row.
- The amount is the last sum of a row and the unit price the one before it, unless other numbers of the row fulfil
  quantity x unit price = amount.
  A number without a currency is then the quantity, though it was taken for money ("2.0 150.00 300.00"). Signs do not
  count: a credit note may have them in one column only.
- A quantity found by keyword counts only if it fulfils that equation.
- Items without any number are rows only if no item has one: names of goods also occur in prose.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations, pairwise, permutations, product

from service.core.fields.amount_keywords import classify_key
from service.core.fields.columns import ColumnKind, ColumnKinds
from service.core.fields.descriptions import ITEM, of_rows
from service.core.fields.lines import TextLines, has_words, key_of
from service.core.fields.mentions import Mention, currency, number
from service.core.fields.roles import AMOUNTS, TAX

MONEY, QUANTITY = "MONEY", "QUANTITY"
_AMOUNTS = AMOUNTS - {TAX}
_NO_PRICES = frozenset((ColumnKind.TAX, ColumnKind.DISCOUNT, ColumnKind.OTHER))
"""Kinds of columns in which no price, quantity or amount stands."""
LINES_BELOW = 2
"""Most lines of a row below its description's last line; with boxes, in multiples of that line's height."""
ROUNDING = Decimal("0.005")
"""Most difference of quantity x unit price from the amount, as a share of the amount: unit prices are rounded."""
MOST_NUMBERS = 6
"""Most quantities, and most amounts, of a row that are combined."""


FEWEST_LETTERS = 4
"""Fewest letters of a description that shows by its box whether it is drawn sideways."""


@dataclass(frozen=True, slots=True)
class LineItem:
    """One row; None for a number that it lacks."""

    description: Mention
    quantity: Mention | None = None
    unit_price: Mention | None = None
    amount: Mention | None = None

    @property
    def has_number(self) -> bool:
        return self.quantity is not None or self.amount is not None


@dataclass(frozen=True, slots=True)
class _Band:
    """Vertical extent of a mention: points on its page, or lines of the text (page 0)."""

    page: int
    top: float
    bottom: float
    line_height: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def find_line_items(mentions: Sequence[Mention], lines: TextLines, taken: Collection[int]) -> tuple[LineItem, ...]:
    """Group a document's mentions into rows, in order; `taken`: numbers of mentions that belong to no row."""
    level = _Level(mentions, lines)
    found = of_rows([mention for mention in mentions if mention.label == ITEM], lines)
    items = sorted(((level.band(mention), mention) for mention in found), key=lambda item: (item[0].page, item[0].top))
    on_lines: dict[int, list[int]] = {}
    for row, (_, item) in enumerate(items):
        on_lines.setdefault(lines.at(item.end - 1), []).append(row)
    in_rows: list[list[Mention]] = [[] for _ in items]
    tops = [(band.page, band.top) for band, _ in items]
    counts: dict[int, list[Mention]] = {}
    for mention in _numbers(mentions, lines, taken, on_lines):
        line, band = lines.at(mention.start), level.band(mention)
        own = on_lines.get(line, [])
        row = own[0] if len(own) == 1 else bisect_right(tops, (band.page, band.middle)) - 1
        if row >= 0 and (len(own) == 1 or _reaches(items[row][0], band)) and not _is_in(mention, items[row][1]):
            in_rows[row].append(mention)
        if mention.label == QUANTITY:
            counts.setdefault(line, []).append(mention)
    columns = ColumnKinds(lines)
    rows = [
        _row(item, _on_own_line(item, found, lines), columns) for (_, item), found in zip(items, in_rows, strict=True)
    ]
    leading = [_leading(item, counts.get(lines.at(item.start), ()), lines) for _, item in items]
    rows = _with_leading_counts(rows, leading)
    return tuple(row for row in rows if row.has_number) or tuple(rows)


def _numbers(
    mentions: Sequence[Mention], lines: TextLines, taken: Collection[int], own_lines: Container[int]
) -> Iterator[Mention]:
    """Yield quantities and amounts, but not "2x21,50" of which the count is known, nor amounts with another role."""
    written = {mention.start: mention.end for mention in mentions if mention.by_keyword and mention.label == QUANTITY}
    for mention in mentions:
        is_whole = written.get(mention.start, mention.end) >= mention.end
        if mention.label in _AMOUNTS | {QUANTITY} and is_whole:
            is_on_own_line = mention.label == MONEY and lines.at(mention.start) in own_lines
            if mention.entity not in taken or is_on_own_line:
                yield mention


def _leading(item: Mention, counts: Sequence[Mention], lines: TextLines) -> Mention | None:
    """Find the count that stands right before a description, at the beginning of its line."""
    before = [count for count in counts if _begins_line(count, item, lines)]
    return before[-1] if before else None


def _begins_line(count: Mention, item: Mention, lines: TextLines) -> bool:
    first = lines.start(lines.at(item.start))
    return (
        first <= count.start < count.end <= item.start
        and not lines.between(first, count.start).strip()
        and not lines.between(count.end, item.start).strip(" \tx×*X")
    )


def _with_leading_counts(rows: Sequence[LineItem], counts: Sequence[Mention | None]) -> list[LineItem]:
    """Take counts before descriptions for quantities of rows without one, unless they number the rows."""
    stated = [number(count) for count in counts if count is not None]
    is_numbering = (
        len(stated) > 1
        and stated[0] == 1
        and all(two - one == 1 for one, two in pairwise(map(int, filter(None, stated))))
    )
    return [
        replace(row, quantity=count) if row.quantity is None and count is not None and not is_numbering else row
        for row, count in zip(rows, counts, strict=True)
    ]


def _is_in(mention: Mention, item: Mention) -> bool:
    """True if a quantity or an amount is part of a description."""
    return item.start <= mention.start and mention.end <= item.end


class _Level:
    """Bands of mentions: by boxes on pages that are read from left to right, else by lines."""

    def __init__(self, mentions: Sequence[Mention], lines: TextLines) -> None:
        self._lines = lines
        self._sideways = {each.page for each in mentions if each.label == ITEM and each.boxes and _is_upright(each)}

    def band(self, mention: Mention) -> _Band:
        if mention.boxes and mention.page not in self._sideways:
            first, last = mention.boxes[0], mention.boxes[-1]
            return _Band(mention.page or 0, first[1], last[3], last[3] - last[1])
        page = mention.page if mention.page in self._sideways else 0
        return _Band(page or 0, self._lines.at(mention.start), self._lines.at(mention.end - 1) + 1, 1)


def _is_upright(item: Mention) -> bool:
    """True if a description of several letters is higher than wide."""
    left, top, right, bottom = item.boxes[0]
    return len(item.text) >= FEWEST_LETTERS and bottom - top > right - left


def _reaches(item: _Band, band: _Band) -> bool:
    return item.page == band.page and band.middle < item.bottom + LINES_BELOW * item.line_height


def _on_own_line(item: Mention, in_row: Sequence[Mention], lines: TextLines) -> Sequence[Mention]:
    """Leave out mentions on lines with words below, if an amount stands on the description's line."""
    last = lines.at(item.end - 1)
    if not any(mention.label in _AMOUNTS and lines.at(mention.start) == last for mention in in_row):
        return in_row
    return [mention for mention in in_row if lines.at(mention.start) == last or not _is_other_line(mention, lines)]


def _is_other_line(mention: Mention, lines: TextLines) -> bool:
    """True if a line has words, or a key for a sum or a payment ("BAR")."""
    return has_words(lines.around(mention.start)) or classify_key(key_of(lines, mention.start)) is not None


def _row(item: Mention, in_row: Sequence[Mention], columns: ColumnKinds) -> LineItem:
    kinds = {mention.entity: columns.of(mention) for mention in in_row}

    def of_kind(*some: ColumnKind | None) -> list[Mention]:
        return [mention for mention in in_row if kinds[mention.entity] in some]

    counts = [each for each in of_kind(ColumnKind.QUANTITY) if currency(each) is None]
    priced, charged = of_kind(ColumnKind.PRICE), of_kind(ColumnKind.AMOUNT)
    priced = priced or [each for each in of_kind(ColumnKind.UNIT) if each.label in _AMOUNTS]
    for count, price, total in product(counts, priced, charged):
        if _multiplies(count, price, total):
            return LineItem(item, count, price, total)
    if counts and charged and columns.has(charged[-1], ColumnKind.PRICE):
        return LineItem(item, counts[-1], priced[-1] if priced else None, charged[-1])
    others = in_row if not charged else [each for each in in_row if kinds[each.entity] not in _NO_PRICES]
    return _by_order(item, others, counts, charged)


def _by_order(
    item: Mention, in_row: Sequence[Mention], counts: Sequence[Mention], charged: Sequence[Mention]
) -> LineItem:
    """Choose a row's numbers by the equation, else by their order."""
    quantities = sorted(_labelled(in_row, {QUANTITY}), key=lambda mention: mention.by_keyword)
    sums = _labelled(in_row, _AMOUNTS)
    for count, (price, total) in product([*counts, *quantities][:MOST_NUMBERS], permutations(sums[:MOST_NUMBERS], 2)):
        if count not in (price, total) and _multiplies(count, price, total):
            return LineItem(item, count, price, total)
    for count, price, total in combinations(sums[:MOST_NUMBERS], 3):
        if currency(count) is None and _multiplies(count, price, total):
            return LineItem(item, count, price, total)
    quantity = next(iter(counts), None) or (quantities[0] if quantities and not quantities[0].by_keyword else None)
    sums = [each for each in sums if each is not quantity]
    amount_of_row = charged[-1] if charged else sums[-1] if sums else None
    before = [each for each in sums if amount_of_row is not None and each.start < amount_of_row.start]
    return LineItem(item, quantity, before[-1] if before else None, amount_of_row)


def _labelled(in_row: Sequence[Mention], labels: Collection[str]) -> list[Mention]:
    return [mention for mention in in_row if mention.label in labels]


def _multiplies(quantity: Mention, price: Mention, total: Mention) -> bool:
    count, each, together = number(quantity), number(price), number(total)
    if count is None or each is None or together is None:
        return False
    return abs(abs(count * each) - abs(together)) <= ROUNDING * abs(together)
