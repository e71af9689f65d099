"""The lower parts of an invoice: the table of positions, the sums, the footer, each in several layouts."""

from decimal import Decimal
from random import Random

from model_store.builtin.training.generator.canvas import Block, Piece, Row, fill, row
from model_store.builtin.training.generator.figures import day_text, money_text, percent_text, rounded
from model_store.builtin.training.generator.invoice_facts import Invoice, Line
from model_store.builtin.training.generator.locales import phrases, say
from model_store.builtin.training.generator.parties import (
    bank_rows,
    contact_rows,
    joined,
)


def word(rng: Random, invoice: Invoice, key: str) -> str:
    return say(rng, invoice.locale, "invoice", key)


def table(rng: Random, invoice: Invoice, kind: int) -> Block:
    rows: Block = []
    if rng.random() < 0.85:
        rows += [row(part) for part in word(rng, invoice, "columns").split("\n")]
    for position, line in enumerate(invoice.lines, start=1):
        rows += _table_line(rng, invoice, line, position, kind)
    return rows


def _table_line(rng: Random, invoice: Invoice, line: Line, position: int, kind: int) -> Block:
    style = invoice.style
    name = Piece(line.name, "LINE_ITEM")
    bare = style.bare_in_tables
    price = Piece(money_text(style, line.price, bare=bare), "MONEY")
    amount = Piece(money_text(style, line.amount, bare=bare), "MONEY")
    quantity = Piece(str(line.quantity), "QUANTITY")
    measured = Piece(f"{line.quantity} {line.unit}", "QUANTITY")
    percent = Piece(f"{line.discount_percent}%", "PERCENT")
    match kind:
        case 0:
            return [row(name, " ", quantity, " ", price, " ", amount)]
        case 1:
            return [row(f"{position} ", name, "  ", measured, "  ", price, "  ", amount)]
        case 2:
            return [row(str(position)), row(line.code), row(name), row(measured, " ", price, " ", amount)]
        case 3:
            rate = Piece(percent_text(rng, style, invoice.rate), "PERCENT")
            return [row(line.code, " ", name, " ", price, " ", measured, " ", rate, " ", amount)]
        case 4:
            day = Piece(day_text(style, invoice.delivered), "DATE")
            discount = (percent if line.discount_percent else Piece("-"), " ")
            return [row(day, " ", name, " ", price, " ", *discount, amount)]
        case 5:
            return [row(name), row(quantity), row(price), row(amount)]
    return [row(quantity, " x ", name, rng.choice((" @ ", " ", " à ")), price, " ", amount)]


def sums(rng: Random, invoice: Invoice, kind: int) -> Block:
    """Net, tax and total, with distractors such as shipping at nought or an amount already paid."""
    style = invoice.style
    pairs: list[tuple[Row, Piece]] = []
    if rng.random() < 0.85:
        pairs.append((row(word(rng, invoice, "net")), Piece(money_text(style, invoice.net), "NET_AMOUNT")))
    if rng.random() < 0.25:
        pairs.append((row(word(rng, invoice, "discount")), Piece(money_text(style, Decimal(0)), "MONEY")))
    if rng.random() < 0.85:
        pairs.append((_tax_words(rng, invoice), Piece(money_text(style, invoice.tax), "TAX_AMOUNT")))
    pairs.append((row(word(rng, invoice, "total")), Piece(money_text(style, invoice.total), "TOTAL_AMOUNT")))
    if rng.random() < 0.12:
        part = rounded(invoice.total * rng.randint(1, 9) / 10)
        when = (" ", Piece(day_text(style, invoice.delivered), "DATE")) if rng.random() < 0.4 else ()
        pairs.append((row(word(rng, invoice, "paid"), *when), Piece(money_text(style, part), "MONEY")))
        pairs.append((row(word(rng, invoice, "total")), Piece(money_text(style, invoice.total - part), "TOTAL_AMOUNT")))
    joint = rng.choice((" ", ": ", "  ", ":", " : "))
    match kind:
        case 0 | 1:
            return [(*words, Piece(joint), value) for words, value in pairs]
        case 2:
            return [line for words, value in pairs for line in (words, row(value))]
        case 3:
            return [words for words, _ in pairs] + [row(value) for _, value in pairs]
    return joined(rng, [(*words, Piece(joint), value) for words, value in pairs])


def _tax_words(rng: Random, invoice: Invoice) -> Row:
    name = word(rng, invoice, "tax")
    rate = Piece(percent_text(rng, invoice.style, invoice.rate), "PERCENT")
    base = Piece(money_text(invoice.style, invoice.net), "NET_AMOUNT")
    return rng.choice((
        row(name), row(name, " ", rate), row(rate, " ", name), row(name, " (", rate, ")"),
        row(name, " ", rate, " ", say(rng, invoice.locale, "invoice", "of"), " ", base), row(name, " ", rate),
    ))  # fmt: skip


def footer(rng: Random, invoice: Invoice) -> Block:
    locale = invoice.locale
    parts: list[Block] = []
    if rng.random() < 0.6:
        parts.append([_terms(rng, invoice)])
    if rng.random() < 0.35:
        due = Piece(day_text(invoice.style, invoice.due), "DUE_DATE")
        total = Piece(money_text(invoice.style, invoice.total), "TOTAL_AMOUNT")
        parts.append([fill(word(rng, invoice, "due_sentence"), total=total, due=due)])
    if rng.random() < 0.6:
        parts.append(bank_rows(rng, invoice.supplier, document_locale=locale))
    if rng.random() < 0.5:
        parts.append(contact_rows(rng, invoice.supplier, document_locale=locale, most=4))
    parts += [[row(word(rng, invoice, "thanks"))] for _ in range(rng.choice((0, 1, 1, 2)))]
    rng.shuffle(parts)
    return [line for part in parts for line in part]


def _terms(rng: Random, invoice: Invoice) -> Row:
    days = (invoice.due - invoice.issued).days
    return row(str(rng.choice(phrases(invoice.locale.language)["invoice"]["terms"])).replace("{n}", str(days)))
