"""Separates raised text from the number it follows: cents of a price by a decimal sign, a note's mark by a space.

Readers join the words of a line without regard to their height; `25` and a small raised `90` would become `2590`.

    € 25 ⁹⁰      → € 25.90        two digits after a whole amount of a currency that has cents
    1,250.00 ¹   → 1,250.00 1     any other digits after a digit, and one letter after an amount
    1 ᵉʳ, m ², GmbH ¹             as they are: no number changes
"""

from __future__ import annotations

import re

_CURRENCY = (
    r"[$€£₤₣₹₺₽₴₦₱₪₫฿¢₡₲₵₸₼₾]|\b(?:EUR|USD|GBP|CHF|CAD|AUD|NZD|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|HRK|RSD|TRY|UAH|RUB"
    r"|INR|CNY|HKD|SGD|MYR|THB|IDR|PHP|BRL|MXN|ARS|COP|PEN|ZAR|NGN|KES|EGP|MAD|ILS|AED|SAR"
    r"|Euros?|Dollars?|Francs?|Franken|Fr|kr|RM|R\$|Rs|zł|Kč|Ft|lei|lv|TL)(?!\w)\.?"
)
_WHOLE_NUMBER = re.compile(r"(?<![\w.,'’])(?:\d{1,3}(?:(?P<mark>[.,'’ \xa0\u202f])\d{3})(?:(?P=mark)\d{3})*|\d+)$")
_DECIMAL_NUMBER = re.compile(r"\d[.,]\d+$")
_CURRENCY_BEFORE = re.compile(rf"(?:{_CURRENCY})\s*[-−–]?\s*$", re.I)
_CURRENCY_AFTER = re.compile(rf"\s*(?:{_CURRENCY})", re.I)
_CENTS = re.compile(r"\d\d(?!\w)")
_DIGITS = re.compile(r"[(\[]?\d")
_LETTER = re.compile(r"[(\[]?\w[)\]]?$")
_CONTEXT_CHARACTERS = 40
"""Characters of a line that are looked at before a raised run; amounts and their currencies are shorter."""


def raised_separator(before: str, raised: str, after: str = "") -> str:
    """Choose the text between a line and a raised run: `.`, `,`, a space, or nothing.

    `after` is the text of the line after the run, where a currency may stand.
    """
    before = before[-_CONTEXT_CHARACTERS:]
    if not before[-1:].isdecimal():
        return ""
    whole = _WHOLE_NUMBER.search(before)
    is_price = whole is not None and (
        _CURRENCY_BEFORE.search(before[: whole.start()]) or _CURRENCY_AFTER.match(raised[2:] + after)
    )
    if whole and is_price and _CENTS.match(raised) and not (len(raised) == 2 and after[:1].isalnum()):
        return "," if whole["mark"] == "." else "."
    if _DIGITS.match(raised):
        return " "
    return " " if (is_price or _DECIMAL_NUMBER.search(before)) and _LETTER.match(raised) else ""
