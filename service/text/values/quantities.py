"""Quantities and percentages: `1,5 kg` → `1.5 kilogram`, `19 %` → `19`."""

from __future__ import annotations

import re

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.numbers import find_number, lone_decimal, readings, scaled, take_power, written
from service.text.values.script import folded, key, plain

_PERCENT = frozenset(
    key(word)
    for word in """% ٪ percent per cent pct prozent v.h. pour por ciento cento porcento procent procenten procents
    prosent prosenttia процент процента процентов yüzde パーセント 퍼센트 प्रतिशत بالمئة بالمائة في المائة""".split()
)
"""Signs and words for a hundredth, as `key` has them."""
_SQUARED = re.compile(r"(?<=[0-9] )([cdkm]?m)([23])(?![0-9])|(?<=[0-9])([cdkm]?m)([23])(?![0-9])")
_TIMES = re.compile(r"^[x×]$", re.IGNORECASE)


def read_percent(text: str, context: DocumentContext) -> Value | None:
    """The percentage in a text; None if it is none."""
    found = find_number(plain(text))
    if found is None:
        return None
    words = [key(word) for word in found.around.split()]
    words = [part for word in words for part in (word.replace("%", " % ").split() or [word])]
    number = lone_decimal(found.digits)
    if number is None or any(word.strip(".") not in _PERCENT and word not in _PERCENT for word in words):
        return None
    value = scaled(number, 0, negative=found.negative)
    return Value(ValueKind.PERCENT, written(value), number=value)


def read_quantity(text: str, context: DocumentContext) -> Value | None:
    """The number in a text and its unit; None if there is another word."""
    found = find_number(_SQUARED.sub(_squared, plain(text)))
    if found is None:
        return None
    unit, exponent = _unit(found.around, context), 0
    if unit is None:
        exponent, words = take_power(found.around, context, lambda _: False)
        unit = _unit(words, context)
    if unit is None:
        return None
    numbers = [scaled(number, exponent, negative=found.negative) for number in readings(found.digits, context)]
    values = tuple(" ".join([written(number), *([unit] if unit else [])]) for number in numbers)
    if not values:
        return None
    if len(values) > 1:
        return Value(ValueKind.QUANTITY, folded(text), ambiguous=values, unit=unit or None)
    return Value(ValueKind.QUANTITY, values[0], number=numbers[0], unit=unit or None)


def _squared(match: re.Match[str]) -> str:
    return (match[1] or match[3]) + {"2": "²", "3": "³"}[match[2] or match[4]]


def _unit(words: str, context: DocumentContext) -> str | None:
    """CLDR's name of a unit; empty without words, None if it is unknown."""
    bare = words.strip(" .,:;")
    if not bare or _TIMES.fullmatch(bare):
        return ""
    return names.meaning(names.units(), key(bare), context)
