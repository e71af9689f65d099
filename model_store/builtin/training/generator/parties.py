"""A party of a document: a company or a person with address and contact details, and the blocks that present it."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from model_store.builtin.training.generator import people, places
from model_store.builtin.training.generator.canvas import Block, Piece, row
from model_store.builtin.training.generator.identifiers import bic, digits, iban, tax_id
from model_store.builtin.training.generator.locales import Locale, say


@dataclass(frozen=True, slots=True)
class Party:
    """A company or person that sells, buys, writes or signs."""

    locale: Locale
    name: str
    contact: str
    address: tuple[str, ...]
    country: str
    phone: str
    email: str
    web: str
    tax_id: str
    iban: str
    bic: str
    bank: str


def new_party(rng: Random, locale: Locale, *, document_locale: Locale, person_share: float = 0.0) -> Party:
    """A party of the locale; a private person with the given chance."""
    contact = people.person(rng, locale)
    name = contact if rng.random() < person_share else people.company(rng, locale)
    return Party(
        locale=locale,
        name=name,
        contact=contact,
        address=tuple(places.address_lines(rng, locale)),
        country=places.home_country(locale, language_of=document_locale),
        phone=people.phone(rng, locale),
        email=people.email(rng, contact, name),
        web=people.url(rng, name),
        tax_id=tax_id(rng, locale),
        iban=iban(rng, locale),
        bic=bic(rng, locale),
        bank=_bank(rng, locale),
    )


def name_and_address(rng: Random, party: Party, *, label: str, contact_share: float = 0.3) -> Block:
    """Name, at times a contact person, address lines as one entity, at times the country."""
    block: Block = [row(Piece(party.name, label))]
    if party.contact != party.name and rng.random() < contact_share:
        title = rng.choice(("", "", people.courtesy(rng, party.locale) + " "))
        block.insert(rng.choice((0, 1, 1, 1)), row(title, Piece(party.contact, "PERSON")))
    block.append(row(Piece("\n".join(party.address), "ADDRESS")))
    if rng.random() < 0.3:
        country = party.country if rng.random() < 0.7 else party.country.upper()
        block.append(row(Piece(country, "LOCATION")))
    return block


def one_line(rng: Random, party: Party, *, label: str) -> Block:
    """The party on one line, as above the window of an envelope."""
    separator = rng.choice((" - ", " · ", ", ", " | ", " • "))
    address = Piece(rng.choice((", ", separator)).join(party.address).replace("\n", " "), "ADDRESS")
    tail = (separator, Piece(party.country, "LOCATION")) if rng.random() < 0.2 else ()
    return [row(Piece(party.name, label), separator, address, *tail)]


def contact_rows(rng: Random, party: Party, *, document_locale: Locale, most: int = 5) -> Block:
    """Some of phone, e-mail, web, tax number, register: each with its word or without, one a row or in a line."""

    def word(key: str) -> str:
        if rng.random() < 0.2:
            return ""
        return say(rng, document_locale, "invoice", key) + rng.choice((": ", ": ", " ", ":", " : "))

    choices = [
        row(word("phone"), Piece(party.phone, "PHONE")),
        row(word("email"), Piece(party.email, "EMAIL")),
        row(word("web"), Piece(party.web, "URL")),
        row(
            say(rng, document_locale, "invoice", "vat"),
            rng.choice((": ", " ", " : ", ".: ")),
            Piece(party.tax_id, "TAX_ID"),
        ),
        row(say(rng, document_locale, "invoice", "fax"), ": ", Piece(people.phone(rng, party.locale), "PHONE")),
        row(
            say(rng, document_locale, "invoice", "register"),
            rng.choice((" ", ": ")),
            Piece(digits(rng, rng.randint(5, 9)), "ID_NUMBER"),
        ),
    ]
    chosen = rng.sample(choices[: 6 if most > 3 else 3], rng.randint(1, most))
    return joined(rng, chosen) if rng.random() < 0.3 else chosen


def bank_rows(rng: Random, party: Party, *, document_locale: Locale) -> Block:
    """IBAN, mostly a BIC, at times the bank and the holder, on rows or in one line."""

    def word(key: str) -> str:
        return say(rng, document_locale, "invoice", key) + rng.choice((": ", " ", " : ", ":"))

    rows = [row(word("iban"), Piece(party.iban, "IBAN"))]
    if rng.random() < 0.8:
        rows.append(row(word("bic"), Piece(party.bic, "BIC")))
    if rng.random() < 0.5:
        rows.insert(rng.choice((0, len(rows))), row(word("bank"), Piece(party.bank, "ORGANIZATION")))
    if rng.random() < 0.15:
        rows.insert(0, row(Piece(party.name, "SUPPLIER_NAME")))
    return joined(rng, rows) if rng.random() < 0.4 else rows


def joined(rng: Random, rows: Sequence[tuple[Piece, ...]]) -> Block:
    """Several rows on one line."""
    separator = rng.choice((" - ", " | ", "  ", ", ", " · ", " / ", "; "))
    pieces: list[Piece] = []
    for number, line in enumerate(rows):
        pieces.extend((*((Piece(separator),) if number else ()), *line))
    return [tuple(pieces)]


def _bank(rng: Random, locale: Locale) -> str:
    town = places.home_city(rng, locale)
    return rng.choice(
        {
            "de": (f"Sparkasse {town}", f"Volksbank {town} eG", "Deutsche Bank AG", "Commerzbank", f"Hausbank {town}"),
            "fr": (f"Crédit Agricole {town}", "BNP Paribas", "Société Générale", "La Banque Postale"),
            "es": ("BBVA", "Banco Santander", "CaixaBank", f"Caja Rural de {town}"),
            "it": ("Intesa Sanpaolo", "UniCredit", f"Banca Popolare di {town}", f"BCC {town}"),
            "nl": ("ING Bank", "Rabobank", "ABN AMRO"),
            "pt": ("Caixa Geral de Depósitos", "Banco do Brasil", "Millennium BCP", "Itaú"),
        }.get(
            locale.language,
            ("HSBC", "Barclays Bank", "Wells Fargo", f"First Bank of {town}", "Citibank N.A.", "Lloyds Bank"),
        )
    )
