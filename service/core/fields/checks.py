"""Checks of a bill: whether stated amounts add up, and which named lines between two sums explain their difference.

The rules:
- A line counts only if its key names it: a tip, untaxed supplies, shipping, rounding, tax withheld, a deposit. A line
  that merely happens to have the right amount explains nothing.
- Of the sets of at most `MOST_TERMS` lines that explain a difference, a smallest one counts.
- The rows of goods add up to the net, or to the total where their amounts are with tax: up to `TOLERANCE`, and up to
  `ROW_ROUNDING` for each row where a row shows that its amount is rounded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from service.core.fields.amount_keywords import AmountKeyword, Keywords
from service.core.fields.line_items import LineItem
from service.core.fields.mentions import Mention, amount, number

TOLERANCE = Decimal("0.02")
"""Most difference of two sums that are equal, in units of the currency: each is rounded to cents."""
CENT = Decimal("0.01")
ROW_ROUNDING, ROWS_ROUNDING = Decimal("0.005"), Decimal("0.10")
"""Most rounding of one row's amount, and of all together, in units of the currency."""
MOST_TERMS, MOST_LINES = 3, 6
"""Most lines that explain a difference together, and most that are tried."""
_NOTHING = Decimal()

SIGNS: Mapping[AmountKeyword, int] = {
    AmountKeyword.UNTAXED: 1,
    AmountKeyword.TIP: 1,
    AmountKeyword.SERVICE_CHARGE: 1,
    AmountKeyword.SHIPPING: 1,
    AmountKeyword.ROUNDING: 1,
    AmountKeyword.BROUGHT_FORWARD: 1,
    AmountKeyword.DISCOUNT: -1,
    AmountKeyword.WITHHOLDING: -1,
    AmountKeyword.PREPAID: -1,
    AmountKeyword.PAID: -1,
}
"""Class of a line → 1 if its amount is added as it is stated, -1 if it is subtracted whatever its sign."""
ADDED = frozenset(keyword for keyword in SIGNS if SIGNS[keyword] > 0) - {AmountKeyword.BROUGHT_FORWARD}
"""Lines that are added between net and total."""
BETWEEN = ADDED | {AmountKeyword.WITHHOLDING}
"""Lines between net and total."""
SETTLED = frozenset(
    (AmountKeyword.PREPAID, AmountKeyword.PAID, AmountKeyword.WITHHOLDING, AmountKeyword.BROUGHT_FORWARD)
)
"""Lines between the total and the amount left to pay."""
_ROWS = "sum of line_items"
_OPERATOR = re.compile(" [+-] ")


@dataclass(frozen=True, slots=True)
class SumCheck:
    """A check that stated amounts add up: to the cent, but for rows of rounded amounts.

    Attributes:
        difference: the left side of the rule less its right one.
        lines: names and amounts of the rule's lines between its sums; an amount has the sign with which it is added.
    """

    rule: str
    holds: bool
    difference: Decimal
    lines: tuple[tuple[str, Decimal], ...] = ()

    @property
    def result(self) -> str:
        """Name of the amount that the left side of the rule should be."""
        return self.rule.rpartition(" = ")[2]

    @property
    def operands(self) -> int:
        """Number of the amounts on the left side of the rule."""
        return len(_OPERATOR.split(self.rule.rpartition(" = ")[0]))


class Term(NamedTuple):
    """A line with its amount and the sign that it has in a sum."""

    keyword: AmountKeyword
    value: Decimal
    mention: Mention

    @property
    def name(self) -> str:
        is_payment = self.keyword in (AmountKeyword.PAID, AmountKeyword.PREPAID)
        return "paid_amount" if is_payment else self.keyword.value

    def __str__(self) -> str:
        return f"{'-' if SIGNS[self.keyword] < 0 else '+'} {self.name}"


def _check(parts: str, terms: Sequence[Term], result: str, left: Decimal, *, holds: bool) -> SumCheck:
    """Make the check that some parts and lines are an amount; `left`: their sum less that amount."""
    rule = " ".join((parts, *map(str, terms), f"= {result}"))
    return SumCheck(rule, holds, left, tuple((term.name, term.value) for term in terms))


def _sum_of(terms: Sequence[Term]) -> Decimal:
    return sum((term.value for term in terms), _NOTHING)


def terms_of(mentions: Sequence[Mention], keywords: Keywords, kinds: Collection[AmountKeyword]) -> tuple[Term, ...]:
    """Find the lines of some classes; a line that is stated twice counts once."""
    found: dict[tuple[AmountKeyword, Decimal], Term] = {}
    for mention in mentions:
        keyword, value = keywords.get(mention.entity), amount(mention)
        if keyword is not None and keyword in kinds and value:
            signed = value if SIGNS[keyword] > 0 else -abs(value)
            found.setdefault((keyword, signed), Term(keyword, signed, mention))
    return tuple(found.values())[:MOST_LINES]


class Explanations:
    """The differences that lines explain."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._by_sum: dict[Decimal, tuple[Term, ...]] = {_NOTHING: ()}
        for count in range(1, MOST_TERMS + 1):
            for some in combinations(terms, count):
                self._by_sum.setdefault(_sum_of(some), some)

    def of(self, difference: Decimal) -> tuple[Term, ...] | None:
        """Return the lines that explain a difference: none are needed up to rounding; None if no lines do."""
        if difference in self._by_sum:
            return self._by_sum[difference]
        if abs(difference) <= TOLERANCE:
            return ()
        near = (difference - CENT, difference + CENT, difference - 2 * CENT, difference + 2 * CENT)
        return next((self._by_sum[each] for each in near if each in self._by_sum), None)


def check_sum(
    net: Decimal | None, tax: Decimal | None, total: Decimal | None, terms: Sequence[Term] = ()
) -> tuple[SumCheck, ...]:
    """Check that net and tax add up to the total, with the lines between; no check where one of them is unknown.

    A net that reaches the total by such lines alone contains the tax.
    """
    if net is None or tax is None or total is None:
        return ()
    explanations, difference, parts = Explanations(terms), total - net - tax, "net_amount + tax_amount"
    found = explanations.of(difference)
    if found is None and (included := explanations.of(total - net)):
        found, difference, parts = included, total - net, "net_amount"
    found = found or ()
    left = _sum_of(found) - difference
    return (_check(parts, found, "total_amount", left, holds=left == 0),)


def check_due(total: Decimal | None, due: Decimal | None, terms: Sequence[Term]) -> tuple[SumCheck, ...]:
    """Check that the amount left to pay is the total and the lines behind it; no check where they are equal.

    Lines that explain nothing fail the check if they name a payment or a balance, but not a payment of the total or
    more: it was handed over for change.
    """
    if total is None or due is None or total == due:
        return ()
    found = Explanations(terms).of(due - total)
    if found is None:
        found = tuple(term for term in terms if not _is_tendered(term, total))[:MOST_TERMS]
    if not found:
        return ()
    left = total + _sum_of(found) - due
    return (_check("total_amount", found, "amount_due", left, holds=left == 0),)


def _is_tendered(term: Term, total: Decimal) -> bool:
    return term.keyword is AmountKeyword.PAID and abs(term.value) >= abs(total)


def check_rows(
    rows: Sequence[LineItem], net: Decimal | None, total: Decimal | None, terms: Sequence[Term], *, is_taxed: bool
) -> tuple[SumCheck, ...]:
    """Check that the rows of goods add up to the net, or to the total; no check of one row that does not.

    Rows without an amount leave it open, and so does a total with tax where the net is unknown.
    """
    stated = [value for row in rows if row.amount is not None and (value := amount(row.amount)) is not None]
    sums = [(name, value) for name, value in (("net_amount", net), ("total_amount", total)) if value is not None]
    if not stated or not sums or len(stated) < len(rows):
        return ()
    together, explanations = sum(stated, _NOTHING), Explanations(terms)
    most = max(TOLERANCE, min(ROW_ROUNDING * len(rows), ROWS_ROUNDING)) if any(map(_is_rounded, rows)) else TOLERANCE
    for name, value in sums:
        if abs(together - value) <= most:
            return (_check(_ROWS, (), name, together - value, holds=True),)
    for name, value in sums:
        if found := explanations.of(value - together):
            return (_check(_ROWS, found, name, together + _sum_of(found) - value, holds=True),)
    name, value = sums[0]
    is_open = len(rows) == 1 or (net is None and is_taxed)
    return () if is_open else (_check(_ROWS, (), name, together - value, holds=False),)


def _is_rounded(row: LineItem) -> bool:
    """True if a row's amount is its quantity x unit price but for rounding: of the amount, or of each unit's price."""
    count, price, stated = (
        None if each is None else number(each) for each in (row.quantity, row.unit_price, row.amount)
    )
    if count is None or price is None or stated is None:
        return False
    return 0 < abs(count * price - stated) < CENT * max(abs(count), Decimal(1))
