"""Reads sums of money, quantities with units and percentages as their values.

The rules for sums of money, where the number does not tell its marks:
- A mark before three digits is the decimal one in currencies with three decimals, unless the document has another one.
- A space groups digits where the document's other numbers or its language have it so (`groups_by_space`).
What stays open is ambiguous.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from babel.numbers import get_currency_precision

from service.core.decoding.value import Value, ValueKind
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.currencies import SIGNS, currencies_in, is_currency, possible_currencies
from service.text.values.normalization import RAISED, folded, key, plain
from service.text.values.number_marks import usual_decimals, usual_grouping
from service.text.values.written_numbers import (
    WrittenNumber,
    decimal,
    find_number,
    lone_decimal,
    readings,
    scaled,
    take_power,
    written,
)

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
_COLON = re.compile(r"(?<=[0-9]):(?=[0-9]{2}(?: ?(?:kr|SEK)|:-))|(?<=[0-9][ .][0-9]{3}):(?=[0-9]{2}$)")
"""A Swedish decimal mark; a time has no groups of digits."""
_BOOKED = re.compile(r"(?<=[0-9€$£]) ?(?P<mark>CR|Cr|DR|Dr|DB)\.?$|^(?P<before>CR|DR) ?(?=[0-9€$£])")
_DASHES = re.compile("[‒–—―－]")
_TRIANGLE = re.compile(r"[▲△]\s?(?=[¥0-9])")
_YEN_DASH = re.compile(r"(?P<yen>[¥₩円] ?[0-9][0-9,]*) ?[-ー]$|^(?P<kanji>[0-9][0-9,]*円) ?[-ー]$")
_ONE_MARK = re.compile(
    r"(?P<whole>[1-9][0-9]{0,2}(?P<mark>[.,])[0-9]{3}(?:(?P=mark)[0-9]{3})*)(?P=mark)(?P<cents>[0-9]{2})"
)
"""`10.686.25`, as recognition and hasty writers have it: the last mark is the decimal one."""
_ARTICLE = re.compile(r"[A-Z]{3}[0-9]|[0-9][A-Z]{3}")
"""Letters joined with digits: a code of today's currencies, but `ESP32` and `BEL20` are something else."""
_SPACED_DIGITS = re.compile("[0-9] [0-9]")
_SPACED_ONCE = re.compile(r"[1-9][0-9]{0,2} [1-9][0-9]{2}(?P<mark>[.,])[0-9]{2,3}")
_SUMS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?: [0-9]{3}){0,2}[.,][0-9]{2,3}(?![0-9.,])")
_LONE = re.compile(r"[1-9][0-9]{0,2}([.,])[0-9]{3}")
_SELDOM_WITH_THOUSANDTHS = frozenset({"IQD"})
"""Currencies with three decimals by ISO 4217 that are hardly ever written."""
_NAMED_BEFORE = re.compile(rf"[^\W\d_]|[{SIGNS}]")
_THOUSANDTHS = re.compile(
    r"(?<!\w)(?:KWD|OMR|JOD|TND|LYD"
    r"|(?:(?<![Nn] )(?<![Nn]\. )BHD|[KBJ]\.?D|R\.?O)(?=\.?[ \t]{0,4}\d[\d.,' ]{0,12}[.,]\d{3}(?!\d)|\)))(?!\w)"
    r"|(?<=\d) ?(?:BHD|[KBJ]\.?D|dinars?)(?!\w)|د\.[كب]|ر\.ع|دينار"
)
"""Codes and signs of currencies with three decimals; in Malaysia "Sdn BHD" is a form of companies."""
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
    currencies = currencies_in(words, context)
    if currencies is None or len(currencies) > 1:
        return None
    currency = next(iter(currencies), None)
    if currency in names.former_currency_codes() and _ARTICLE.search(written_as):
        return None
    is_one = ":" in written_as or not _SPACED_DIGITS.search(text) or groups_by_space(found, currency, context)
    numbers = _numbers(found.digits, currency, context) if is_one else _apart(found.digits)
    if not numbers:
        return None
    amounts = [scaled(number, exponent, negative=found.negative) for number in numbers]
    if currency == "JPY" and "¥" in words and -int(amounts[0].as_tuple().exponent) > get_currency_precision("JPY"):
        currency = "CNY"
    values = tuple(_money(amount, currency) for amount in amounts)
    if len(values) > 1 and not exponent:
        return Value(ValueKind.MONEY, folded(text), ambiguous=values, unit=currency)
    others = () if currency or not words else possible_currencies(words, context)
    by_currency = tuple(_money(amounts[0], other) for other in others)
    return Value(ValueKind.MONEY, values[0], ambiguous=by_currency, number=amounts[0], unit=currency)


def _money(amount: Decimal, currency: str | None) -> str:
    return " ".join([written(amount), *([currency] if currency else [])])


def _numbers(digits: str, currency: str | None, context: DocumentContext) -> list[str]:
    """Read the number of an amount, the likelier reading first: two where its document does not tell."""
    number = decimal(digits) or _with_one_mark(digits, context)
    lone = _LONE.fullmatch(digits)
    if number is None or lone is None:
        return [number] if number else []
    mark, other = lone[1], digits.replace(",", ".")
    if not has_thousandths(currency, context):
        return [number, other] if mark in (context.marks.cents, context.marks.decimal) else [number]
    if context.marks.decimal is not None:
        return [other if mark == context.marks.decimal else number]
    is_usual = mark in usual_decimals(context.locales or _home(currency) or ("en",))
    if currency in _SELDOM_WITH_THOUSANDTHS:
        return [number, other] if is_usual else [number]
    return [other] if is_usual else [number, other]


def _apart(digits: str) -> list[str]:
    """Read digits with a space between them as one number, and as a quantity before a price."""
    number = decimal(digits)
    return [number, digits.rpartition(" ")[2].replace(",", ".")] if number else []


def _home(currency: str | None) -> tuple[str, ...]:
    """Find the locale of the country that a currency's code is named after."""
    locale = names.region_locale(currency[:2]) if currency and currency != "EUR" else None
    return (locale,) if locale else ()


def groups_by_space(found: WrittenNumber, currency: str | None, context: DocumentContext) -> bool:
    """True if plain spaces in a number group its digits; False if one may stand between two columns.

    Several groups tell it, and one that begins with a zero; then the document's other numbers, a currency before it,
    and the language and the country. Whole numbers are grouped.
    """
    digits = found.digits
    spaced = _SPACED_ONCE.fullmatch(digits)
    if spaced is None or _is_grouped_elsewhere(digits, context):
        return True
    usual = usual_grouping(context.locales)
    if (spaced["mark"] == "," and " " in usual | usual_grouping(_home(currency))) or usual == {" "}:
        return True
    is_named_before = _NAMED_BEFORE.search(found.before) is not None
    return not context.marks.grouping and (is_named_before or (not usual and spaced["mark"] == ","))


def _is_grouped_elsewhere(digits: str, context: DocumentContext) -> bool:
    """True if the document has spaces between groups of digits, or the same number without a space."""
    if " " in context.marks.grouping:
        return True
    return digits.replace(" ", "") in context.grouped_numbers


def may_group_by_space(context: DocumentContext) -> bool:
    """True if a document has spaces between groups of digits, or is in a language that has."""
    return " " in context.marks.grouping or " " in usual_grouping(context.locales)


def is_quantity_and_price(text: str, behind: str, context: DocumentContext) -> bool:
    """True if `1 278.61` in a row of amounts is a quantity and a price; `behind`: the rest of its line.

    It is if the price and the amount behind it are the third one, or if the document groups digits otherwise.
    """
    row = [Decimal(number.replace(" ", "").replace(",", ".")) for number in _SUMS.findall(behind)[:2]]
    if not row or not _SPACED_ONCE.fullmatch(text):
        return False
    if len(row) == 2 and Decimal(_apart(text)[1]) + row[0] == row[1]:
        return True
    if may_group_by_space(context) or _is_grouped_elsewhere(text, context):
        return False
    return bool(context.marks.grouping or usual_grouping(context.locales))


def has_thousandths(currency: str | None, context: DocumentContext) -> bool:
    """True if amounts of a currency, or of the document's one if it is None, have three decimals."""
    if currency is None:
        return _THOUSANDTHS.search(context.head_and_tail) is not None
    return get_currency_precision(currency) == 3 or currency in _SELDOM_WITH_THOUSANDTHS


def _with_one_mark(digits: str, context: DocumentContext) -> str | None:
    """Read `10.686.25` and `10,686,25` as 10686.25, unless the document has another decimal mark."""
    match = _ONE_MARK.fullmatch(digits)
    if match is None or context.marks.cents not in (None, match["mark"]):
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
