"""Amounts of money: sign, decimal number and currency, `(1.234,50 €)` → `-1234.50 EUR`.

Only if there are no other words: `$15 per hour` and `5 or 6` are no amounts. Signs that several currencies share mean
the one that the document is about; else `$` is the US dollar, `£` the pound and `¥` the yen, and `kr` is none.
"""

from __future__ import annotations

import re

from babel.numbers import get_currency_precision

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.numbers import decimal, find_number, scaled, take_power, written
from service.text.values.script import folded, key, plain

_NAMED = {
    "€": "EUR", "euro": "EUR", "euros": "EUR", "us$": "USD", "c$": "CAD", "ca$": "CAD", "a$": "AUD", "au$": "AUD",
    "hk$": "HKD", "nt$": "TWD", "nz$": "NZD", "mx$": "MXN", "s$": "SGD", "r$": "BRL", "₹": "INR", "₽": "RUB",
    "₺": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "₴": "UAH", "฿": "THB", "₱": "PHP", "zl": "PLN", "kc": "CZK",
    "ft": "HUF", "sfr": "CHF", "franken": "CHF", "rm": "MYR", "rp": "IDR", "tl": "TRY", "円": "JPY",
    "円也": "JPY", "原": "KRW", "원": "KRW", "руб": "RUB", "р": "RUB", "рублей": "RUB", "rmb": "CNY", "人民币": "CNY",
    "reais": "BRL", "real": "BRL", "yen": "JPY", "yuan": "CNY", "zlotych": "PLN", "zloty": "PLN", "zlote": "PLN",
    "रुपये": "INR", "ريال": "SAR", "درهم": "AED", "лв": "BGN", "chf": "CHF",
}  # fmt: skip
_SIGNS = {key(name): code for name, code in _NAMED.items()}
"""Sign or name, as `key` has it → ISO 4217, where it is of one currency."""
_FAMILIES: dict[str, tuple[str, str | None]] = {
    "$": ("USD CAD AUD NZD MXN SGD HKD TWD CLP COP ARS UYU", "USD"),
    "dollar": ("USD CAD AUD NZD SGD HKD", "USD"),
    "dollars": ("USD CAD AUD NZD SGD HKD", "USD"),
    "£": ("GBP EGP", "GBP"),
    "pound": ("GBP EGP", "GBP"),
    "pounds": ("GBP EGP", "GBP"),
    "¥": ("JPY CNY", "JPY"),
    "元": ("CNY TWD HKD", "CNY"),
    "kr": ("SEK DKK NOK ISK", None),
    "kronor": ("SEK", "SEK"),
    "kroner": ("DKK NOK", None),
    "fr": ("CHF XOF XAF", None),
    "lei": ("RON MDL", "RON"),
    "rs": ("INR PKR LKR NPR MUR", None),
    "r": ("ZAR", None),
    "peso": ("MXN ARS CLP COP PHP", None),
    "pesos": ("MXN ARS CLP COP PHP", None),
}
"""Sign or name that several currencies share → those currencies, and the one that it is where nothing tells."""
_WORD = re.compile(r"[^\W\d_]*\$|(?:[^\W\d_]|[\u0900-\u097f])+|[€£¥₹₽₺₩₪₫₴฿₱]")
_OTHER_MARKS = re.compile(r"[^\s.,:;*/'’=+-]")


def read_money(text: str, context: DocumentContext) -> Value | None:
    """The amount in a text; None if it is none."""
    found = find_number(plain(text))
    if found is None:
        return None
    exponent, words = take_power(found.around, context, _is_currency)
    number, currencies = decimal(found.digits), _currencies(words, context)
    if number is None or currencies is None or len(currencies) > 1:
        return None
    amount = scaled(number, exponent, negative=found.negative)
    currency = next(iter(currencies), None)
    if currency == "JPY" and "¥" in words and -int(amount.as_tuple().exponent) > get_currency_precision("JPY"):
        currency = "CNY"
    value = " ".join([written(amount), *([currency] if currency else [])])
    if (other := _other_reading(found.digits, context)) is not None and not exponent:
        other = " ".join([written(scaled(other, 0, negative=found.negative)), *([currency] if currency else [])])
        return Value(ValueKind.MONEY, folded(text), ambiguous=(value, other), unit=currency)
    return Value(ValueKind.MONEY, value, number=amount, unit=currency)


def _other_reading(digits: str, context: DocumentContext) -> str | None:
    """`1.234` as a number with three decimals, where all other amounts of the document have that decimal mark."""
    lone = re.fullmatch(r"[1-9][0-9]{0,2}([.,])[0-9]{3}", digits)
    return digits.replace(",", ".") if lone and lone[1] == context.decimal_mark else None


def _is_currency(word: str) -> bool:
    return word.isupper() and (word in names.currency_codes() or key(word) in _SIGNS or key(word) == "r")


def _currencies(words: str, context: DocumentContext) -> set[str] | None:
    """The currencies in the words around a number; None if there are other words."""
    whole = names.currency_names().get(key(words.strip(" .")))
    if whole is not None:
        return {whole}
    found = set()
    for word in _WORD.findall(words):
        known, code = _currency(word, context)
        if not known:
            return None
        found.add(code)
    if _OTHER_MARKS.search(_WORD.sub(" ", words)):
        return None
    return {code for code in found if code is not None}


def _currency(word: str, context: DocumentContext) -> tuple[bool, str | None]:
    """Whether a word names a currency, and which one, where that is known."""
    if word.upper() in names.currency_codes() and len(word) == 3:
        return True, word.upper()
    bare = key(word)
    if bare in _SIGNS:
        return True, _SIGNS[bare]
    if bare in _FAMILIES:
        codes, default = _FAMILIES[bare]
        return True, context.choose_currency(codes.split()) or default
    name = names.currency_names().get(bare)
    return name is not None, name
