"""Marks in numbers: which mark a document has before decimals, and which ones group its digits.

The document's own amounts tell it; where they do not, its language and country do. A no-break or thin space is typed to
group; a plain one may as well stand between two columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from babel import Locale

from service.text.values.normalization import TYPED_SPACES

PAGE_CHARACTERS = 65_536
"""Characters of the text's beginning whose amounts are read."""
_SPACES = f" {TYPED_SPACES}"
_CENTS = re.compile(r"(?<![\d.,])\d{1,3}(?:[., ]\d{3}){0,4}([.,])\d{2}(?![\d.,])")
_MILLS = re.compile(r"(?<![\d.,])(?:0|\d{4,9}|\d{1,3}(?:([.,'’])\d{3}){1,4}(?!\1))([.,])\d{3}(?![\d.,])")
"""Numbers whose mark before three digits is the decimal one: `0.500`, `1234.500`, `1,234.500`."""
_GROUPED = re.compile(
    rf"(?<![\d.,])(?:\d{{1,3}}([.,'’{TYPED_SPACES}])\d{{3}}(?:\1\d{{3}}){{0,3}}(?!\1)[.,]\d{{2,3}}(?![\d.,])"
    r"|\d{1,3}([.,'’])\d{3}(?:\2\d{3}){1,3}(?![\d.,]))"
)
_GROUPED_BY_SPACE = re.compile(
    r"(?<![\d.,])(?<!\d )\d{1,3} (?:0\d\d|\d{3}(?: \d{3}){1,3})[.,]\d{2,3}(?![\d.,])"
    r"|(?:[€£$¥]|(?<![A-Z])[A-Z]{3}) ?\d{1,3} \d{3}[.,]\d{2}(?![\d.,]|[ \t]*[\d€£$¥])"
    r"|:[ \t\u00a0]{0,4}\d{1,3} \d{3}[.,]\d{2} ?(?:[€£$¥]|[A-Z]{3}|zł|kr\.?|Kč|Ft)?(?=\r?$)"
    r"|Empfangsschein|Récépissé|Ricevuta|Receipt\s+Account / Payable to",
    re.MULTILINE,
)
"""Numbers that a column's border cannot cut: `1 234 567,89`, `1 050.00`, `€ 1 234.50` and `: 1 234.50` at a line's end.

Swiss payment parts group by spaces, whatever the bill above them does.
"""
_GROUPED_ONCE = re.compile(rf"(?<!\d)(?<!\d[.,])([1-9]\d{{0,2}})[.,'’{TYPED_SPACES}]?(\d{{3}}[.,]\d{{2,3}})(?!\d)")


class NumberMarks(NamedTuple):
    """Marks of a document's numbers.

    Attributes:
        cents: the mark before two decimals everywhere; None if `.` and `,` both are, or neither is.
        decimal: the decimal mark by all that numbers show; None as for `cents`.
        grouping: the marks between groups of digits, a space for all spaces.
    """

    cents: str | None = None
    decimal: str | None = None
    grouping: frozenset[str] = frozenset()


def read_marks(text: str) -> NumberMarks:
    """Read the marks of the numbers in a document's text."""
    cents = set(_CENTS.findall(text, 0, PAGE_CHARACTERS))
    grouping = {first or second for first, second in _GROUPED.findall(text, 0, PAGE_CHARACTERS)}
    others = {"," if mark == "." else "." for mark in grouping & {".", ","}}
    decimal = cents | others | {mark for _, mark in _MILLS.findall(text, 0, PAGE_CHARACTERS)}
    if _GROUPED_BY_SPACE.search(text, 0, PAGE_CHARACTERS) or grouping & set(_SPACES):
        grouping = grouping - set(_SPACES) | {" "}
    return NumberMarks(_only(cents), _only(decimal), frozenset(grouping))


def grouped_numbers(text: str) -> frozenset[str]:
    """Collect numbers of a text with one group of three digits and decimals, without the mark of the group."""
    return frozenset(map("".join, _GROUPED_ONCE.findall(text, 0, PAGE_CHARACTERS)))


def _only(marks: set[str]) -> str | None:
    return next(iter(marks)) if len(marks) == 1 else None


@cache
def usual_decimals(locales: Sequence[str]) -> frozenset[str]:
    """Collect the decimal marks that some locales have in CLDR."""
    return frozenset(_symbols(name)["decimal"] for name in locales)


@cache
def usual_grouping(locales: Sequence[str]) -> frozenset[str]:
    """Collect the marks between groups of digits that some locales have in CLDR, a space for all spaces."""
    marks = (_symbols(name)["group"] for name in locales)
    return frozenset(" " if mark in _SPACES else mark for mark in marks)


def _symbols(locale_name: str) -> dict[str, str]:
    symbols = Locale.parse(locale_name).number_symbols
    found: dict[str, str] = symbols.get("latn", symbols)
    return found
