"""Layouts of parties on a page: blocks, letterheads, sender lines, feet with bank details, with keywords or without."""

from random import Random
from typing import Final

from model_store.builtin.training.pages.blocks import Pair, joined
from model_store.builtin.training.pages.facts import Party
from model_store.builtin.training.pages.sheet import (
    EMPTY,
    Block,
    Box,
    Piece,
    Row,
    indented,
    lines,
    row,
    side_by_side,
    stack,
)

ARRANGEMENTS: Final = (
    *("supplier_first", "receiver_first", "supplier_left", "receiver_left", "letterhead", "window", "foot", "bare"),
    *("bare_beside", "pairs"),
)
"""Arrangements of two parties. `window`: the sender's line above the address (DIN 5008); `foot`: the supplier is named
in the foot alone; `bare`: no keyword says who is who."""


def block(rng: Random, party: Party, label: str, *, contacts: int = 0, heading: str = "") -> Block:
    """Name, address, at times a contact, the country, and some means to reach them."""
    rows: Block = [row(heading + rng.choice(("", ":")))] if heading else []
    if heading and rng.random() < 0.25:
        rows = [row(heading, ": ", party.entity(label))]
    else:
        rows.append(row(party.entity(label)))
    if not party.is_person and rng.random() < 0.25:
        title = rng.choice(("", party.lexicon.say(rng, "courtesy") + " "))
        rows.append(row(title, Piece(party.contact, "PERSON")))
    rows.append(row(Piece("\n".join(party.address), "ADDRESS")))
    if rng.random() < 0.25:
        rows.append(row(Piece(party.country, "LOCATION")))
    return rows + reached(rng, party)[:contacts]


def reached(rng: Random, party: Party) -> Block:
    """Phone, e-mail, web, tax and register number, in any order, with their words or, where that is clear, without."""
    rows = [
        _said(rng, party, "phone", Piece(party.phone, "PHONE")),
        _said(rng, party, "email", Piece(party.email, "EMAIL"), bare=0.4),
        _said(rng, party, "web", Piece(party.url, "URL"), bare=0.5),
        _said(rng, party, "tax_id", Piece(party.tax_id, "TAX_ID")),
        _said(rng, party, "register", Piece(party.register, "ID_NUMBER")),
    ]
    rng.shuffle(rows)
    return rows


def banked(rng: Random, party: Party) -> Block:
    """The bank, its BIC and the account."""
    key = "iban" if party.account.label == "IBAN" else "account"
    rows = [_said(rng, party, key, party.account)]
    if rng.random() < 0.6:
        rows.append(_said(rng, party, "bic", Piece(party.bic, "BIC")))
    if rng.random() < 0.6:
        rows.insert(0, _said(rng, party, "bank", Piece(party.bank, "ORGANIZATION"), bare=0.4))
    return rows


def sender_line(rng: Random, party: Party, label: str) -> Box:
    """Name and address on one line, as above the window of an envelope."""
    separator = rng.choice((" · ", " - ", ", ", " | ", " • ", " "))
    address = Piece(rng.choice((", ", separator)).join(party.address), "ADDRESS")
    return lines([row(party.entity(label), separator, address)])


def head(rng: Random, party: Party, label: str) -> Box:
    """A letter head: the name, then the rest in one or two lines, at times far to the right."""
    address = Piece(rng.choice((", ", " · ", " - ")).join(party.address), "ADDRESS")
    rows = [row(party.entity(label)), row(address)]
    if rng.random() < 0.7:
        rows.append(joined(reached(rng, party)[: rng.randint(1, 3)], rng.choice((" | ", " · ", ", ", "  "))))
    return indented(lines(rows), rng.choice((0, 0, 14, 40)))


def foot(rng: Random, party: Party, label: str) -> Box:
    """A foot in two or three columns (name and address, contacts, bank), or in lines."""
    own = [row(party.entity(label)), row(Piece("\n".join(party.address), "ADDRESS"))]
    columns = [own, reached(rng, party)[:3], banked(rng, party)]
    if rng.random() < 0.2:
        rng.shuffle(columns)
    if rng.random() < 0.35:
        separator = rng.choice((" | ", " · ", " - "))
        one_line = row(party.entity(label), separator, Piece(", ".join(party.address), "ADDRESS"))
        return lines([one_line, *(joined(column, separator) for column in columns[1:] if column is not own)])
    return side_by_side(*map(lines, columns), gap=4)


def two_parties(rng: Random, how: str, first: Party, second: Party, *, labels: tuple[str, str]) -> tuple[Box, Box]:
    """The boxes at the top and at the foot of the page; `first` is the supplier."""
    say = first.lexicon.say
    ours, theirs = say(rng, "supplier"), say(rng, "receiver")
    contacts = rng.randint(0, 4)
    foot_box = foot(rng, first, labels[0]) if rng.random() < 0.3 else EMPTY
    receiver = lines(block(rng, second, labels[1]))
    match how:
        case "supplier_first" | "receiver_first" | "supplier_left" | "receiver_left":
            both = [
                lines(block(rng, first, labels[0], contacts=contacts, heading=ours)),
                lines(block(rng, second, labels[1], contacts=rng.choice((0, 0, 2)), heading=theirs)),
            ]
            both = both if how.startswith("supplier") else both[::-1]
            top = stack(*both, gap=rng.choice((0, 1))) if how.endswith("first") else side_by_side(*both, at=42)
            return top, foot_box
        case "letterhead":
            return stack(head(rng, first, labels[0]), receiver, gap=rng.choice((1, 2))), foot_box
        case "window":
            return stack(sender_line(rng, first, labels[0]), receiver), foot(rng, first, labels[0])
        case "foot":
            return receiver, foot(rng, first, labels[0])
        case "bare":
            ours_bare = lines(block(rng, first, labels[0], contacts=max(1, contacts)))
            return stack(ours_bare, receiver, gap=rng.choice((0, 1, 2))), foot_box
        case "bare_beside":
            ours_bare = lines(block(rng, first, labels[0], contacts=max(2, contacts)))
            return side_by_side(receiver, ours_bare, at=rng.choice((36, 48))), foot_box
    return lines([row(key, ": ", *value) for key, value in _as_pairs(rng, first, second, labels)]), foot_box


def _as_pairs(rng: Random, first: Party, second: Party, labels: tuple[str, str]) -> list[Pair]:
    pairs: list[Pair] = []
    for party, label, key in ((first, labels[0], "supplier"), (second, labels[1], "receiver")):
        pairs.append((party.lexicon.say(rng, key), row(party.entity(label))))
        if rng.random() < 0.7:
            pairs.append((party.lexicon.say(rng, "address"), row(Piece(", ".join(party.address), "ADDRESS"))))
        if rng.random() < 0.4:
            pairs.append((party.lexicon.say(rng, "tax_id"), row(Piece(party.tax_id, "TAX_ID"))))
    return pairs


def _said(rng: Random, party: Party, key: str, value: Piece, *, bare: float = 0.0) -> Row:
    if rng.random() < bare:
        return row(value)
    return row(party.lexicon.say(rng, key), rng.choice((": ", ": ", " ", ":")), value)
