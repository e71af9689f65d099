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
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations, permutations, product

from service.core.fields.lines import TextLines, has_words
from service.core.fields.mentions import Mention, amount, currency, number
from service.core.fields.roles import AMOUNTS, TAX

_AMOUNTS = AMOUNTS - {TAX}
LINES_BELOW = 2
"""Most lines of a row below its description's last line; with boxes, in multiples of that line's height."""
ROUNDING = Decimal("0.005")
"""Most difference of quantity x unit price from the amount, as a share of the amount: unit prices are rounded."""
MOST_NUMBERS = 6
"""Most quantities, and most amounts, of a row that are combined."""


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
    items = [(_band(mention, lines), mention) for mention in mentions if mention.label == "LINE_ITEM"]
    items.sort(key=lambda item: (item[0].page, item[0].top))
    in_rows: list[list[Mention]] = [[] for _ in items]
    tops = [(band.page, band.top) for band, _ in items]
    for mention in mentions:
        if mention.label in _AMOUNTS | {"QUANTITY"} and mention.entity not in taken:
            band = _band(mention, lines)
            row = bisect_right(tops, (band.page, band.middle)) - 1
            if row >= 0 and _reaches(items[row][0], band):
                in_rows[row].append(mention)
    rows = [_row(item, _on_own_line(item, found, lines)) for (_, item), found in zip(items, in_rows, strict=True)]
    return tuple(row for row in rows if row.has_number) or tuple(rows)


def _band(mention: Mention, lines: TextLines) -> _Band:
    if mention.boxes:
        first, last = mention.boxes[0], mention.boxes[-1]
        return _Band(mention.page or 0, first[1], last[3], last[3] - last[1])
    return _Band(0, lines.at(mention.start), lines.at(mention.end - 1) + 1, 1)


def _reaches(item: _Band, band: _Band) -> bool:
    return item.page == band.page and band.middle < item.bottom + LINES_BELOW * item.line_height


def _on_own_line(item: Mention, in_row: Sequence[Mention], lines: TextLines) -> Sequence[Mention]:
    """Leave out mentions on lines with words below, if an amount stands on the description's line."""
    last = lines.at(item.end - 1)
    if not any(mention.label in _AMOUNTS and lines.at(mention.start) == last for mention in in_row):
        return in_row
    return [
        mention for mention in in_row if lines.at(mention.start) == last or not has_words(lines.line(mention.start))
    ]


def _row(item: Mention, in_row: Sequence[Mention]) -> LineItem:
    quantities = sorted(_labelled(in_row, {"QUANTITY"}), key=lambda mention: mention.by_keyword)[:MOST_NUMBERS]
    sums = _labelled(in_row, _AMOUNTS)[:MOST_NUMBERS]
    for quantity, (price, total) in product(quantities, permutations(sums, 2)):
        if _multiplies(quantity, price, total):
            return LineItem(item, quantity, price, total)
    for count, price, total in combinations(sums, 3):
        if currency(count) is None and _multiplies(count, price, total):
            return LineItem(item, count, price, total)
    return LineItem(
        item,
        quantities[0] if quantities and not quantities[0].by_keyword else None,
        sums[-2] if len(sums) > 1 else None,
        sums[-1] if sums else None,
    )


def _labelled(in_row: Sequence[Mention], labels: Collection[str]) -> list[Mention]:
    return [mention for mention in in_row if mention.label in labels]


def _multiplies(quantity: Mention, price: Mention, total: Mention) -> bool:
    count, each, together = number(quantity), amount(price), amount(total)
    if count is None or each is None or together is None:
        return False
    return abs(abs(count * each) - abs(together)) <= ROUNDING * abs(together)
