"""A mention: one entity with its place and its value, as fields are chosen from."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from service.core.decoding.value import Value, ValueKind

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points from a page's upper left corner."""
_FIRST_NUMBER = re.compile(r"[0-9]+(?:[.,][0-9]+)?(?![.,0-9])")
_NAMES = frozenset(("SUPPLIER_NAME", "RECEIVER_NAME", "ORGANIZATION", "PERSON", "EMPLOYER", "SCHOOL"))


class Mention(NamedTuple):
    """One entity at the code points `[start, end)`; `entity`: its number among all of the document.

    `written`: found by how it is written and the words beside it; no entity of the document.
    A tuple, for the reason that `Entity` is one.
    """

    entity: int
    label: str
    text: str
    start: int
    end: int
    score: float
    value: Value
    page: int | None = None
    boxes: tuple[Box, ...] = ()
    written: bool = False


def amount(mention: Mention) -> Decimal | None:
    """The sum of money that a mention states; None where its text leaves it open."""
    return mention.value.number if mention.value.kind is ValueKind.MONEY else None


def currency(mention: Mention) -> str | None:
    """The ISO code of the currency that a sum of money names."""
    return mention.value.unit if _is_money(mention) else None


def number(mention: Mention) -> Decimal | None:
    """The number of a quantity or an amount, with whatever unit."""
    if mention.value.number is not None:
        return mention.value.number
    found = _FIRST_NUMBER.match(mention.text)
    return Decimal(found[0].replace(",", ".")) if found else None


def same_value(mention: Mention) -> str:
    """Equal for two mentions of one value: amounts by number, names without case, marks and spaces."""
    if _is_money(mention):
        stated = amount(mention)
        return str(stated.normalize()) if stated is not None else mention.text
    if mention.label in _NAMES:
        return "".join(filter(str.isalnum, mention.value.text.casefold())) or mention.value.text
    return mention.value.text.casefold()


def _is_money(mention: Mention) -> bool:
    return mention.label == "MONEY" or mention.label.endswith("_AMOUNT")
