"""Letters and e-mails: senders, dates, salutations, bodies of sentences, signatures."""

from random import Random

from model_store.builtin.training.generator import figures, people, places
from model_store.builtin.training.generator.canvas import Block, Piece, Row, row
from model_store.builtin.training.generator.invoice_facts import new_invoice
from model_store.builtin.training.generator.locales import (
    Locale,
    choose_locale,
    faker_for,
    neighbour,
    phrases,
)
from model_store.builtin.training.generator.parties import Party, joined, name_and_address, new_party, one_line
from model_store.builtin.training.generator.sentences import filler, sentence, wrapped


def letter_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a letter between companies and people."""
    locale = choose_locale(rng)
    sender = new_party(rng, locale, document_locale=locale, person_share=0.5)
    receiver = new_party(rng, neighbour(rng, locale), document_locale=locale, person_share=0.3)
    style = figures.choose_style(rng, locale)
    kind = rng.randrange(5)
    day = row(
        rng.choice(("", f"{places.home_city(rng, locale)}, ")),
        Piece(figures.day_text(style, figures.some_day(rng)), "DATE"),
    )
    rows = [*_letter_head(rng, sender, kind, day), *_party(rng, receiver)]
    if kind in {0, 2, 4}:
        rows.insert(rng.randint(0, len(rows)), day)
    rows.append(_salutation(rng, locale, receiver))
    rows += _body(rng, locale)
    rows.append(row(rng.choice(phrases("letter")[locale.language]["greetings"][4:])))
    rows.append(row(Piece(sender.contact, "PERSON")))
    if rng.random() < 0.4:
        rows.append(row(Piece(people.job_title(rng, locale), "JOB_TITLE")))
    return f"letter/{kind}", rows


def _letter_head(rng: Random, sender: Party, kind: int, day: Row) -> Block:
    label = "PERSON" if sender.name == sender.contact else "ORGANIZATION"
    contacts = [row(Piece(sender.phone, "PHONE")), row(Piece(sender.email, "EMAIL")), row(Piece(sender.web, "URL"))]
    match kind:
        case 0:
            return one_line(rng, sender, label=label)
        case 1:
            return [row(Piece(sender.name, label)), *joined(rng, contacts), day]
        case 2:
            return [*name_and_address(rng, sender, label=label), *contacts[: rng.randint(0, 3)]]
        case 3:
            return [
                row("From: ", Piece(sender.contact, "PERSON"), " <", Piece(sender.email, "EMAIL"), ">"),
                row("Date: ", *day),
            ]
    return []


def _party(rng: Random, party: Party) -> Block:
    return (
        name_and_address(rng, party, label="PERSON" if party.name == party.contact else "ORGANIZATION")
        if rng.random() < 0.7
        else []
    )


def _salutation(rng: Random, locale: Locale, receiver: Party) -> Row:
    words = phrases("letter")[locale.language]["greetings"]
    if rng.random() < 0.3:
        return row(words[3], ",")
    before, after = rng.choice(words[:3]).split("{}")
    name = faker_for(rng, receiver.locale).last_name() if rng.random() < 0.6 else receiver.contact
    title = people.courtesy(rng, locale) + " " if rng.random() < 0.6 else ""
    return row(before, title, Piece(name, "PERSON"), after, rng.choice((",", "", " ,", ":")))


def _body(rng: Random, locale: Locale) -> Block:
    invoice = new_invoice(rng, locale)
    rows = [
        row(filler(rng, locale)) if rng.random() < 0.55 else sentence(rng, invoice) for _ in range(rng.randint(1, 6))
    ]
    return wrapped(rows, rng) if rng.random() < 0.6 else rows
