"""Sentences: one to six of them as an e-mail, a note or a news item, and bodies of text without any entity."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random
from string import Formatter

from model_store.builtin.training.generator import figures, identifiers, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, Row, row
from model_store.builtin.training.generator.invoice_facts import Invoice, new_invoice, product
from model_store.builtin.training.generator.locales import Locale, choose_locale, faker_for, random_words, say
from model_store.builtin.training.generator.vocations import degree, language_name, school, skill

_PHRASES = Path(__file__).parent / "phrases"


def sentence_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows): sentences with entities, some filler between them."""
    locale = choose_locale(rng)
    invoice = new_invoice(rng, locale)
    rows: Block = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        if rng.random() < 0.25:
            rows.append(row(filler(rng, locale)))
        rows.append(sentence(rng, invoice))
    if rng.random() < 0.5:
        return "sentence", [_run_on(rows)]
    return "sentence", rows


def prose_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a page of text with hardly any entity, so that the model learns to predict none."""
    locale = choose_locale(rng)
    rows: Block = []
    for number in range(rng.randint(3, 18)):
        text = filler(rng, locale)
        kind = rng.random()
        if kind < 0.25:
            text = f"{_mark(rng, number)} {text}"
        elif kind < 0.35:
            text = text.upper()
        elif kind < 0.45:
            text = f"{text} {filler(rng, locale)}"
        rows.append(row(text))
    if rng.random() < 0.4:
        rows.insert(rng.randint(0, len(rows)), sentence(rng, new_invoice(rng, locale)))
    return "prose", rows


def _mark(rng: Random, number: int) -> str:
    """A bullet or a paragraph's number."""
    letter = chr(97 + number % 26)
    return rng.choice(
        (f"{number + 1}.", f"{number + 1}.{rng.randint(1, 9)}", "•", "-", f"({letter})", f"§ {number + 1}")
    )


def filler(rng: Random, locale: Locale) -> str:
    """A sentence without entities: a sensible one, or words of the language thrown together."""
    if rng.random() < 0.5 and locale.language != "pt":
        words = " ".join(random_words(rng, locale, rng.choice((2, 3, 5, 8, 12, 16))))
        return rng.choice(
            (
                words.capitalize() + ".",
                words.capitalize(),
                words.capitalize() + ".",
                words.title(),
                words.capitalize() + ":",
            )
        )
    return str(rng.choice(_lists("filler")[locale.language]))


def sentence(rng: Random, invoice: Invoice) -> Row:
    """A sentence about the invoice or about people, places and companies."""
    template = str(rng.choice(_lists("prose")[invoice.locale.language]))
    names = [name for _, name, _, _ in Formatter().parse(template) if name]
    makers = _makers(rng, invoice)
    parts: list[str | Piece] = []
    rest = template
    for name in names:
        before, rest = rest.split("{" + name + "}", 1)
        parts += [before, makers[name]()]
    return row(*parts, rest)


def wrapped(text_rows: Block, rng: Random) -> Block:
    """The rows run together and broken into lines of one width, also within entities, as in a printed letter."""
    line = _run_on(text_rows)
    width = rng.randint(55, 110)
    pieces: list[Piece] = []
    column = 0
    for piece in line:
        words = piece.text.split(" ")
        for number, word in enumerate(words):
            if number:
                words[number] = ("\n" if column + len(word) + 1 > width else " ") + word
                column = len(word) if words[number][0] == "\n" else column + len(word) + 1
            else:
                column += len(word)
        pieces.append(Piece("".join(words), piece.label))
    return [tuple(pieces)]


def _run_on(rows: Block) -> Row:
    pieces: list[Piece] = []
    for number, line in enumerate(rows):
        pieces += ([Piece(" ")] if number else []) + list(line)
    return tuple(pieces)


def _makers(rng: Random, invoice: Invoice) -> dict[str, Callable[[], Piece | str]]:
    locale, style = invoice.locale, invoice.style
    fake = faker_for(rng, locale)

    def money() -> str:
        return figures.money_text(style, figures.rounded(invoice.total * rng.randint(1, 400) / 100))

    def day() -> str:
        return figures.day_text(style, figures.some_day(rng))

    return {
        "invoice_id": lambda: Piece(invoice.number, "INVOICE_ID"),
        "invoice_date": lambda: Piece(figures.day_text(style, invoice.issued), "INVOICE_DATE"),
        "due": lambda: Piece(figures.day_text(style, invoice.due), "DUE_DATE"),
        "total": lambda: Piece(figures.money_text(style, invoice.total), "TOTAL_AMOUNT"),
        "tax": lambda: Piece(figures.money_text(style, invoice.tax), "TAX_AMOUNT"),
        "supplier": lambda: Piece(invoice.supplier.name, "SUPPLIER_NAME"),
        "receiver": lambda: Piece(invoice.receiver.name, "RECEIVER_NAME"),
        "order": lambda: Piece(invoice.order, "PURCHASE_ORDER"),
        "tax_id": lambda: Piece(invoice.supplier.tax_id, "TAX_ID"),
        "iban": lambda: Piece(invoice.supplier.iban, "IBAN"),
        "bic": lambda: Piece(invoice.supplier.bic, "BIC"),
        "person": lambda: Piece(people.person(rng, locale), "PERSON"),
        "first": lambda: Piece(fake.first_name(), "PERSON"),
        "last": lambda: Piece(fake.last_name(), "PERSON"),
        "courtesy": lambda: people.courtesy(rng, locale),
        "email": lambda: Piece(people.email(rng, invoice.supplier.contact, invoice.supplier.name), "EMAIL"),
        "phone": lambda: Piece(people.phone(rng, locale), "PHONE"),
        "url": lambda: Piece(people.url(rng, invoice.supplier.name), "URL"),
        "organization": lambda: Piece(people.company(rng, locale), "ORGANIZATION"),
        "employer": lambda: Piece(people.company(rng, locale), "EMPLOYER"),
        "party": lambda: Piece(people.company(rng, locale), "PARTY"),
        "law": lambda: Piece(jurisdiction(rng, locale), "GOVERNING_LAW"),
        "effective": lambda: Piece(day(), "EFFECTIVE_DATE"),
        "date": lambda: Piece(day() if rng.random() < 0.8 else str(rng.randint(1990, 2030)), "DATE"),
        "city": lambda: Piece(places.home_city(rng, locale), "LOCATION"),
        "country": lambda: Piece(places.country(rng, locale), "LOCATION"),
        "address": lambda: Piece(places.one_line_address(rng, locale).replace("\n", " "), "ADDRESS"),
        "money": lambda: Piece(money(), "MONEY"),
        "percent": lambda: Piece(figures.percent_text(rng, style, invoice.rate), "PERCENT"),
        "weight": lambda: Piece(f"{rng.randint(1, 90)} kg", "QUANTITY"),
        "quantity_item": lambda: Piece(str(rng.randint(2, 90)), "QUANTITY"),
        "item": lambda: Piece(product(rng, style, "").strip().lower(), "COMMERCIAL_ITEM"),
        "id_number": lambda: Piece(identifiers.free_number(rng), "ID_NUMBER"),
        "job": lambda: Piece(people.job_title(rng, locale), "JOB_TITLE"),
        "language": lambda: Piece(language_name(rng, locale), "LANGUAGE"),
        "skill": lambda: Piece(skill(rng, locale), "SKILL"),
        "school": lambda: Piece(school(rng, locale), "SCHOOL"),
        "degree": lambda: Piece(degree(rng, locale), "DEGREE"),
        "field": lambda: say(rng, locale, "resume", "fields"),
    }


_STATES = (
    "New York|Delaware|California|Texas|Nevada|Illinois|England and Wales|England|Scotland|"
    "Ontario|Singapore|India|Massachusetts|Florida|Ohio|Washington|Ireland|Hong Kong|Ontario, Canada"
).split("|")


def jurisdiction(rng: Random, locale: Locale) -> str:
    """The jurisdiction of a contract: the name of a state or country."""
    return rng.choice(_STATES) if locale.language == "en" else places.country(rng, locale)


@cache
def _lists(name: str) -> dict[str, list[str]]:
    return tomllib.loads((_PHRASES / f"{name}.toml").read_text(encoding="utf-8"))
