"""Till receipts: a shop's head, items, a total among sub-totals, cash, change and taxes; mostly in capitals."""

from decimal import Decimal
from random import Random

from model_store.builtin.training.generator import figures, people
from model_store.builtin.training.generator.canvas import Block, Piece, row
from model_store.builtin.training.generator.identifiers import digits, document_number
from model_store.builtin.training.generator.invoice_facts import Invoice, new_invoice
from model_store.builtin.training.generator.locales import phrases, say
from model_store.builtin.training.generator.parties import contact_rows


def receipt_rows(rng: Random) -> tuple[str, Block]:
    """(template name, rows) of a receipt."""
    invoice = new_invoice(rng)
    head, items, sums = rng.randrange(3), rng.randrange(4), rng.randrange(4)
    rows = _head(rng, invoice, head) + _items(rng, invoice, items) + _sums(rng, invoice, sums)
    if rng.random() < 0.6:
        rows.append(row(phrases("receipt")[invoice.locale.language][5]))
    if rng.random() < 0.6:
        rows = [
            tuple(Piece(p.text.upper(), p.label) if p.label not in {"EMAIL", "URL"} else p for p in line)
            for line in rows
        ]
    return f"receipt/{head}{items}{sums}", rows


def _head(rng: Random, invoice: Invoice, kind: int) -> Block:
    shop, words = invoice.supplier, phrases("receipt")[invoice.locale.language]
    day = Piece(figures.day_text(invoice.style, invoice.issued), "INVOICE_DATE")
    clock = f"{rng.randint(7, 22):02}:{rng.randint(0, 59):02}{rng.choice(('', f':{rng.randint(0, 59):02}'))}"
    rows: Block = [
        row(Piece(shop.name, "SUPPLIER_NAME")),
        row(Piece(rng.choice(("\n", ", ")).join(shop.address), "ADDRESS")),
    ]
    rows += contact_rows(rng, shop, document_locale=invoice.locale, most=3)
    number = Piece(document_number(rng, year=invoice.issued.year), "INVOICE_ID")
    when = row(
        rng.choice(("", say(rng, invoice.locale, "invoice", "date") + ": ")), day, rng.choice((" ", "  ")), clock
    )
    what = row(say(rng, invoice.locale, "invoice", "number"), rng.choice((": ", " ")), number)
    extra = [row(words[0])] if rng.random() < 0.5 else []
    if rng.random() < 0.4:
        extra.append(row(words[4], ": ", Piece(people.person(rng, invoice.locale), "PERSON")))
    return rows + ([*extra, what, when], [when, *extra], [*extra, row(*what, "  ", *when)])[kind]


def _items(rng: Random, invoice: Invoice, kind: int) -> Block:
    rows: Block = []
    style = invoice.style
    for line in invoice.lines:
        name = Piece(line.name, "LINE_ITEM")
        price = Piece(figures.money_text(style, line.price, bare=True), "MONEY")
        amount = Piece(figures.money_text(style, line.amount, bare=True), "MONEY")
        quantity = Piece(str(line.quantity), "QUANTITY")
        rows += (
            [row(name, "  ", amount)],
            [row(name), row(quantity, " x ", price, "  ", amount)],
            [row(quantity, " ", name, "  ", amount, rng.choice(("", " A", " B", " SR")))],
            [row(digits(rng, 13)), row(name, " ", quantity, " ", price, " ", amount)],
        )[kind]
    return rows


def _sums(rng: Random, invoice: Invoice, kind: int) -> Block:
    style, words = invoice.style, phrases("receipt")[invoice.locale.language]
    bare = rng.random() < 0.6

    def money(value: Decimal) -> str:
        return figures.money_text(style, value, bare=bare)

    paid = (invoice.total // 10 + 1) * 10
    total = row(
        say(rng, invoice.locale, "invoice", "total"),
        rng.choice((": ", "  ", " ")),
        Piece(money(invoice.total), "TOTAL_AMOUNT"),
    )
    net = row(
        say(rng, invoice.locale, "invoice", "net"), rng.choice((": ", "  ")), Piece(money(invoice.net), "NET_AMOUNT")
    )
    rate = Piece(figures.percent_text(rng, style, invoice.rate), "PERCENT")
    tax = row(say(rng, invoice.locale, "invoice", "tax"), " ", rate, "  ", Piece(money(invoice.tax), "TAX_AMOUNT"))
    count = row(words[6], ": ", str(sum(line.quantity for line in invoice.lines)))
    cash = [
        row(words[1], "  ", Piece(money(paid), "MONEY")),
        row(words[2], "  ", Piece(money(paid - invoice.total), "MONEY")),
    ]
    card = [
        row(words[3], "  ", Piece(money(invoice.total), "MONEY")),
        row("**** **** **** ", str(rng.randint(1000, 9999))),
    ]
    return (
        [net, tax, total, *cash],
        [count, total, *cash, tax],
        [total, *card, net, tax],
        [net, tax, row(words[7], "  ", Piece(money(Decimal(0)), "MONEY")), total, *card],
    )[kind]
