"""Value of an entity's text: its kind, a standard form, and its certainty.

Values are read elsewhere (`service/text/values`); those who combine them need nothing but this.
"""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple


class ValueKind(StrEnum):
    """In what form a value is. All but `text` promise it, unless the value is ambiguous."""

    TEXT = "text"
    """The entity's text with its white space folded: nothing more is known of it."""
    DATE = "date"
    """ISO 8601: `2026-03-12`, a month `2026-03`, a year `2026`, a quarter `2026-Q3`, a period `2026-03/2026-05`."""
    MONEY = "money"
    """A decimal number and, where it is known, the ISO 4217 code of its currency: `-1200.00 EUR`."""
    QUANTITY = "quantity"
    """A decimal number and, where there is one, CLDR's name of its unit: `2.5 kilogram`."""
    PERCENT = "percent"
    """The decimal number alone: `7.7`."""
    EMAIL = "email"
    """With its domain in lower case."""
    URL = "url"
    PHONE = "phone"
    """E.164, and an extension as RFC 3966 has it: `+14255550100;ext=12`."""
    IBAN = "iban"
    BIC = "bic"
    TAX_ID = "tax_id"
    CARD = "card"
    """A payment card's number, its digits alone."""


class Value(NamedTuple):
    """The value of one entity.

    Attributes:
        text: in the form of its kind; the folded text where it is ambiguous.
        valid: whether its checksum, or its numbering plan, holds; None where there is none, or which one is unknown.
        ambiguous: all readings, each in the form of its kind, where there is more than one; else empty.
        number: of money, a quantity or a percentage, plain decimal; None where it is ambiguous. Where only the currency
            is, it is known, and the text is the number.
        unit: ISO 4217 of money, CLDR's name of a quantity's unit; None where it is unknown.
    """

    kind: ValueKind
    text: str
    valid: bool | None = None
    ambiguous: tuple[str, ...] = ()
    number: Decimal | None = None
    unit: str | None = None
