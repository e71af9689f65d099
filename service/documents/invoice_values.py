"""Invoice values: reads amounts, dates and quantities of an electronic invoice's XML, names without namespaces."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, DecimalException
from typing import cast

from lxml import etree

from service.core.decoding.value import Value, ValueKind
from service.core.fields.stated_invoice import MOST_VALUE_CHARACTERS, is_sound_number

_LONGEST_CURRENCY = 16
"""Most characters of a currency's name; a longer one is dropped."""
_EARLY_PAYMENT = re.compile(r"#SKONTO#TAGE=[0-9]{1,4}#PROZENT=([0-9]{1,3}(?:\.[0-9]{1,4})?)#")
_UNITS = {
    "GRM": "gram", "KGM": "kilogram", "TNE": "metric-ton", "LTR": "liter", "MLT": "milliliter", "MTR": "meter",
    "CMT": "centimeter", "KMT": "kilometer", "MTK": "square-meter", "MTQ": "cubic-meter", "MIN": "minute",
    "HUR": "hour", "DAY": "day", "WEE": "week", "MON": "month", "ANN": "year", "KWH": "kilowatt-hour",
}  # fmt: skip
"""UN/ECE Recommendation 20 → CLDR's name of the unit; pieces have none."""


def percentage(text: str) -> Value | None:
    """Read a percentage, or that of an early payment in the terms of XRechnung (`#SKONTO#TAGE=14#PROZENT=2.25#`)."""
    found = _EARLY_PAYMENT.search(text)
    number = decimal_of(found[1] if found else text)
    if number is None:
        return None
    short = Decimal(f"{number.normalize():f}")
    return Value(ValueKind.PERCENT, f"{short:f}", number=short)


def elements_at(element: etree._Element, path: str) -> list[etree._Element]:
    return cast(list[etree._Element], element.xpath(path))


def first_text(element: etree._Element, paths: tuple[str, ...]) -> str:
    """Find the first text that a path leads to, its white space folded; empty without one."""
    for path in paths:
        for found in elements_at(element, path):
            if text := " ".join((found.text or "").split()):
                return text[:MOST_VALUE_CHARACTERS]
    return ""


def amount_at(element: etree._Element, paths: tuple[str, ...], currency: str | None) -> Value | None:
    """Read an amount; of several the one in the invoice's currency, since a tax may be in another one as well."""
    for path in paths:
        found = element.findall(path)
        in_currency = [each for each in found if each.get("currencyID") in (currency, None)]
        for each in in_currency or found:
            if (number := decimal_of(each.text or "")) is not None:
                return money(number, currency_name(each.get("currencyID")) or currency)
    return None


def currency_name(text: str | None) -> str | None:
    return text if text and len(text) <= _LONGEST_CURRENCY else None


def money(number: Decimal, currency: str | None) -> Value:
    """Make an amount with at least two decimals."""
    if -int(number.normalize().as_tuple().exponent) < 2:
        number = number.quantize(Decimal("0.01"))
    else:
        number = number.normalize()
    return Value(ValueKind.MONEY, f"{number:f} {currency}" if currency else f"{number:f}", number=number, unit=currency)


def quantity_of(element: etree._Element) -> Value | None:
    number = decimal_of(element.text or "")
    if number is None:
        return None
    unit, number = _UNITS.get(element.get("unitCode", "")), Decimal(f"{number.normalize():f}")
    return Value(ValueKind.QUANTITY, f"{number:f} {unit}" if unit else f"{number:f}", number=number, unit=unit)


def decimal_of(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except DecimalException:
        return None
    return number if is_sound_number(number) else None


def iso_day(text: str) -> str:
    """Write `20180305` (CII's format 102) and `2018-03-05` (UBL) as ISO 8601; empty for other texts."""
    found = re.match(r"(\d{4})-?(\d\d)-?(\d\d)", text, re.ASCII)
    try:
        return "" if found is None else date.fromisoformat("-".join(found.groups())).isoformat()
    except ValueError:
        return ""
