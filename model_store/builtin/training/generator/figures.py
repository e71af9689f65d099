"""Dates, amounts of money, quantities and rates, written as a locale writes them (babel's data)."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Final

from babel.dates import format_date
from babel.numbers import format_decimal

from model_store.builtin.training.generator.locales import Locale

CENT: Final = Decimal("0.01")
_SYMBOLS: Final = {"USD": "$", "GBP": "£", "EUR": "€", "INR": "₹", "MXN": "$", "BRL": "R$"}
_PATTERNS: Final = {
    "US": ("MM/dd/yyyy", "M/d/yyyy", "MMM d, yyyy", "MMMM d, yyyy", "yyyy-MM-dd", "MM-dd-yy", "d MMM yyyy", "M/d/yy"),
    "DE": ("dd.MM.yyyy", "dd.MM.yyyy", "d. MMMM yyyy", "d.M.yyyy", "dd.MM.yy", "yyyy-MM-dd"),
    "": (
        "dd/MM/yyyy",
        "d MMMM yyyy",
        "dd-MM-yyyy",
        "dd/MM/yy",
        "yyyy-MM-dd",
        "d MMM yyyy",
        "dd.MM.yyyy",
        "dd MMM yyyy",
    ),
}


@dataclass(frozen=True, slots=True)
class Style:
    """How one document writes figures; the same all through it."""

    locale: Locale
    date_pattern: str
    money_template: str
    bare_in_tables: bool
    whole_amounts: bool


def choose_style(rng: Random, locale: Locale) -> Style:
    """A style for one document."""
    patterns = _PATTERNS.get("DE" if locale.language == "de" else locale.country, _PATTERNS[""])
    symbol, code = _SYMBOLS.get(locale.currency, locale.currency), locale.currency
    before = locale.country in {"US", "GB", "IN", "MX", "BR"}
    before = before or (locale.currency == "EUR" and rng.random() < 0.15)
    common = (
        (f"{symbol}{{}}", f"{symbol} {{}}", f"{{}} {code}", f"{symbol}{{}}")
        if before
        else (f"{{}} {symbol}", f"{{}} {code}", f"{symbol} {{}}")
    )
    template = rng.choice((*common, common[0], "{}", f"{code} {{}}", "{}"))
    return Style(locale, rng.choice(patterns), template, rng.random() < 0.5, rng.random() < 0.2)


def some_day(rng: Random, *, first_year: int = 2005, last_year: int = 2030) -> date:
    """Any day of the years."""
    return date(first_year, 1, 1) + timedelta(days=rng.randrange((last_year - first_year + 1) * 365))


def day_text(style: Style, day: date) -> str:
    """The day in the document's style."""
    return str(format_date(day, style.date_pattern, locale=style.locale.faker))


def month_text(style: Style, day: date, pattern: str = "MMMM yyyy") -> str:
    """Month and year in the document's language."""
    return str(format_date(day, pattern, locale=style.locale.faker))


def number_text(style: Style, value: Decimal, *, decimals: int = 2) -> str:
    """A number with the locale's separators."""
    pattern = "#,##0" + ("." + "0" * decimals if decimals else "")
    return (
        str(format_decimal(value, format=pattern, locale=style.locale.faker))
        .replace("\u202f", " ")
        .replace("\xa0", " ")
    )


def money_text(style: Style, value: Decimal, *, bare: bool = False) -> str:
    """An amount, with its currency unless `bare`."""
    whole = style.whole_amounts and value == value.to_integral_value()
    number = number_text(style, value, decimals=0 if whole else 2)
    return number if bare else style.money_template.format(number)


def rounded(value: Decimal) -> Decimal:
    """To the cent, halves up."""
    return value.quantize(CENT, rounding=ROUND_HALF_UP)


def percent_text(rng: Random, style: Style, rate: Decimal) -> str:
    """A rate with a percent sign."""
    number = number_text(style, rate, decimals=rng.choice((0, 0, 1, 2)) if rate == rate.to_integral_value() else 2)
    return f"{number}{rng.choice(('%', '%', ' %'))}"
