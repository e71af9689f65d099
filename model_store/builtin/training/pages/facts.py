"""The facts of a document before any layout: parties with their numbers, positions, and sums that add up."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from importlib import import_module
from random import Random
from typing import Final

from model_store.builtin.training.pages import identifiers, names
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import Piece
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

_RATES: Final = {
    "US": (8, 6),
    "GB": (20, 5),
    "DE": (19, 7),
    "FR": (20, 10),
    "ES": (21, 10),
    "IT": (22, 10),
    "NL": (21, 9),
    "PT": (23, 6),
    "BR": (17, 12),
    "JP": (10, 8),
    "CN": (13, 6),
    "KR": (10,),
    "SA": (15,),
    "IN": (18, 12, 5),
    "PL": (23, 8),
    "RU": (20, 10),
    "TR": (20, 10),
    "SE": (25, 12),
    "DK": (25,),
    "FI": (24, 14),
    "CZ": (21, 12),
    "RO": (19, 9),
    "MX": (16, 8),
    "AT": (20, 10),
    "CH": ("8.1", "2.6"),
    "BE": (21, 6),
}
"""Country → tax rates in percent."""
_TAX_NUMBERS: Final = {
    "DE": ("de.vat|DE{}|%########", "de.vat|DE {}|%########", "|{}|%##/%##/%####", "|{}|%#/%##/%####"),
    "AT": ("at.uid|AT{}|U%#######",),
    "FR": ("fr.siren|FR{key:02}{}|%########", "fr.siren|FR {key:02} {}|%########"),
    "ES": ("es.cif|{}|A%#######", "es.cif|ES{}|B%#######", "es.cif|{}|B%#######"),
    "IT": ("it.iva|{}|%######0###", "it.iva|IT{}|%######0###"),
    "NL": ("nl.btw|NL{}|%########B##",),
    "PT": ("pt.nif|{}|%########", "pt.nif|PT{}|%########"),
    "BR": ("br.cnpj|{}|%#.###.###/0001-##",),
    "GB": ("|GB{}|%########", "|GB {}|%## #### ##"),
    "US": ("|{}|%#-%######",),
    "CH": ("|CHE-{} MWST|%##.%##.%##",),
    "BE": ("|BE 0{}|%##.%##.%##",),
    "SA": ("|{}|3########%####3",),
    "PL": ("pl.nip|{}|%#########", "pl.nip|PL{}|%#########"),
    "RU": ("ru.inn|{}|%#########", "ru.inn|{}|%###########"),
    "TR": ("tr.vkn|{}|%#########",),
    "SE": ("se.vat|SE{}|%#########01",),
    "DK": ("dk.cvr|{}|%#######", "dk.cvr|DK{}|%#######"),
    "FI": ("fi.alv|FI{}|%#######",),
    "CZ": ("cz.dic|CZ{}|%#######",),
    "RO": ("ro.cui|RO{}|%#######", "ro.cui|{}|%#######", "ro.cui|RO {}|%#######"),
    "JP": ("jp.cn|T{}|%############",),
    "KR": ("kr.brn|{}|%##-%#-#####",),
    "IN": ("in_.gstin|{}|27@@@@@####@1Z#", "in_.gstin|{}|29@@@@@####@1Z@"),
    "CN": ("cn.uscc|{}|9144####%#########",),
}
"""Country → its forms: module of python-stdnum, how the number is written, and the shape drawn until it is valid."""
_WITHOUT_IBAN: Final = frozenset({"US", "JP", "CN", "KR", "IN", "RU", "BR"})


@dataclass(frozen=True, slots=True)
class Party:
    """A company or a person with all that a document may say of it."""

    lexicon: Lexicon
    name: str
    is_person: bool
    contact: str
    address: tuple[str, ...]
    country: str
    phone: str
    email: str
    url: str
    tax_id: str
    register: str
    bank: str
    bic: str
    account: Piece

    def entity(self, label: str) -> Piece:
        return Piece(self.name, label)

    @property
    def generic_label(self) -> str:
        return "PERSON" if self.is_person else "ORGANIZATION"


@dataclass(frozen=True, slots=True)
class Position:
    """One position; `amount` is quantity times price."""

    name: str
    code: str
    quantity: int
    unit: str
    price: Decimal
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Trade:
    """A sale: `net` is the sum of the positions less the discount plus shipping, `total` is net and tax."""

    lexicon: Lexicon
    style: WritingStyle
    supplier: Party
    receiver: Party
    number: str
    order: str
    customer: str
    issued: date
    due: date
    delivered: date
    positions: tuple[Position, ...]
    rate: Decimal
    net: Decimal
    tax: Decimal
    total: Decimal


def new_party(rng: Random, lexicon: Lexicon, *, person_share: float = 0.0) -> Party:
    """A party of the lexicon's country; a person with the given chance."""
    contact = names.full_name(rng, lexicon)
    is_person = rng.random() < person_share
    name = contact if is_person else names.company(rng, lexicon)
    return Party(
        lexicon=lexicon,
        name=name,
        is_person=is_person,
        contact=contact,
        address=names.address(rng, lexicon),
        country=lexicon.countries[lexicon.locale.country],
        phone=names.phone(rng, lexicon),
        email=names.email(rng, contact, name),
        url=names.url(rng, name),
        tax_id=tax_number(rng, lexicon.locale.country),
        register=identifiers.digits(rng, rng.randint(5, 8)),
        bank=lexicon.say(rng, "banks").format(city=lexicon.say(rng, "cities")),
        bic=identifiers.bic(rng, lexicon.locale.country),
        account=bank_account(rng, lexicon),
    )


def bank_account(rng: Random, lexicon: Lexicon) -> Piece:
    """An IBAN; an account number where the country has none."""
    if lexicon.locale.country in _WITHOUT_IBAN:
        shape = rng.choice(("%######", "%#########", "%### #### ####", "###-%######-%#"))
        return Piece(names.numbered(rng, shape), "ID_NUMBER")
    return Piece(identifiers.iban(rng, lexicon.locale.country), "IBAN")


def tax_number(rng: Random, country: str) -> str:
    """A tax number whose check digits are right, where the country has them."""
    module, written, shape = rng.choice(_TAX_NUMBERS.get(country, (f"|{country}{{}}|%########",))).split("|")
    number = names.numbered(rng, shape)
    while module and not _checker(module)(number):
        number = names.numbered(rng, shape)
    key = (12 + 3 * (int(number) % 97)) % 97 if country == "FR" else 0
    return written.format(number, key=key)


@cache
def _checker(module: str) -> Callable[[str], bool]:
    checker: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return checker


def new_trade(rng: Random, lexicon: Lexicon, *, sign: int = 1, most: int = 8) -> Trade:
    """Consistent facts of one sale; a credit note's have the sign -1."""
    style = choose_style(rng, lexicon)
    issued = some_day(rng)
    positions = tuple(_position(rng, lexicon, style, sign) for _ in range(rng.choice((1, 1, 2, 3, 4, most))))
    net = sum((position.amount for position in positions), Decimal(0))
    rate = Decimal(rng.choice(_RATES[lexicon.locale.country]))
    tax = style.rounded(net * rate / 100)
    return Trade(
        lexicon=lexicon,
        style=style,
        supplier=new_party(rng, lexicon, person_share=0.15),
        receiver=new_party(rng, lexicon, person_share=0.35),
        number=identifiers.document_number(rng, year=issued.year),
        order=identifiers.document_number(rng, year=issued.year, prefixes=("PO", "B", "O", "4500", "ORD")),
        customer=names.number_of(rng),
        issued=issued,
        due=issued + timedelta(days=rng.choice((7, 14, 30, 30, 60))),
        delivered=issued - timedelta(days=rng.randint(0, 30)),
        positions=positions,
        rate=rate,
        net=net,
        tax=tax,
        total=net + tax,
    )


def _position(rng: Random, lexicon: Lexicon, style: WritingStyle, sign: int) -> Position:
    quantity = rng.choice((1, 1, 2, 3, 5, 10, 12, 40))
    price = Decimal(rng.choice((rng.randint(50, 9999), rng.randint(1, 400) * 100))) / 100
    if style.decimals == 0:
        price = Decimal(int(price * 100) * 10)
    return Position(
        lexicon.say(rng, "products"),
        identifiers.article_number(rng),
        quantity,
        lexicon.say(rng, "units"),
        price,
        price * quantity * sign,
    )
