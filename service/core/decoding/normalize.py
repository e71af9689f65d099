"""Normalizes an entity's text to a value, where its meaning is unambiguous; else folds its white space.

The rules, by label:
- amounts (`MONEY` and its kin): a plain decimal with `.`, and the ISO code of the currency if one is named:
  `1.234,56 €` → `1234.56 EUR`. Only if there are no other words: `5 million`, `$15 per hour` and `5 or 6` stay as
  they are. Thousands are grouped by one separator throughout; a lone separator before exactly three digits counts as
  one (`1,234` → `1234`) unless the number could not be grouped so (`0,125`, `1234,567`).
- `PERCENT`: the number alone; a lone separator is a decimal one there (`7,125 %` → `7.125`).
- dates: ISO 8601, if day, month and year are certain. `03/04/2026` is not, and stays as it is. With dots the day
  comes first in every country.
- identifiers (`IBAN`, `BIC`, `TAX_ID`): upper case without spaces. `EMAIL`: its domain in lower case.

Never fails.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import date

Rule = Callable[[str], str | None]

_CURRENCIES = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "c$": "CAD", "a$": "AUD", "hk$": "HKD",
    "s$": "SGD", "r$": "BRL", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₺": "TRY", "₩": "KRW", "₪": "ILS",
    "zł": "PLN", "kč": "CZK", "ft": "HUF", "sfr": "CHF", "rm": "MYR", "rp": "IDR",
    "kr": "", "fr": "", "rs": "",
}  # fmt: skip
"""Sign or name → ISO code; an empty code where several currencies share the sign, so that the amount has none."""
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
_NUMBER = re.compile(r"[0-9](?:[0-9.,'’ ]*[0-9])?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?P<mark>[.,'’ ])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:(?!(?P=mark))[.,][0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_CURRENCY = re.compile(r"[^\W\d_]*\$|[^\W\d_]+|[€£¥₹₽₺₩₪]")
_MINUS = re.compile(r"[-−]\s*(?:[€$£¥₹₽₺₩₪]\s*)?$|^\s*[-−]")
_YEAR_FIRST = re.compile(r"([0-9]{4})\s?[-./年]\s?([0-9]{1,2})\s?[-./月]\s?([0-9]{1,2})\s?日?")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-./])([0-9]{1,2})\2([0-9]{4})")
_DAY_MONTH = re.compile(
    r"([0-9]{1,2})(?:st|nd|rd|th|er|º|ª|\.)?[\s/-]*(?:de\s+|of\s+)?([^\W\d_]+)\.?,?[\s/-]*(?:de\s+)?([0-9]{4})", re.I
)
_MONTH_DAY = re.compile(r"([^\W\d_]+)\.?\s*([0-9]{1,2})(?:st|nd|rd|th)?,?\s+([0-9]{4})", re.I)
_BEFORE_DATE = re.compile(r"^(?:[^\W\d_]+,\s+)?(?:(?:le|el|den|the|am|il|dia)\s+)?", re.I)


def normalize(label: str, text: str) -> str:
    """The value of an entity's text, by the rule for its label."""
    folded = " ".join(text.split())
    rule = RULES.get(label)
    return (rule(folded) if rule else None) or folded


def _amount(text: str) -> str | None:
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1 or (text.startswith("(") and text.endswith(")")):
        return None
    before, after = text[: numbers[0].start()], text[numbers[0].end() :]
    value, currencies = _decimal(numbers[0].group()), _currencies(before + " " + after)
    if value is None or currencies is None or len(currencies) > 1:
        return None
    sign = "-" if _MINUS.search(before) or re.match(r"[-−](?!-)", after) else ""
    return " ".join([sign + value, *currencies])


def _decimal(number: str) -> str | None:
    """The number with a decimal point and no other separators; None if its separators are inconsistent."""
    if (match := _GROUPED.fullmatch(number)) and (mark := match["mark"]):
        return number.replace(mark, "").replace(",", ".")
    if _INDIAN.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".") if _PLAIN.fullmatch(number) else None


def _currencies(text: str) -> set[str] | None:
    """The ISO codes in the text around a number; None if it has other words."""
    found = set()
    for word in _CURRENCY.findall(text):
        known = word.upper() if word.upper() in _ISO_CURRENCIES else _CURRENCIES.get(word.lower())
        if known is None:
            return None
        found.add(known)
    return found - {""}


def _percent(text: str) -> str | None:
    match = re.fullmatch(r"([-−]?)\s*([0-9]+)(?:[.,]([0-9]+))?\s*(?:%|percent|per cent|Prozent|pour cent)?", text, re.I)
    if match is None:
        return None
    sign, whole, fraction = match.groups()
    return ("-" if sign else "") + whole + (f".{fraction}" if fraction else "")


def _date(text: str) -> str | None:
    bare = _BEFORE_DATE.sub("", unicodedata.normalize("NFC", text)).strip(" .,;")
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
    """Day first with dots; with a slash or a hyphen only if the numbers leave one reading."""
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
    return f"{name}@{domain.lower().rstrip('.')}" if at else None


RULES: dict[str, Rule] = {
    **dict.fromkeys(("MONEY", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"), _amount),
    **dict.fromkeys(("DATE", "INVOICE_DATE", "DUE_DATE", "EFFECTIVE_DATE"), _date),
    **dict.fromkeys(("IBAN", "BIC", "TAX_ID"), _identifier),
    "PERCENT": _percent,
    "EMAIL": _email,
}
