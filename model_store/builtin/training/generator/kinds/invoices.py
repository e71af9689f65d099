"""Invoices: structurally different templates put together from headers, meta blocks, tables, totals and footers.

A template is the tuple of the structural choices; its name tells which. Amounts add up: lines to the net sum, net and
tax to the total.
"""

from random import Random

from model_store.builtin.training.generator import people
from model_store.builtin.training.generator.canvas import Block, Piece, beside, row
from model_store.builtin.training.generator.figures import day_text
from model_store.builtin.training.generator.identifiers import free_number
from model_store.builtin.training.generator.invoice_facts import Invoice, new_invoice
from model_store.builtin.training.generator.kinds import invoice_body
from model_store.builtin.training.generator.kinds.invoice_body import word
from model_store.builtin.training.generator.locales import Locale, random_words, say
from model_store.builtin.training.generator.parties import (
    contact_rows,
    joined,
    name_and_address,
    new_party,
    one_line,
)


def invoice_rows(rng: Random, invoice: Invoice | None = None) -> tuple[str, Block]:
    """(template name, rows) of an invoice."""
    invoice = invoice or new_invoice(rng)
    head, meta, table, sums = rng.randrange(7), rng.randrange(6), rng.randrange(7), rng.randrange(5)
    blocks = [_head(rng, invoice, head, meta), invoice_body.table(rng, invoice, table)]
    blocks.insert(2 if rng.random() < 0.9 else 1, invoice_body.sums(rng, invoice, sums))
    blocks.append(invoice_body.footer(rng, invoice))
    if rng.random() < 0.12:
        blocks.append(
            [
                row(
                    Piece(invoice.supplier.name, "SUPPLIER_NAME"),
                    *((" ", _title(rng, invoice.locale)) if rng.random() < 0.4 else ()),
                )
            ]
        )
    if rng.random() < 0.15:
        blocks.append([row(rng.choice((_title(rng, invoice.locale), say(rng, invoice.locale, "invoice", "thanks"))))])
    if rng.random() < 0.06:
        rng.shuffle(blocks)
    return f"invoice/{head}{meta}{table}{sums}", [line for block in blocks for line in block]


def _title(rng: Random, locale: Locale) -> str:
    return say(rng, locale, "invoice", "title")


def _meta_pairs(rng: Random, invoice: Invoice) -> list[tuple[str, Piece]]:
    """Words and values of the invoice's own data, some missing, in any order."""
    style = invoice.style
    pairs = [
        (word(rng, invoice, "number"), Piece(invoice.number, "INVOICE_ID")),
        (word(rng, invoice, "date"), Piece(day_text(style, invoice.issued), "INVOICE_DATE")),
    ]
    if rng.random() < 0.5:
        pairs.append((word(rng, invoice, "due"), Piece(day_text(style, invoice.due), "DUE_DATE")))
    if rng.random() < 0.4:
        pairs.append((word(rng, invoice, "order"), Piece(invoice.order, "PURCHASE_ORDER")))
    pairs += [_other_number(rng, invoice) for _ in range(rng.choice((0, 1, 1, 2, 3)))]
    if rng.random() < 0.4:
        pairs.append((word(rng, invoice, "delivery"), Piece(day_text(style, invoice.delivered), "DATE")))
    if rng.random() < 0.3:
        pairs.append((word(rng, invoice, "contact"), Piece(people.person(rng, invoice.locale), "PERSON")))
    if rng.random() < 0.15:
        pairs.append((word(rng, invoice, "vat"), Piece(invoice.receiver.tax_id, "TAX_ID")))
    if rng.random() < 0.5:
        rng.shuffle(pairs)
    return pairs


def _other_number(rng: Random, invoice: Invoice) -> tuple[str, Piece]:
    return word(rng, invoice, "customer"), Piece(rng.choice((invoice.customer, free_number(rng))), "ID_NUMBER")


def _meta(rng: Random, invoice: Invoice, kind: int) -> Block:
    pairs = _meta_pairs(rng, invoice)
    joint = rng.choice((": ", " ", ":  ", " : ", ":", "  ", ". ", " - "))
    match kind:
        case 0 | 1:
            return [row(word, joint, value) for word, value in pairs]
        case 2:
            return [line for word, value in pairs for line in (row(word + rng.choice(("", ":"))), row(value))]
        case 3:
            return [row(word) for word, _ in pairs] + [row(value) for _, value in pairs]
        case 4:
            gap = rng.choice(("  ", " ", "   ", "\t"))
            words = row(*(part for word, _ in pairs for part in (word, gap)))
            return [words, row(*(part for _, value in pairs for part in (value, gap)))]
    return joined(rng, [row(word, joint, value) for word, value in pairs])


def _party_block(rng: Random, invoice: Invoice, role: str) -> Block:
    party, label = (invoice.supplier, "SUPPLIER_NAME") if role == "supplier" else (invoice.receiver, "RECEIVER_NAME")
    block = name_and_address(rng, party, label=label)
    if role == "supplier" and rng.random() < 0.12:
        block.insert(1, row(_tagline(rng, invoice.locale)))
    if rng.random() < (0.5 if role == "supplier" else 0.15):
        block += contact_rows(rng, party, document_locale=invoice.locale, most=5 if role == "supplier" else 2)
    if rng.random() < (0.75 if role == "receiver" else 0.3):
        heading = word(rng, invoice, role) + rng.choice(("", ":", ":", " :"))
        if rng.random() < 0.7:
            block.insert(0, row(heading))
        else:
            block[0] = (Piece(heading + " "), *block[0])
    return block


def _tagline(rng: Random, locale: Locale) -> str:
    words = random_words(rng, locale, rng.randint(2, 5))
    return (
        " ".join(words).title() if rng.random() < 0.5 else f"{' '.join(words).capitalize()}{rng.choice(('', '!', '.'))}"
    )


def _head(rng: Random, invoice: Invoice, kind: int, meta_kind: int) -> Block:
    supplier, receiver = _party_block(rng, invoice, "supplier"), _party_block(rng, invoice, "receiver")
    meta = _meta(rng, invoice, meta_kind)
    title = _title_rows(rng, invoice)
    gap = rng.choice((" ", "  ", "    ", " "))
    line = one_line(rng, invoice.supplier, label="SUPPLIER_NAME")
    match kind:
        case 0:
            return [*supplier, *title, *receiver, *meta]
        case 1:
            return [*title, *beside(supplier, receiver, gap=gap), *meta]
        case 2:
            return [*line, *receiver, *title, *meta]
        case 3:
            return [*supplier, *beside(receiver, meta, gap=gap), *title]
        case 4:
            return [*title, *meta, *supplier, *receiver]
        case 5:
            return [*beside(supplier, [*title, *meta], gap=gap), *receiver, *_ship_to(rng, invoice)]
    return [*meta, *receiver, *_ship_to(rng, invoice), *title, *supplier]


def _title_rows(rng: Random, invoice: Invoice) -> Block:
    title = _title(rng, invoice.locale)
    number = Piece(invoice.number, "INVOICE_ID")
    chance = rng.random()
    if chance < 0.2:
        return [row(title, " ", number)]
    if chance < 0.3:
        sign = "Nr. " if invoice.locale.language == "de" else ""
        issued = Piece(day_text(invoice.style, invoice.issued), "INVOICE_DATE")
        return [row(f"{title} {sign}", number, " ", word(rng, invoice, "date"), " ", issued)]
    return [row(title)] if chance < 0.9 else []


def _ship_to(rng: Random, invoice: Invoice) -> Block:
    if rng.random() < 0.6:
        return []
    party = invoice.receiver
    if rng.random() < 0.5:
        party = new_party(rng, party.locale, document_locale=invoice.locale)
    label = "RECEIVER_NAME" if party is invoice.receiver else "ORGANIZATION"
    return [row(word(rng, invoice, "ship_to"), rng.choice(("", ":"))), *name_and_address(rng, party, label=label)]
