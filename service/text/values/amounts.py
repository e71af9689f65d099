"""Reads numbers, sums of money, quantities with units and percentages as their values.

A number's decimal mark is settled by the number itself, else by the document; where two readings are left, both are
said.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from babel.numbers import get_currency_precision

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.script import folded, key, plain

_NUMBER = re.compile(r"[0-9](?:[0-9.,'’ ]*[0-9])?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?P<mark>[.,'’ ])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:(?!(?P=mark))[.,][0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_PLAIN = re.compile(r"[0-9]+(?:[.,][0-9]+)?")
_EITHER = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")
_NO_DECIMALS = re.compile(r"(?<=[0-9])[.,]\s?(?:--?|[–—])(?![0-9])")
_BRACKETS = re.compile(r"([^()]*)\(([^()]*[0-9][^()]*)\)([^()]*)")
_MINUS_BEFORE = re.compile(r"-\s*(?:[^\s\w-]\s*)?$|^\s*-")
_POWER = re.compile(r"[千万億兆亿천만억조]|[^\W\d_]+\.?")
_MINUS_AFTER = re.compile(r"-(?!-)")


class WrittenNumber(NamedTuple):
    """A number in a text with what stands before and after it."""

    before: str
    digits: str
    after: str
    negative: bool

    @property
    def around(self) -> str:
        """The words around the number."""
        return f"{self.before} {self.after}".replace("-", " ").replace("–", " ").strip()


def find_number(text: str) -> WrittenNumber | None:
    """The only number of a text that `script.plain` made; None if there is none, or more than one."""
    text = _NO_DECIMALS.sub("", text)
    bracketed = _BRACKETS.fullmatch(text)
    if bracketed:
        text = " ".join(bracketed.groups())
    numbers = list(_NUMBER.finditer(text))
    if len(numbers) != 1:
        return None
    (number,) = numbers
    before, after = text[: number.start()], text[number.end() :]
    minus = _MINUS_BEFORE.search(before) or _MINUS_AFTER.match(after)
    return WrittenNumber(before, number.group(), after, bracketed is not None or minus is not None)


def decimal(number: str) -> str | None:
    """The number with a decimal point and no other separators; None if its separators are inconsistent."""
    if (match := _GROUPED.fullmatch(number)) and (mark := match["mark"]):
        return number.replace(mark, "").replace(",", ".")
    if _INDIAN.fullmatch(number):
        return number.replace(",", "")
    return number.replace(",", ".") if _PLAIN.fullmatch(number) else None


def lone_decimal(number: str) -> str | None:
    """As `decimal`, but a lone separator is always a decimal one: `7.125` → `7.125`."""
    return number.replace(",", ".") if _PLAIN.fullmatch(number) else decimal(number)


def readings(number: str, context: DocumentContext) -> list[str]:
    """What a number may be, the likelier first: two readings for `1.234` where its document does not tell."""
    grouped = decimal(number)
    if grouped is None:
        return []
    if not _EITHER.fullmatch(number) or (mark := number[-4]) == " ":
        return [grouped]
    if context.decimal_mark is not None:
        return [number.replace(",", ".") if mark == context.decimal_mark else grouped]
    return [grouped, number.replace(",", ".")]


def scaled(number: str, exponent: int, *, negative: bool) -> Decimal:
    """A plain decimal times a power of ten."""
    value = Decimal(number).scaleb(exponent)
    if exponent > 0 and value == value.to_integral_value():
        value = value.quantize(Decimal(1))
    return -value if negative else value


def written(value: Decimal) -> str:
    """A decimal without an exponent."""
    return format(value, "f")


def take_power(words: str, context: DocumentContext, is_other: Callable[[str], bool]) -> tuple[int, str]:
    """The exponent of a word for a power of ten among the words around a number, and the words without it.

    `is_other`: whether a word means something else there, such as a currency.
    """
    for word in _POWER.findall(words):
        bare = word.rstrip(".")
        exponent = names.meaning(names.powers(), key(bare), context)
        if exponent is not None and not is_other(bare):
            return int(exponent), words.replace(word, " ", 1).strip()
    return 0, words


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
