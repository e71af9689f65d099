"""Invoices and credit notes: parties, data, positions and sums, each in ways of their own and in several orders."""

from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, parties, prose, tables
from model_store.builtin.training.pages.facts import Trade, new_trade
from model_store.builtin.training.pages.grammar import Axes, Template
from model_store.builtin.training.pages.lexicon import Lexicon
from model_store.builtin.training.pages.sheet import EMPTY, Block, Box, Piece, lines, row, side_by_side, stack

AXES: Final[Axes] = {
    "parties": parties.ARRANGEMENTS,
    "data": (*blocks.WAYS, "beside_receiver", "in_title"),
    "items": (*tables.TABLES, "sentence"),
    "sums": tables.SUMS,
    "order": ("usual", "title_first", "data_last", "sums_first"),
    "headers_footers": blocks.HEADERS_FOOTERS,
}


def invoice(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    return _page(rng, new_trade(rng, lexicon), template, "invoice")


def credit_note(rng: Random, lexicon: Lexicon, template: Template) -> Box:
    """A credit note's page; its amounts are negative in half of them."""
    return _page(rng, new_trade(rng, lexicon, sign=rng.choice((1, -1))), template, "credit_note")


def _page(rng: Random, trade: Trade, template: Template, kind: str) -> Box:
    say = trade.lexicon.say
    top, foot = parties.two_parties(
        rng, template["parties"], trade.supplier, trade.receiver, labels=("SUPPLIER_NAME", "RECEIVER_NAME")
    )
    title = lines([row(say(rng, kind))])
    data = _data(rng, trade, kind, template["data"])
    if template["data"] == "in_title":
        title, data = _titled(rng, trade, kind), EMPTY
    elif template["data"] == "beside_receiver":
        top, data = side_by_side(top, data, at=40), EMPTY
    body = _body(rng, trade, template["items"])
    total = tables.sums(rng, template["sums"], trade)
    closing = _closing(rng, trade)
    match template["order"]:
        case "usual":
            boxes = [top, title, data, body, total, closing]
        case "title_first":
            boxes = [title, data, top, body, total, closing]
        case "data_last":
            boxes = [title, top, body, total, data, closing]
        case _:
            boxes = [top, title, total, data, body, closing]
    return blocks.with_headers_footers(rng, template["headers_footers"], trade.lexicon, [*boxes, foot])


def _data(rng: Random, trade: Trade, kind: str, way: str) -> Box:
    """The document's own numbers and dates, some of them absent."""
    say, style = trade.lexicon.say, trade.style
    number = Piece(trade.number, "INVOICE_ID")
    found: list[blocks.Pair] = [
        (say(rng, "credit_number" if kind == "credit_note" else "number"), row(number)),
        (say(rng, "date"), row(Piece(style.day(trade.issued), "INVOICE_DATE"))),
    ]
    if rng.random() < 0.6 and kind == "invoice":
        found.append((say(rng, "due"), row(Piece(style.day(trade.due), "DUE_DATE"))))
    if kind == "credit_note":
        other = Piece(trade.number[:-1] + str((int(trade.number[-1]) + 3) % 10), "ID_NUMBER")
        found.append((say(rng, "refers_to"), row(other)))
    if rng.random() < 0.4:
        found.append((say(rng, "order"), row(Piece(trade.order, "PURCHASE_ORDER"))))
    if rng.random() < 0.6:
        found.append((say(rng, "customer"), row(Piece(trade.customer, "ID_NUMBER"))))
    if rng.random() < 0.3:
        found.append((say(rng, "delivery"), row(Piece(style.day(trade.delivered), "DATE"))))
    if rng.random() < 0.25:
        found.append((say(rng, "contact"), row(Piece(trade.supplier.contact, "PERSON"))))
    if rng.random() < 0.4:
        rng.shuffle(found)
    return blocks.arranged(rng, way if way in blocks.WAYS else "colon", found)


def _titled(rng: Random, trade: Trade, kind: str) -> Box:
    """Kind, number and date in the title's line."""
    day = Piece(trade.style.day(trade.issued), "INVOICE_DATE")
    joint = rng.choice((" ", " – ", ", ", f" {trade.lexicon.say(rng, 'date')} "))
    return lines([row(trade.lexicon.say(rng, kind), " ", Piece(trade.number, "INVOICE_ID"), joint, day)])


def _body(rng: Random, trade: Trade, how: str) -> Box:
    if how != "sentence":
        return tables.items(rng, how, trade)
    rows: Block = [prose.filler(rng, trade.lexicon)]
    rows += [row(Piece(position.name, "LINE_ITEM")) for position in trade.positions[:3]]
    return lines(rows)


def _closing(rng: Random, trade: Trade) -> Box:
    """Terms, a sentence on how to pay, the bank, thanks."""
    say = trade.lexicon.say
    parts: list[Block] = []
    if rng.random() < 0.5:
        parts.append([row(say(rng, "terms").format(n=(trade.due - trade.issued).days))])
    if rng.random() < 0.4:
        parts.append(parties.banked(rng, trade.supplier))
    if rng.random() < 0.5:
        parts.append([row(say(rng, "thanks"))])
    if rng.random() < 0.2:
        sentence = prose.filled(
            say(rng, "prose"), prose.of_world(rng, trade.lexicon, trade.style) | prose.of_trade(trade)
        )
        parts.append(prose.set_to(rng.randint(60, 100), sentence, dense=trade.lexicon.is_dense))
    rng.shuffle(parts)
    return stack(*map(lines, parts))
