"""Stated invoice: what the XML of an electronic invoice states, as values and as labelled parts of a text.

Apart from the rules that read fields, so that a parser process starts without their patterns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from service.core.decoding.value import Value, ValueKind
from service.core.fields.roles import ORDER

MOST_ROWS = 10_000
"""Most rows of an invoice; those of a longer one would make an answer of megabytes."""
MOST_VALUE_CHARACTERS = 1_000
MOST_DIGITS, MOST_DECIMALS = 15, 12
"""Most digits before and behind the point of an invoice's numbers."""
PERSON, LINE_ITEM, ORGANIZATION = "PERSON", "LINE_ITEM", "ORGANIZATION"
_DAY = r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_ISO_DATE = re.compile(rf"{_DAY}(?:/{_DAY})?", re.ASCII)
CREDIT_NOTES = frozenset("81 83 261 262 296 308 381 396 420 458 532".split())
"""Codes of UNTDID 1001 that EN 16931 counts as credit notes."""


@dataclass(frozen=True, slots=True)
class InvoiceRow:
    """One row of an invoice's XML; None for what the XML does not state."""

    description: str
    quantity: Value | None = None
    unit_price: Value | None = None
    amount: Value | None = None


@dataclass(frozen=True, slots=True)
class StatedTax:
    """The tax of one rate and category in an invoice's XML; None for what the XML does not state."""

    rate: Value | None = None
    base: Value | None = None
    amount: Value | None = None


@dataclass(frozen=True, slots=True)
class ElectronicInvoice:
    """An invoice's XML as values.

    Attributes:
        syntax: `CII` or `UBL`, the two of EN 16931.
        profile: URN of the guideline that the XML names; empty if it names none.
        file: name of the attachment; None where the XML is the document.
        type_code: code of UNTDID 1001: 380 an invoice, 381 a credit note.
        roles: label (`INVOICE_ID`, `TOTAL_AMOUNT`, …) → value.
        amount_due: amount to be paid, where it differs from the total (a part was paid before).
    """

    syntax: str
    profile: str
    file: str | None
    type_code: str
    currency: str | None
    roles: dict[str, Value]
    rows: tuple[InvoiceRow, ...] = ()
    amount_due: Value | None = None
    taxes: tuple[StatedTax, ...] = ()

    @property
    def is_credit_note(self) -> bool:
        """True if the total is credited, not to be paid."""
        return self.type_code in CREDIT_NOTES

    @property
    def is_sound(self) -> bool:
        """True if the values have the form that the reader of the XML gives them."""
        names = (self.syntax, self.profile, self.file or "", self.type_code, self.currency or "")
        in_rows = (value for row in self.rows for value in (row.quantity, row.unit_price, row.amount) if value)
        in_taxes = (value for tax in self.taxes for value in (tax.rate, tax.base, tax.amount) if value)
        return (
            max(len(self.rows), len(self.taxes)) <= MOST_ROWS
            and all(len(text) <= MOST_VALUE_CHARACTERS for text in (*names, *(row.description for row in self.rows)))
            and self.roles.keys() <= set(ORDER)
            and all(_is_sound(value) for value in (*self.roles.values(), *in_rows, *in_taxes))
            and (self.amount_due is None or _is_sound(self.amount_due))
        )


def is_sound_number(number: Decimal) -> bool:
    """True if a number is finite and within `MOST_DIGITS` and `MOST_DECIMALS`."""
    exponent = number.as_tuple().exponent
    return isinstance(exponent, int) and exponent >= -MOST_DECIMALS and number.adjusted() < MOST_DIGITS


def _is_sound(value: Value) -> bool:
    if len(value.text) > MOST_VALUE_CHARACTERS:
        return False
    if value.kind is ValueKind.DATE:
        return _ISO_DATE.fullmatch(value.text) is not None
    if value.kind in (ValueKind.MONEY, ValueKind.QUANTITY, ValueKind.PERCENT):
        return value.number is not None and is_sound_number(value.number)
    return value.number is None


class StatedPart(NamedTuple):
    """Part `[start, end)` of the text of an XML file, and its label; without a label its words say what it is."""

    start: int
    end: int
    label: str = ""


def are_sound(parts: Sequence[StatedPart], length: int) -> bool:
    """True if parts are in order, within a text of this length, and none overlaps."""
    places = [0, *(place for part in parts for place in part[:2]), length]
    return all(first <= second for first, second in pairwise(places))
