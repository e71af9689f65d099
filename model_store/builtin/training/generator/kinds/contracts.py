"""Contracts: an opening that names the parties, clauses among filler, signatures; long lines broken as printed.

Role words (Licensor, Tenant) are not entities; the parties' names are PARTY wherever they stand.
"""

import tomllib
from datetime import timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from random import Random

from model_store.builtin.training.generator import figures, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, Row, fill, row
from model_store.builtin.training.generator.locales import Locale, choose_locale, neighbour, phrases
from model_store.builtin.training.generator.sentences import filler, jurisdiction, wrapped

_PERIODS = {
    "en": ("{n} days", "{n} months", "{n} years", "thirty ({n}) days", "ten ({n}) years"),
    "de": ("{n} Tagen", "{n} Monaten", "{n} Jahre"),
    "fr": ("{n} jours", "{n} mois", "{n} ans"),
    "es": ("{n} días", "{n} meses", "{n} años"),
    "it": ("{n} giorni", "{n} mesi", "{n} anni"),
    "nl": ("{n} dagen", "{n} maanden", "{n} jaar"),
    "pt": ("{n} dias", "{n} meses", "{n} anos"),
}


def contract_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a contract."""
    locale = choose_locale(rng)
    texts = _texts()[locale.language]
    values = _values(rng, locale, rng.choice(texts["roles"]))
    opening = rng.randrange(len(texts["openings"]))
    blocks: list[Block] = [[row(rng.choice(texts["titles"]))]] if rng.random() < 0.85 else []
    blocks.append([_filled(texts["openings"][opening], values)])
    for number in range(1, rng.randint(2, 9)):
        if rng.random() < 0.45:
            blocks.append([row(f"{number}. ", filler(rng, locale))])
        else:
            values |= _figures(rng, locale)
            blocks.append([_filled(rng.choice(texts["clauses"]).replace("{n}", str(number)), values)])
    if rng.random() < 0.5:
        blocks.append(_signatures(rng, texts["signature"], values, locale))
    wrap = rng.random() < 0.6
    rows = [line for block in blocks for line in (wrapped(block, rng) if wrap else block)]
    return f"contract/{locale.language}{opening}{int(wrap)}{len(blocks) // 3}", rows


def _values(rng: Random, locale: Locale, roles: str) -> dict[str, Piece | str]:
    first, second = roles.split("|")
    style = figures.choose_style(rng, locale)
    start = figures.some_day(rng)
    other = neighbour(rng, locale)
    names = [people.company(rng, locale), people.company(rng, other)]
    if rng.random() < 0.25:
        names[1] = people.person(rng, other)
    return {
        "a": Piece(names[0].upper() if rng.random() < 0.2 else names[0], "PARTY"),
        "b": Piece(names[1].upper() if rng.random() < 0.2 else names[1], "PARTY"),
        "ra": first,
        "rb": second,
        "aa": Piece(places.one_line_address(rng, locale).replace("\n", " "), "ADDRESS"),
        "ab": Piece(places.one_line_address(rng, other).replace("\n", " "), "ADDRESS"),
        "day": Piece(figures.day_text(style, start), "EFFECTIVE_DATE"),
        "end": Piece(figures.day_text(style, start + timedelta(days=rng.randint(90, 3650))), "DATE"),
        "law": Piece(jurisdiction(rng, locale), "GOVERNING_LAW"),
        "state": Piece(jurisdiction(rng, locale), "LOCATION"),
        **_figures(rng, locale),
    }


def _figures(rng: Random, locale: Locale) -> dict[str, Piece | str]:
    style = figures.choose_style(rng, locale)
    period = _PERIODS[locale.language]
    money = figures.money_text(style, Decimal(rng.randint(1, 900) * 500))
    return {
        "money": Piece(money if style.money_template != "{}" else f"{locale.currency} {money}", "MONEY"),
        "percent": Piece(figures.percent_text(rng, style, Decimal(rng.randint(1, 30))), "PERCENT"),
        "days": Piece(rng.choice(period).replace("{n}", str(rng.choice((10, 14, 30, 60, 90)))), "QUANTITY"),
        "years": Piece(rng.choice(period).replace("{n}", str(rng.randint(1, 12))), "QUANTITY"),
        "person": Piece(people.person(rng, locale), "PERSON"),
    }


def _filled(template: str, values: dict[str, Piece | str]) -> Row:
    return fill(template, **values)


def _signatures(rng: Random, words: list[str], values: dict[str, Piece | str], locale: Locale) -> Block:
    rows: Block = []
    for role in ("a", "b"):
        rows.append(row(values[role]))
        title = str(rng.choice(phrases(locale.language)["resume"]["jobs"]))
        shown = [row(word, " ", "_" * rng.randint(5, 25)) for word in words[:1]]
        shown.append(row(words[-1] if len(words) < 3 else words[1], " ", Piece(people.person(rng, locale), "PERSON")))
        if locale.language == "en":
            shown.append(row("Title: ", Piece(title, "JOB_TITLE")))
        rows += shown
    return rows


@cache
def _texts() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads((Path(__file__).parents[1] / "phrases" / "contract.toml").read_text(encoding="utf-8"))
