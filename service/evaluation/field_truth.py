"""Whether the value chosen for a role is right: compared by what it means, not by how it is written.

Amounts are compared as numbers, dates in every reading that their text allows, names and numbers without case, marks
and spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

_ISO = re.compile(r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})")
_TWO_ORDERS = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4}|[0-9]{2})")
_CENTURY = 2000
"""Of a year of two digits in the truth."""


def is_right(role: str, text: str, truth: Iterable[str]) -> bool:
    """True when a text of the document means one of the values that are right for the role."""
    readings = _readings(role, text)
    return any(readings & _readings(role, value) for value in truth)


def _readings(role: str, text: str) -> set[object]:
    if role.endswith("_amount"):
        return {_number(text)}
    if role.endswith("_date"):
        return _days(text)
    return {"".join(filter(str.isalnum, text.casefold()))}


def _number(text: str) -> object:
    number = read_value("MONEY", text, DocumentContext(text)).number
    return text if number is None else number.normalize()


def _days(text: str) -> set[object]:
    value = read_value("DATE", text, DocumentContext(text)).text
    if found := _ISO.match(value):
        return {tuple(map(int, found.groups()))}
    if found := _TWO_ORDERS.match(value):
        first, second, year = map(int, found.groups())
        year += _CENTURY if len(found[3]) == 2 else 0
        return {(year, second, first), (year, first, second)}
    return {value.casefold()}
