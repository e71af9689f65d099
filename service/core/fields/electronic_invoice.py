"""Electronic invoice: the values of an invoice's XML, their places in the document, and contradictions.

The rules:
- The XML's value of a role is answered, since it is exact. Its place is that of an equal entity, or else of the same
  characters in the text; a page need not show everything.
- The page contradicts the XML where a role was surely read with another value, and the XML's value stands nowhere in
  the text. A role is surely read with a score of `SURE`, as a sum that adds up, with words for the role before it, or
  with a checksum that holds. A net and a tax that add up with the page's total only with lines between them, or neither
  that way nor by their words, are no sure ones: they may be those of one rate, or without shipping.
- Signs do not count: credit notes have them on one side only.
- Checks: net and tax are the total; less what was paid it is the amount due, but for a rounding under `MOST_ROUNDING`;
  rows that are the net. Rows that are not may have allowances or charges between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from service.core.decoding.value import Value, ValueKind
from service.core.fields.checks import TOLERANCE, SumCheck, check_sum
from service.core.fields.mentions import CHECKSUM, LINES_BETWEEN, NO_SUM, WORDS, Choice, Mention, Reason
from service.core.fields.roles import DUE, NET, ORDER, PAID, TAX, TOTAL
from service.core.fields.stated_invoice import ElectronicInvoice, InvoiceRow, StatedTax
from service.core.fields.value_places import SEARCHED_CHARACTERS, SearchableText, number_pattern, place_of

SURE = 0.5
"""Least score of a page's choice that contradicts the XML with nothing else behind it."""
ROW_CHARACTERS, NUMBERS_CHARACTERS, MOST_PLACED_ROWS = 20_000, 300, 500
"""Characters behind a row that are searched for the next row, and behind a description for its numbers; most rows of
which the places are searched."""
MOST_PLACED_TAXES = 20
"""Most taxes of which the places are searched: each of their values in the whole text."""
MOST_ROUNDING = Decimal(1)
"""Amount, in units of the currency, that the rounding of an amount due does not reach."""


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value of the XML at the code points `[start, end)` of the text; empty if the text does not show it."""

    label: str
    value: Value
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """A row of the XML with its places."""

    description: PlacedValue
    quantity: PlacedValue | None
    unit_price: PlacedValue | None
    amount: PlacedValue | None


@dataclass(frozen=True, slots=True)
class PlacedTax:
    """A tax of the XML with its places."""

    rate: PlacedValue | None
    base: PlacedValue | None
    amount: PlacedValue | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A role whose value in the XML the text does not show, while the page shows another one."""

    role: str
    stated: Value
    shown: Mention


@dataclass(frozen=True, slots=True)
class InvoiceFields:
    """The fields of a document by its XML; roles are labels in lower case, in the order of answers."""

    roles: dict[str, PlacedValue]
    rows: tuple[PlacedRow, ...]
    taxes: tuple[PlacedTax, ...]
    checks: tuple[SumCheck, ...]
    contradictions: tuple[Contradiction, ...] = field(default=())


def invoice_fields(
    invoice: ElectronicInvoice, text: str, mentions: Sequence[Mention], chosen: Mapping[str, Choice]
) -> InvoiceFields:
    """Place the values of an invoice's XML in the text, and find contradictions.

    Args:
        mentions: mentions in the text, in order.
        chosen: the page's own choices, by role.
    """
    searched = SearchableText(text[:SEARCHED_CHARACTERS])
    roles, contradictions = {}, []
    for label in filter(invoice.roles.__contains__, ORDER):
        role, value = label.lower(), invoice.roles[label]
        choice = chosen.get(role)
        place = place_of(label, value, searched, mentions, choice)
        roles[role] = PlacedValue(label, value, *place) if place else PlacedValue(label, value)
        if place is None and choice is not None and _is_sure(label, choice):
            contradictions.append(Contradiction(role, value, choice.best))
    rows = tuple(_rows(invoice.rows, searched))
    taxes = tuple(_taxes(invoice.taxes[:MOST_PLACED_ROWS], searched, mentions))
    return InvoiceFields(roles, rows, taxes, tuple(_checks(invoice)), tuple(contradictions))


def _checks(invoice: ElectronicInvoice) -> Iterator[SumCheck]:
    """Yield the checks of the XML's sums."""
    sums = {role: value.number for role, value in invoice.roles.items() if value.number is not None}
    net, total, paid, due = (sums.get(role) for role in (NET, TOTAL, PAID, DUE))
    yield from check_sum(net, sums.get(TAX), total)
    if total is not None and paid is not None and due is not None and (paid or total != due):
        left = total - paid - due
        if left == 0 or abs(left) >= MOST_ROUNDING:
            rule = "total_amount - paid_amount = amount_due"
            yield SumCheck(rule, left == 0, left, (("paid_amount", -paid),))
    amounts = [row.amount.number for row in invoice.rows if row.amount is not None and row.amount.number is not None]
    if net is not None and amounts and len(amounts) == len(invoice.rows):
        difference = sum(amounts, Decimal()) - net
        if abs(difference) <= TOLERANCE:
            yield SumCheck("sum of line_items = net_amount", True, difference)


def _taxes(taxes: Sequence[StatedTax], text: SearchableText, mentions: Sequence[Mention]) -> Iterator[PlacedTax]:
    for number, tax in enumerate(taxes):
        is_searched = number < MOST_PLACED_TAXES
        parts = (tax.rate, tax.base, tax.amount)
        yield PlacedTax(*(_placed(value, text, mentions, is_searched=is_searched) for value in parts))


def _placed(
    value: Value | None, text: SearchableText, mentions: Sequence[Mention], *, is_searched: bool
) -> PlacedValue | None:
    """Place a part of a tax."""
    if value is None:
        return None
    label = "PERCENT" if value.kind is ValueKind.PERCENT else "MONEY"
    place = place_of(label, value, text, mentions, None) if value.number and is_searched else None
    return PlacedValue(label, value, *place) if place else PlacedValue(label, value)


def _is_sure(role: str, choice: Choice) -> bool:
    is_in_doubt = LINES_BETWEEN in choice.evidence or (NO_SUM in choice.evidence and WORDS not in choice.evidence)
    if role != TOTAL and is_in_doubt:
        return False
    return (
        choice.reason is Reason.SUM or choice.score >= SURE or WORDS in choice.evidence or CHECKSUM in choice.evidence
    )


def _rows(rows: Sequence[InvoiceRow], text: SearchableText) -> Iterator[PlacedRow]:
    at = 0
    for number, row in enumerate(rows):
        name = Value(ValueKind.TEXT, row.description)
        found = text.find(row.description, at, at + ROW_CHARACTERS) if number < MOST_PLACED_ROWS else None
        described, behind = PlacedValue("LINE_ITEM", name), ""
        if found is not None:
            described = PlacedValue("LINE_ITEM", name, *found)
            at = described.end
            behind = text.text[at : at + NUMBERS_CHARACTERS]
        numbers = (("QUANTITY", row.quantity), ("MONEY", row.unit_price), ("MONEY", row.amount))
        yield PlacedRow(described, *_placed_numbers(numbers, behind, at))


def _placed_numbers(numbers: Sequence[tuple[str, Value | None]], behind: str, at: int) -> Iterator[PlacedValue | None]:
    """Place a row's numbers at different places of the text behind its description, which begins at `at`."""
    taken: list[tuple[int, int]] = []
    for label, value in numbers:
        if value is None or not value.number:
            yield None if value is None else PlacedValue(label, value)
            continue
        free = (hit.span() for hit in re.finditer(number_pattern(value.number), behind) if hit.span() not in taken)
        if (place := next(free, None)) is None:
            yield PlacedValue(label, value)
        else:
            taken.append(place)
            yield PlacedValue(label, value, at + place[0], at + place[1])
