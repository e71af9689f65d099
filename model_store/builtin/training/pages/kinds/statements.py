"""Statements of accounts: each booking's balance is the one before and its amount."""

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, names, parties
from model_store.builtin.training.pages.blocks import joined
from model_store.builtin.training.pages.facts import Party, new_party
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Box, Piece, Row, grid, lines, row, side_by_side, stack
from model_store.builtin.training.pages.writing import WritingStyle, choose_style, some_day

AXES: Final[Axes] = {
    "bank": ("head", "sender_line", "foot", "title_only"),
    "holder": ("block", "keyed", "beside"),
    "data": blocks.WAYS,
    "bookings": ("balance", "amounts", "ragged", "two_dates", "debit_credit", "by_columns"),
    "balances": ("rows", "pairs", "both_at_end"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


@dataclass(frozen=True, slots=True)
class Booking:
    """One movement, and the balance after it."""

    day: date
    words: Row
    amount: Decimal
    balance: Decimal


def statement(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    style = choose_style(rng, lexicon)
    bank, holder = new_party(rng, lexicon), new_party(rng, lexicon, person_share=0.7)
    bank_name = Piece(bank.bank, "ORGANIZATION")
    opening = style.rounded(Decimal(rng.randint(-20_000, 900_000)) / 100)
    bookings = _bookings(rng, style, opening)
    top, foot = _parties(rng, template, bank, holder)
    title = row(lexicon.say(rng, "statement"), *((" – ", bank_name) if template["bank"] == "title_only" else ()))
    data = _data(rng, style, template, holder, bookings)
    table = _table(rng, style, template["bookings"], bookings)
    before, after = _balances(rng, style, template["balances"], opening, bookings[-1].balance)
    boxes = [top, lines([title]), data, before, table, after, foot]
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, boxes)


def _bookings(rng: Random, style: WritingStyle, opening: Decimal) -> list[Booking]:
    day, balance, found = some_day(rng), opening, list[Booking]()
    for _ in range(rng.randint(2, 9)):
        day += timedelta(days=rng.randint(0, 6))
        amount = style.rounded(Decimal(rng.randint(-60_000, 40_000) or 1) / 100)
        balance += amount
        found.append(Booking(day, _words(rng, style.lexicon), amount, balance))
    return found


def _words(rng: Random, lexicon: Lexicon) -> Row:
    """The purpose of a booking: a word, at times with a party."""
    word = lexicon.say(rng, "bookings")
    match rng.randrange(4):
        case 0:
            return row(word)
        case 1:
            return row(word, " ", Piece(names.full_name(rng, lexicon), "PERSON"))
        case 2:
            return row(word, " ", Piece(names.company(rng, lexicon), "ORGANIZATION"))
    return row(word, " ", Piece(names.number_of(rng), "ID_NUMBER"))


def _parties(rng: Random, template: Template, bank: Party, holder: Party) -> tuple[Box, Box]:
    """(Top, foot). The bank has the address and contacts of its party, under the bank's own name."""
    own = Piece(bank.bank, "ORGANIZATION")
    address = Piece(", ".join(bank.address), "ADDRESS")
    contacts = parties.reached(rng, bank)[:2]
    receiver = EMPTY
    if template["holder"] != "keyed":
        receiver = lines(parties.block(rng, holder, holder.generic_label))
    match template["bank"]:
        case "head":
            head = lines([row(own), row(address), *contacts])
        case "sender_line":
            head = lines([row(own, rng.choice((" · ", ", ", " - ", " | ")), address)])
        case _:
            head = EMPTY
    foot = lines([row(own, ", ", address), joined(contacts, " | ")]) if template["bank"] == "foot" else EMPTY
    both = side_by_side(receiver, head, at=40) if template["holder"] == "beside" else stack(head, receiver, gap=1)
    return both, foot


def _data(rng: Random, style: WritingStyle, template: Template, holder: Party, bookings: list[Booking]) -> Box:
    say = style.lexicon.say
    first, last = (Piece(style.day(booking.day), "DATE") for booking in (bookings[0], bookings[-1]))
    found: list[blocks.Pair] = [
        (say(rng, "iban" if holder.account.label == "IBAN" else "account"), row(holder.account)),
        (say(rng, "period"), row(first, rng.choice((" - ", " – ", "-")), last)),
    ]
    if template["holder"] == "keyed":
        found.append((say(rng, "holder"), row(holder.entity(holder.generic_label))))
    if rng.random() < 0.5:
        found.append((say(rng, "customer"), row(Piece(names.number_of(rng), "ID_NUMBER"))))
    if rng.random() < 0.4:
        found.append((say(rng, "bic"), row(Piece(holder.bic, "BIC"))))
    rng.shuffle(found)
    return blocks.arranged(rng, template["data"], found)


def _table(rng: Random, style: WritingStyle, how: str, bookings: list[Booking]) -> Box:
    say = style.lexicon.say
    rows = [_cells(style, how, booking) for booking in bookings]
    if how == "ragged":
        return lines([joined(cells, rng.choice((" ", "  "))) for cells in rows])
    words = {"balance": ("date", "booking", "amount", "balance"), "two_dates": ("date", "date", "booking", "amount")}
    keys = words.get(how, ("date", "booking", "amount"))
    header = [[row(say(rng, key)) for key in keys]] if how != "debit_credit" and rng.random() < 0.8 else []
    right = frozenset(range(len(rows[0]) - (1 if how != "balance" else 2), len(rows[0])))
    return grid([*header, *rows], gap=rng.choice((2, 4)), right=right, by_columns=how == "by_columns")


def _cells(style: WritingStyle, how: str, booking: Booking) -> list[Row]:
    day, amount = row(Piece(style.day(booking.day), "DATE")), row(_sum(style, booking.amount))
    match how:
        case "balance":
            return [day, booking.words, amount, row(_sum(style, booking.balance))]
        case "two_dates":
            return [day, row(Piece(style.day(booking.day + timedelta(days=1)), "DATE")), booking.words, amount]
        case "debit_credit":
            bare = row(_sum(style, abs(booking.amount)))
            return [day, booking.words, *((bare, row("")) if booking.amount < 0 else (row(""), bare))]
    return [day, booking.words, amount]


def _balances(rng: Random, style: WritingStyle, how: str, opening: Decimal, closing: Decimal) -> tuple[Box, Box]:
    """(Before the table, after it)."""
    say = style.lexicon.say
    old: blocks.Pair = (say(rng, "opening"), row(_sum(style, opening)))
    new: blocks.Pair = (say(rng, "closing"), row(_sum(style, closing)))
    if how == "both_at_end":
        return EMPTY, blocks.arranged(rng, "columns", [old, new])
    way = "colon" if how == "pairs" else "columns"
    return blocks.arranged(rng, way, [old]), blocks.arranged(rng, way, [new])


def _sum(style: WritingStyle, value: Decimal) -> Piece:
    return Piece(style.money(value, in_table=True), "MONEY")
