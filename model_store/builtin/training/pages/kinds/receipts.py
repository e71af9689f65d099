"""Receipts of tills: a shop, few words, narrow lines, what was given and what came back."""

from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, names, parties, tables
from model_store.builtin.training.pages.facts import Position, Trade, new_trade
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import (
    EMPTY,
    Block,
    Box,
    Piece,
    Row,
    grid,
    indented,
    lines,
    row,
    side_by_side,
    stack,
)

AXES: Final[Axes] = {
    "shop": ("above", "centred", "one_line", "below", "with_contacts"),
    "data": (*blocks.WAYS, "bare"),
    "items": ("one_line", "two_lines", "columns", "quantity_first", "amounts_apart"),
    "sums": tables.SUMS,
    "paid": ("cash", "card", "unsaid"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def receipt(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    trade = new_trade(rng, lexicon, most=12)
    shop = _shop(rng, trade, template["shop"])
    title = lines([row(lexicon.say(rng, "receipt"))]) if rng.random() < 0.6 else EMPTY
    boxes = [
        title,
        _data(rng, trade, template["data"]),
        _items(rng, trade, template["items"]),
        tables.sums(rng, template["sums"], trade),
        _paid(rng, trade, template["paid"]),
    ]
    boxes.insert(len(boxes) if template["shop"] == "below" else 0, shop)
    if rng.random() < 0.5:
        boxes.append(lines([row(lexicon.say(rng, "thanks"))]))
    return blocks.with_headers_footers(rng, template["headers_footers"], lexicon, boxes)


def _shop(rng: Random, trade: Trade, how: str) -> Box:
    party = trade.supplier
    address = Piece(rng.choice(("\n", ", ")).join(party.address), "ADDRESS")
    match how:
        case "one_line":
            return parties.sender_line(rng, party, "SUPPLIER_NAME")
        case "with_contacts":
            return lines(parties.block(rng, party, "SUPPLIER_NAME", contacts=3))
        case "centred":
            return stack(indented(lines([row(party.entity("SUPPLIER_NAME"))]), 8), indented(lines([row(address)]), 5))
    return lines([row(party.entity("SUPPLIER_NAME")), row(address)])


def _data(rng: Random, trade: Trade, how: str) -> Box:
    """Number, date and time, till and cashier; `bare`: date and time without words."""
    say = trade.lexicon.say
    day = Piece(trade.style.day(trade.issued), "INVOICE_DATE")
    clock = f"{rng.randint(7, 22)}:{rng.randint(0, 59):02}"
    if how == "bare":
        number: Row = row(Piece(trade.number, "INVOICE_ID"))
        return lines([row(day, " ", clock), *([number] if rng.random() < 0.5 else [])])
    found: list[blocks.Pair] = [
        (say(rng, "number"), row(Piece(trade.number, "INVOICE_ID"))),
        (say(rng, "date"), row(day, rng.choice(("", f" {clock}")))),
    ]
    if rng.random() < 0.5:
        found.append((say(rng, "cashier"), row(Piece(trade.supplier.contact, "PERSON"))))
    if rng.random() < 0.4:
        found.append((say(rng, "tax_id"), row(Piece(trade.supplier.tax_id, "TAX_ID"))))
    rng.shuffle(found)
    return blocks.arranged(rng, how, found)


def _items(rng: Random, trade: Trade, how: str) -> Box:
    rows = [_parts(trade, position) for position in trade.positions]
    match how:
        case "one_line":
            return lines([row(name, " ", amount) for name, _, _, amount in rows])
        case "two_lines":
            return lines(
                [
                    line
                    for name, count, price, amount in rows
                    for line in (row(name), row(count, rng.choice((" x ", " @ ", " × ")), price, "  ", amount))
                ]
            )
        case "amounts_apart":
            named: Block = [row(name) for name, _, _, _ in rows]
            return side_by_side(lines(named), lines([row(amount) for *_, amount in rows]), gap=5)
        case "quantity_first":
            return lines([row(count, rng.choice((" ", "x ")), name, "  ", amount) for name, count, _, amount in rows])
    cells = [[row(name), row(count), row(amount)] for name, count, _, amount in rows]
    return grid(cells, gap=3, right=frozenset({1, 2}))


def _parts(trade: Trade, position: Position) -> tuple[Piece, Piece, Piece, Piece]:
    style = trade.style
    return (
        Piece(position.name, "LINE_ITEM"),
        Piece(style.number(position.quantity), "QUANTITY"),
        Piece(style.money(position.price, in_table=True), "MONEY"),
        Piece(style.money(position.amount, in_table=True), "MONEY"),
    )


def _paid(rng: Random, trade: Trade, how: str) -> Box:
    """The payment: by card, or in cash with the change, so that the rows agree."""
    say, style = trade.lexicon.say, trade.style
    if how == "unsaid":
        return EMPTY
    if how == "card":
        card = f"{'*' * rng.choice((4, 8, 12))}{names.numbered(rng, '####')}"
        return lines([row(say(rng, "card"), " ", Piece(style.money(trade.total), "MONEY")), row(card)])
    given = trade.total + Decimal(rng.choice((0, 1, 5, 20)))
    rows = [
        (say(rng, "cash"), row(Piece(style.money(given), "MONEY"))),
        (say(rng, "change"), row(Piece(style.money(given - trade.total), "MONEY"))),
    ]
    return blocks.arranged(rng, rng.choice(("colon", "columns", "apart")), rows)
