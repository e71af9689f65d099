"""The facts of an invoice before any layout. Amounts add up: lines to the net sum, net and tax to the total."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.generator import figures
from model_store.builtin.training.generator.figures import Style, rounded
from model_store.builtin.training.generator.identifiers import article_number, document_number, free_number
from model_store.builtin.training.generator.locales import Locale, choose_locale, neighbour, random_words, say
from model_store.builtin.training.generator.parties import (
    Party,
    new_party,
)

_RATES: Final[dict[str, tuple[Decimal | int, ...]]] = {
    "DE": (19, 7),
    "AT": (20, 10),
    "CH": (Decimal("8.1"), Decimal("2.6")),
    "FR": (20, Decimal("5.5"), 10),
    "ES": (21, 10),
    "IT": (22, 10, 4),
    "NL": (21, 9),
    "BE": (21, 6),
    "PT": (23, 6),
    "GB": (20, 5),
    "US": (Decimal("8.25"), 3, 6, Decimal("10.2")),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One position; `amount` is quantity times price, less the discount."""

    name: str
    code: str
    quantity: int
    unit: str
    price: Decimal
    discount_percent: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Invoice:
    """All facts of an invoice, before any layout."""

    locale: Locale
    style: Style
    supplier: Party
    receiver: Party
    number: str
    order: str
    customer: str
    issued: date
    due: date
    delivered: date
    lines: tuple[Line, ...]
    rate: Decimal
    net: Decimal
    tax: Decimal
    total: Decimal


def new_invoice(rng: Random, locale: Locale | None = None) -> Invoice:
    """Consistent facts of one invoice."""
    locale = locale or choose_locale(rng)
    style = figures.choose_style(rng, locale)
    issued = figures.some_day(rng)
    lines = tuple(_new_line(rng, style) for _ in range(rng.choice((1, 1, 2, 3, 4, 5, 7, 10))))
    rate = Decimal(rng.choice(_RATES.get(locale.country, (20, 10, 0))))
    net = sum((line.amount for line in lines), Decimal(0))
    tax = rounded(net * rate / 100)
    return Invoice(
        locale=locale,
        style=style,
        supplier=new_party(rng, locale, document_locale=locale, person_share=0.06),
        receiver=new_party(rng, neighbour(rng, locale), document_locale=locale, person_share=0.2),
        number=document_number(rng, year=issued.year),
        order=document_number(rng, year=issued.year, prefixes=("PO", "B", "O", "BE", "4500", "CMD", "ORD")),
        customer=free_number(rng),
        issued=issued,
        due=issued + timedelta(days=rng.choice((7, 10, 14, 30, 30, 45, 60))),
        delivered=issued - timedelta(days=rng.randint(0, 30)),
        lines=lines,
        rate=rate,
        net=net,
        tax=tax,
        total=net + tax,
    )


def product(rng: Random, style: Style, code: str) -> str:
    """A product or service."""
    name = say(rng, style.locale, "products", "nouns")
    if rng.random() < 0.25:
        name = " ".join(random_words(rng, style.locale, rng.randint(1, 4))).capitalize()
    elif rng.random() < 0.3:
        plain = name if style.locale.language == "de" else name.lower()
        name = f"{say(rng, style.locale, 'products', 'adjectives')} {plain}"
    if rng.random() < 0.4:
        tail = say(rng, style.locale, "products", "tails")
        month = figures.month_text(style, figures.some_day(rng))
        name += " " + tail.format(
            n=rng.choice((2, 5, 10, 20, 100, 250, 500)), m=rng.randint(2, 40), code=code, month=month
        )
    return name


def _new_line(rng: Random, style: Style) -> Line:
    code = article_number(rng)
    quantity = rng.choice((1, 1, 1, 2, 3, 5, 8, 10, 20, 50, 100))
    price = Decimal(rng.choice((rng.randint(50, 9999), rng.randint(1, 400) * 100, rng.randint(5, 90) * 2500))) / 100
    discount = rng.choice((0, 0, 0, 0, 0, 0, 5, 10, 25))
    amount = rounded(price * quantity * (100 - discount) / 100)
    return Line(
        product(rng, style, code), code, quantity, say(rng, style.locale, "invoice", "unit"), price, discount, amount
    )
