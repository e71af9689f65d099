"""Normalised values: what an entity's text means, where that is unambiguous; else the text with its white space folded.

The rules, by label:
- amounts (`MONEY` and its kin): a plain decimal with `.`, and the ISO code of the currency if one is named:
  `1.234,56 €` → `1234.56 EUR`. The last of two different separators is the decimal one; a lone separator is a decimal
  one unless exactly three digits follow it (`1,234` → `1234`) or it stands more than once.
- dates: ISO 8601, if day, month and year are certain. `03/04/2026` is not: it stays as it is.
- identifiers (`IBAN`, `BIC`, `TAX_ID`): upper case without spaces. `PERCENT`: the number alone. `EMAIL`: its domain in
  lower case.

Knows nothing of documents; never fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date

Normaliser = Callable[[str], str | None]

CURRENCIES = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "¥": "JPY",
    "₹": "INR",
    "₽": "RUB",
    "zł": "PLN",
    "kč": "CZK",
    "us$": "USD",
}
_ISO_CURRENCIES = frozenset(
    "AUD BGN BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY KRW MXN MYR NOK NZD PLN RON RUB SEK SGD THB TRY"
    " USD ZAR".split()
)
_MONTHS = {
    1: "january jan januar janvier janv enero ene gennaio gen janeiro januari",
    2: "february feb februar février fév févr febrero febbraio fevereiro fev februari",
    3: "march mar märz mär mars marzo março maart",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo maggio mag maio mei maj",
    6: "june jun juni juin junio giugno giu junho",
    7: "july jul juli juillet juil julio luglio lug julho",
    8: "august aug août agosto ago augustus augusti",
    9: "september sep sept septembre septiembre settembre set setembro",
    10: "october oct oktober okt octobre octubre ottobre ott outubro out",
    11: "november nov novembre noviembre novembro",
    12: "december dec dezember dez décembre déc diciembre dic dicembre dezembro",
}
_MONTH_OF = {name: month for month, names in _MONTHS.items() for name in names.split()}
_NUMBER = re.compile(r"\d(?:[\d.,'’ ]*\d)?")
_WORD = re.compile(r"[^\W\d_]+\$?|[€$£¥₹₽]")
_YEAR_FIRST = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")
_YEAR_LAST = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4})")
_DAY_MONTH = re.compile(
    r"(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?\s*(?:de\s+|of\s+)?([^\W\d_]+)\.?,?\s*(?:de\s+)?(\d{4})", re.I
)
_MONTH_DAY = re.compile(r"([^\W\d_]+)\.?\s*(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", re.I)


def normalise(label: str, text: str) -> str:
    """The value of an entity with this label and text."""
    folded = " ".join(text.split())
    rule = _RULES.get(label)
    return (rule(folded) if rule else None) or folded


def _amount(text: str) -> str | None:
    numbers = _NUMBER.findall(text)
    if len(numbers) != 1:
        return None
    value = _decimal(numbers[0])
    sign = "-" if re.match(r"^\W*[-−]\s*\W*\d", text) else ""
    currency = _currency(text)
    return sign + value + (f" {currency}" if currency else "") if value else None


def _decimal(number: str) -> str | None:
    digits = re.sub(r"[ '’]", "", number)
    marks: list[str] = re.findall(r"[.,]", digits)
    if not marks:
        return digits
    whole, _, rest = digits.rpartition(marks[-1])
    grouping = len(set(marks)) == 1 and (len(marks) > 1 or len(rest) == 3)
    plain: str = re.sub(r"[.,]", "", digits if grouping else whole)
    return plain if grouping else f"{plain}.{rest}"


def _currency(text: str) -> str | None:
    words: list[str] = _WORD.findall(text)
    for word in words:
        if word.lower() in CURRENCIES:
            return CURRENCIES[word.lower()]
        if word.upper() in _ISO_CURRENCIES:
            return word.upper()
    return None


def _percent(text: str) -> str | None:
    numbers = _NUMBER.findall(text)
    return _decimal(numbers[0]) if len(numbers) == 1 else None


def _date(text: str) -> str | None:
    bare = re.sub(r"^(?:le|el|den|the|am|il|dia)\s+", "", text, flags=re.I).strip(" .,;")
    if match := _YEAR_FIRST.fullmatch(bare):
        return _iso(*map(int, match.groups()))
    if match := _YEAR_LAST.fullmatch(bare):
        return _year_last(int(match[1]), match[2], int(match[3]), int(match[4]))
    if (match := _DAY_MONTH.fullmatch(bare)) and (month := _MONTH_OF.get(match[2].lower())):
        return _iso(int(match[3]), month, int(match[1]))
    if (match := _MONTH_DAY.fullmatch(bare)) and (month := _MONTH_OF.get(match[1].lower())):
        return _iso(int(match[3]), month, int(match[2]))
    return None


def _year_last(first: int, separator: str, second: int, year: int) -> str | None:
    """Dots mean day first everywhere; with a stroke or a hyphen it must show from the numbers."""
    if separator == "." or first > 12 or first == second:
        return _iso(year, second, first)
    return _iso(year, first, second) if second > 12 else None


def _iso(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None


def _identifier(text: str) -> str:
    return text.replace(" ", "").upper()


def _email(text: str) -> str | None:
    name, at, domain = text.rpartition("@")
    return f"{name}@{domain.lower()}" if at else None


_RULES: dict[str, Normaliser] = {
    **dict.fromkeys(("MONEY", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"), _amount),
    **dict.fromkeys(("DATE", "INVOICE_DATE", "DUE_DATE", "EFFECTIVE_DATE"), _date),
    **dict.fromkeys(("IBAN", "BIC", "TAX_ID"), _identifier),
    "PERCENT": _percent,
    "EMAIL": _email,
}
