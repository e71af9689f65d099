"""A mention: one entity with its place, as fields are chosen from; and what its text stands for.

`amount`, `currency` and `same_value` are all that fields know of values; they read today's normalized strings.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from service.core.decoding.normalize import normalize

Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points from a page's upper left corner."""
_AMOUNT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?: ([A-Z]{3}))?")
_FIRST_NUMBER = re.compile(r"[-−]?[0-9][0-9.,]*(?<![.,])")
_NAMES = frozenset(("SUPPLIER_NAME", "RECEIVER_NAME", "ORGANIZATION", "PERSON", "EMPLOYER", "SCHOOL"))


class Mention(NamedTuple):
    """One entity at the code points `[start, end)`; `entity`: its number among all of the document.

    A tuple, for the reason that `Entity` is one.
    """

    entity: int
    label: str
    text: str
    start: int
    end: int
    score: float
    page: int | None = None
    boxes: tuple[Box, ...] = ()


def amount(mention: Mention) -> Decimal | None:
    """The sum of money that a mention states; None where its text leaves it open."""
    found = _AMOUNT.fullmatch(normalize("MONEY", mention.text))
    return Decimal(found[1]) if found else None


def currency(mention: Mention) -> str | None:
    """The ISO code of the currency that a sum of money names."""
    if not _is_money(mention):
        return None
    found = _AMOUNT.fullmatch(normalize("MONEY", mention.text))
    return found[2] if found else None


def number(mention: Mention) -> Decimal | None:
    """The first number in a mention, such as that of a quantity with its unit."""
    found = _FIRST_NUMBER.search(mention.text)
    value = _AMOUNT.fullmatch(normalize("MONEY", found[0])) if found else None
    return Decimal(value[1]) if value else None


def same_value(mention: Mention) -> str:
    """Equal for two mentions of one value: amounts by number, names without case, marks and spaces."""
    if _is_money(mention):
        stated = amount(mention)
        return str(stated.normalize()) if stated is not None else mention.text
    value = normalize(mention.label, mention.text)
    if mention.label in _NAMES:
        return "".join(filter(str.isalnum, value.casefold())) or value
    return value.casefold()


def _is_money(mention: Mention) -> bool:
    return mention.label == "MONEY" or mention.label.endswith("_AMOUNT")
