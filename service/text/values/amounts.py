"""Reads numbers, sums of money, quantities with units and percentages as their values.

The number itself tells its decimal mark, else the document does; where two readings are left, both are given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

from babel.numbers import get_currency_precision

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.currencies import SIGNS, currencies_in, is_currency
from service.text.values.normalization import RAISED, folded, key, plain

_NUMBER = re.compile(r"[0-9](?:[0-9.,'’ ]*[0-9])?")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?P<mark>[.,'’ ])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?:(?!(?P=mark))[.,][0-9]+)?")
_INDIAN = re.compile(r"[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?")
_ONE_MARK = re.compile(
    r"(?P<whole>[1-9][0-9]{0,2}(?P<mark>[.,])[0-9]{3}(?:(?P=mark)[0-9]{3})*)(?P=mark)(?P<cents>[0-9]{2})"
)
"""`10.686.25`, as recognition and hasty writers have it: the last mark is the decimal one."""
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
    if context.decimal_mark is not None:
        return [number.replace(",", ".") if mark == context.decimal_mark else grouped]
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


_SUBUNITS = {
    "¢": "$", "c": "$", "cent": "", "cents": "", "centimes": "", "centimos": "", "ct": "", "cts": "", "p": "£",
    "pence": "£", "коп": "RUB", "копеек": "RUB", "gr": "PLN", "groszy": "PLN", "hal": "CZK", "bani": "RON",
    "ore": "kr", "øre": "kr", "kr": "",
}  # fmt: skip
"""Name of a hundredth, as `key` has it → the sign of its currency; empty where it is of several."""
_HUNDREDTHS = re.compile(r"(?P<number>[0-9]{1,2}) ?(?P<unit>¢|[^\W\d_]{1,8})\.?")
_SIGN_AS_POINT = re.compile(
    r"(?:Esc\.? ?)?(?P<whole>[0-9]{1,3}(?:[. ][0-9]{3})+|[0-9]{1,6}) ?"
    r"(?P<sign>[€£$]|EUR|zł|Kč|руб\.?|kr) ?(?P<cents>[0-9]{2})(?P<unit> ?[^\W\d_]{0,8}\.?)",
    re.I,
)
"""Amounts with a currency's sign as the decimal mark; `$` is that of escudos."""
_RAISED_CENTS = re.compile(
    r"(?<![0-9.,'’])(?P<whole>[0-9]{1,3}(?:(?P<mark>[.,'’ \u00a0\u202f])[0-9]{3})(?:(?P=mark)[0-9]{3})*|[0-9]+)[.,]?"
    rf"(?P<cents>[{RAISED}]{{2}})(?![{RAISED}0-9])"
)
_FUEL = re.compile("(?<![0-9.,])[0-9][.,][0-9]{2}⁹(?![0-9])")
"""A price for fuel, unless its last digit is a note's mark."""
_COLON = re.compile(r"(?<=[0-9]):(?=[0-9]{2}(?: ?(?:kr|SEK)|:-))")
_BOOKED = re.compile(r"(?<=[0-9€$£]) ?(?P<mark>CR|Cr|DR|Dr|DB)\.?$|^(?P<before>CR|DR) ?(?=[0-9€$£])")
_DASHES = re.compile("[‒–—―－]")
_TRIANGLE = re.compile(r"[▲△]\s?(?=[¥0-9])")
_YEN_DASH = re.compile(r"(?P<yen>[¥₩円] ?[0-9][0-9,]*) ?[-ー]$|^(?P<kanji>[0-9][0-9,]*円) ?[-ー]$")
_CRORES = re.compile(r"(?:₹|Rs\.?|INR) ?[0-9,.]+ ?Cr\.?$")


def read_money(text: str, context: DocumentContext) -> Value | None:
    """Read the amount in a text; None if it is none."""
    if _FUEL.search(text):
        return None
    written_as = _DASHES.sub("-", plain(_RAISED_CENTS.sub(_with_cents, text)))
    written_as = _YEN_DASH.sub(lambda match: match["yen"] or match["kanji"], written_as)
    booked = _BOOKED.search(written_as)
    if booked is None:
        return _amount(text, written_as, context)
    bare = _BOOKED.sub("", written_as)
    if (amount := _amount(text, bare, context)) is None or amount.number is None:
        return amount
    sign = context.credit_sign * (1 if booked.group().strip().upper().startswith("C") else -1)
    if _CRORES.fullmatch(written_as):
        crores = _amount(text, f"{bare} crore", context)
        if crores is not None and not re.search(r"\.[0-9]{2}(?![0-9])", bare):
            return crores
        return _either(text, crores, amount)
    if sign:
        return amount if sign > 0 else _amount(text, f"-{bare}", context)
    return _either(text, amount, _amount(text, f"-{bare}", context))


def _with_cents(match: re.Match[str]) -> str:
    """Write raised cents as decimals: `12⁹⁹ €`."""
    return f"{match['whole']}{',' if match['mark'] == '.' else '.'}{unicodedata.normalize('NFKC', match['cents'])}"


def _either(text: str, first: Value | None, second: Value | None) -> Value | None:
    if first is None or second is None:
        return first or second
    return Value(ValueKind.MONEY, folded(text), ambiguous=(first.text, second.text), unit=first.unit)


def _amount(text: str, written_as: str, context: DocumentContext) -> Value | None:
    """Read the amount in a text whose mark for the side of an account has been removed."""
    found = find_number(_TRIANGLE.sub("-", _COLON.sub(".", _with_hundredths(written_as, context))))
    if found is None:
        return None
    exponent, words = take_power(found.around, context, is_currency)
    number = decimal(found.digits) or _with_one_mark(found.digits, context)
    currencies = currencies_in(words, context)
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


def _with_one_mark(digits: str, context: DocumentContext) -> str | None:
    """Read `10.686.25` and `10,686,25` as 10686.25, unless the document has another decimal mark."""
    match = _ONE_MARK.fullmatch(digits)
    if match is None or context.decimal_mark not in (None, match["mark"]):
        return None
    return f"{match['whole'].replace(match['mark'], '')}.{match['cents']}"


def _with_hundredths(text: str, context: DocumentContext) -> str:
    """Write `12€50`, `12$50` and `99¢` as `12.50 €`, `12.50 esc` and `0.99 $`; leave all other texts as they are."""
    if match := _SIGN_AS_POINT.fullmatch(text):
        whole, sign = re.sub("[. ]", "", match["whole"]), match["sign"].replace("$", "esc")
        unit = match["unit"].strip(" .")
        if key(unit) in {"", *_SUBUNITS}:
            return f"{whole}.{match['cents']} {sign}"
        if currencies_in(unit, context):
            return f"{whole}.{match['cents']} {unit}"
    if (match := _HUNDREDTHS.fullmatch(text)) and key(match["unit"]) in _SUBUNITS and key(match["unit"]) != "kr":
        return f"0.{match['number']:0>2} {_SUBUNITS[key(match['unit'])]}"
    return text


def _other_reading(digits: str, context: DocumentContext) -> str | None:
    """Read `1.234` with three decimals, where all other amounts of the document have that decimal mark."""
    lone = re.fullmatch(r"[1-9][0-9]{0,2}([.,])[0-9]{3}", digits)
    return digits.replace(",", ".") if lone and lone[1] == context.decimal_mark else None


_PERCENT = frozenset(
    key(word)
    for word in """% ٪ percent per cent pct prozent v.h. pour por ciento cento porcento procent procenten procents
    prosent prosenttia процент процента процентов yüzde パーセント 퍼센트 प्रतिशत بالمئة بالمائة في المائة""".split()
)
"""Signs and words for a hundredth, as `key` has them."""
_SQUARED = re.compile(r"(?<=[0-9] )([cdkm]?m)([23])(?![0-9])|(?<=[0-9])([cdkm]?m)([23])(?![0-9])")
_SAID_TWICE = re.compile(
    r"^(?:[^\W\d_][^()\d]{0,40})?\((?=[0-9]+\)\s?\S)"
    r"|(?<=[0-9])\)(?=\s?\S)"
    r"|(?<=[0-9]) ?\([^\W\d_][^()\d]{0,40}\)(?=\s?\S)"
)
"""A number in words before its digits, with brackets around one of the two, as contracts have it."""
_TIMES = re.compile(r"^[x×]$", re.IGNORECASE)


def read_percent(text: str, context: DocumentContext) -> Value | None:
    """Read the percentage in a text; None if it is none."""
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
    """Read a number and its unit; None if there are other words than the number's own ("ninety (90) days")."""
    found = find_number(_SQUARED.sub(_squared, plain(_SAID_TWICE.sub(" ", text), with_powers=True)))
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
    """Look up CLDR's name of a unit; empty without words, None if it is unknown."""
    bare = words.strip(" .,:;")
    if not bare or _TIMES.fullmatch(bare):
        return ""
    return names.meaning(names.units(), key(bare), context)
