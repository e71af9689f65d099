"""Written numbers: finds the one number of a text, and reads its digits, its sign and the words for powers of ten.

The number itself tells its decimal mark, else the document does; where two readings are left, both are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.currencies import SIGNS
from service.text.values.normalization import key

_NUMBER = re.compile(r"[0-9](?:[0-9.,'’ ]*[0-9])?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?P<mark>[.,'’ ])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:(?!(?P=mark))[.,][0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_LEADING = re.compile(r"(?<![\w/.,])[.,][0-9]{1,6}(?![0-9.,'’ ]*[0-9])")
_NO_DECIMALS = re.compile(r"(?<=[0-9])[.,:]\s?(?:--?|[–—])(?![0-9])")
_BRACKETS = re.compile(r"([^()]*)\(([^()]*[0-9][^()]*)\)([^()]*)")
_MINUS_BEFORE = re.compile(r"-\s*(?:[^\s\w-]\s*)?$|^\s*-")
_POWER = re.compile(r"[千万億兆亿천만억조]|[^\W\d_]++(?!/)\.?")
_MINUS_AFTER = re.compile(rf"-(?!-)|\s+-\s*$|\s*(?:[^\W\d_]{{1,4}}|[{SIGNS}])\s*-\s*$")
_BRACKETED_WORD = re.compile(r"\(([^()0-9]*)\)")


class WrittenNumber(NamedTuple):
    """A number in a text, and the words before and after it."""

    before: str
    digits: str
    after: str
    negative: bool

    @property
    def around(self) -> str:
        """Words around the number."""
        return f"{self.before} {self.after}".replace("-", " ").replace("–", " ").strip()


def find_number(text: str) -> WrittenNumber | None:
    """Find the only number of a text from `normalization.plain`; None if there is none, or more than one."""
    text = _NO_DECIMALS.sub("", text)
    bracketed = _BRACKETS.fullmatch(text)
    if bracketed:
        text = " ".join(bracketed.groups())
    text = _LEADING.sub(lambda match: f"0{match.group()}", _BRACKETED_WORD.sub(r" \1 ", text))
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1:
        return None
    (number,) = numbers
    before, after = text[: number.start()], text[number.end() :]
    minus = _MINUS_BEFORE.search(before) or _MINUS_AFTER.match(after)
    return WrittenNumber(before, number.group(), after, bracketed is not None or minus is not None)


def decimal(number: str) -> str | None:
    """Write a number with a decimal point and no other separators; None if its separators are inconsistent."""
    if (match := _GROUPED.fullmatch(number)) and (mark := match["mark"]):
        return number.replace(mark, "").replace(",", ".")
    if _INDIAN.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".") if _PLAIN.fullmatch(number) else None


def lone_decimal(number: str) -> str | None:
    """Do as `decimal`, but take a lone separator for the decimal mark: `7.125` → `7.125`."""
    return number.replace(",", ".") if _PLAIN.fullmatch(number) else decimal(number)


def readings(number: str, context: DocumentContext) -> list[str]:
    """Read a number, the likelier reading first: two readings for `1.234` where its document does not tell."""
    grouped = decimal(number)
    if grouped is None:
        return []
    if not _EITHER.fullmatch(number) or (mark := number[-4]) == " ":
        return [grouped]
    if context.marks.cents is not None:
        return [number.replace(",", ".") if mark == context.marks.cents else grouped]
    return [grouped, number.replace(",", ".")]


def scaled(number: str, exponent: int, *, negative: bool) -> Decimal:
    """Multiply a plain decimal by a power of ten."""
    value = Decimal(number).scaleb(exponent)
    if exponent > 0 and value == value.to_integral_value():
        value = Decimal(int(value))
    return -value if negative else value


def written(value: Decimal) -> str:
    """Write a decimal without an exponent."""
    return format(value, "f")


def take_power(words: str, context: DocumentContext, is_other: Callable[[str], bool]) -> tuple[int, str]:
    """Take a word for a power of ten out of the words around a number; returns its exponent and the other words.

    `is_other`: tells whether a word means something else there, such as a currency.
    """
    for word in _POWER.findall(words):
        bare = word.rstrip(".")
        exponent = names.meaning(names.powers(), key(bare), context)
        if exponent is not None and not is_other(bare):
            return int(exponent), words.replace(word, " ", 1).strip()
    return 0, words
