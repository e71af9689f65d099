"""Bills that are hard to read, and papers of other kinds, which have no fields.

The bills have further dates, numbers, taxes and parties beside those of the roles, words that no vocabulary has,
misread characters, and wrong digits (`hard_payments`).

They are not of the training mix: the scores of roles are fitted on them (`role_scores`), as a model reads its own
pages too well. A span's label is its role; the receiver's tax number, a payer's account and the amounts of one of
several tax rates have labels of no role.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Final

from model_store.builtin.training.pages import blocks, hard_payments, identifiers, parties, tables
from model_store.builtin.training.pages.documents import page
from model_store.builtin.training.pages.facts import Trade, bank_account, new_party, new_trade
from model_store.builtin.training.pages.lexicon import Lexicon, choose_lexicon
from model_store.builtin.training.pages.reading import Medium, transcribed
from model_store.builtin.training.pages.sheet import EMPTY, Box, Piece, Row, grid, indented, lines, row
from service.evaluation.labelled_documents import LabelledDocument, LabelledSpan

OTHER_DAYS: Final = {
    "en": "Paid on|Printed|Your order of|Next invoice|Valid until|Booked on",
    "de": "Bezahlt am|Gedruckt am|Ihre Bestellung vom|Nächste Rechnung|Stand|Gültig bis|Abbuchung am",
    "fr": "Payé le|Imprimé le|Votre commande du|Prochaine facture vers le|Relevé du|Valable jusqu'au",
    "es": "Pagado el|Impreso el|Su pedido del|Próxima factura|Lectura del|Válido hasta",
    "it": "Pagato il|Stampato il|Vostro ordine del|Prossima fattura|Lettura del|Valido fino al",
    "nl": "Betaald op|Afgedrukt op|Uw bestelling van|Volgende factuur|Geldig tot",
    "pl": "Zapłacono dnia|Wydrukowano|Zamówienie z dnia|Ważne do",
    "sv": "Betald|Utskriven|Er beställning av|Nästa faktura|Giltig till",
    "pt": "Pago em|Impresso em|Encomenda de|Próxima fatura|Válido até",
}
"""Language → words before a day of no role."""
OTHER_NUMBERS: Final = {
    "en": "Job no.|Account|Meter|Contract|Delivery note|Quote ref|Serial|Site code|Licence",
    "de": "Projekt|Vertragskonto|Zähler|Angebot|Lieferschein|Kostenstelle|Serien-Nr.|Objekt|Vorgang",
    "fr": "Affaire|Compte client|Compteur|Devis|Bon de livraison|Contrat n°|Série|Chantier",
    "es": "Proyecto|Contador|Presupuesto|Albarán|Contrato|Serie|Obra",
    "it": "Commessa|Contatore|Preventivo|DDT n.|Contratto|Matricola|Cantiere",
    "nl": "Project|Meter|Offerte|Pakbon|Contract|Serienummer|Dossier",
    "pl": "Umowa|Licznik|Oferta|WZ nr|Projekt|Numer seryjny",
    "sv": "Projekt|Mätare|Offert|Följesedel|Avtal|Serienr",
    "pt": "Projeto|Contador|Orçamento|Guia|Contrato|Série",
}
"""Language → words before a number of no role."""
OTHER_SUMS: Final = {
    "en": "Carriage|Less discount|Balance brought forward|Service charge|Late fee",
    "de": "Versand|Rabatt|Übertrag|Servicepauschale|Mahngebühr",
    "fr": "Port|Remise|Report|Frais de dossier|Indemnité forfaitaire de recouvrement",
    "es": "Portes|Descuento|Saldo anterior|Cargo por servicio",
    "it": "Trasporto|Sconto|Saldo precedente|Imposta di soggiorno|Spese incasso",
    "nl": "Verzendkosten|Korting|Vorig saldo|Administratiekosten",
    "pl": "Wysyłka|Rabat|Saldo poprzednie",
    "sv": "Frakt|Rabatt|Ingående saldo|Fakturaavgift",
    "pt": "Portes|Desconto|Saldo anterior",
}
"""Language → words before an amount of no role."""
OTHER_PARTIES: Final = {
    "en": "Deliver to|Carrier|Agent|Site|Tax representative|Account manager",
    "de": "Lieferanschrift|Spediteur|Vermittelt durch|Objekt|Fiskalvertreter",
    "fr": "Livraison|Transporteur|Agence|Chantier|Représentant fiscal",
    "es": "Entrega|Transportista|Agente|Obra",
    "it": "Destinazione merce|Vettore|Agente|Cantiere",
    "nl": "Afleveradres|Vervoerder|Agent|Project",
}
"""Language → words before a party of no role."""
_MISREAD: Final = {"0": "O", "O": "0", "1": "l", "l": "1", "5": "S", "8": "B", ".": "", ",": "."}
KNOWN: Final = (
    *("INVOICE_ID", "INVOICE_DATE", "DUE_DATE", "PURCHASE_ORDER", "SUPPLIER_NAME", "RECEIVER_NAME", "NET_AMOUNT"),
    *("TAX_AMOUNT", "TOTAL_AMOUNT", "IBAN", "BIC", "TAX_ID", "RECEIVER_TAX_ID", "PAID_AMOUNT", "AMOUNT_DUE"),
    *("PAYMENT_REFERENCE", "SUPPLY_DATE", "DISCOUNT_DATE", "EARLY_PAYMENT_DISCOUNT"),
)
"""Labels of the roles that a bill's fields know."""
PART_OF_TAX: Final = "PART_OF_TAX"
"""Label of the tax of one of several rates."""
_SECOND_RATE: Final = Decimal(5)
MISREAD_PAGES, MISREAD_CHARACTERS = 0.15, 0.03
"""Share of the pages with misread characters, and share of those characters that are misread."""
NO_BILLS: Final = 0.2
"""Share of papers of other kinds; of most of them a service answers no fields."""
_OTHER_KINDS: Final = ("statement", "payslip", "letter", "form", "contract", "note")
UNKNOWN_LANGUAGES: Final = 0.3
"""Share of the bills whose captions are in a language that neither a model nor a vocabulary knows."""
_CAPTIONS: Final = (
    *("number", "date", "due", "order", "customer", "delivery", "refers_to", "net", "tax", "total", "supplier"),
    *("receiver", "tax_id", "iban", "bic", "bank", "invoice", "code", "quantity", "price", "amount", "description"),
    *("phone", "email", "contact", "register", "thanks", "filler", "pos", "account"),
)
"""Words of a lexicon that stand before values, or alone."""
_VOWELS, _CONSONANTS = "aeiou", "bcdfghklmnprstvz"
WORDLESS: Final = 0.08
"""Share of keys that are left out or exchanged for a word of no meaning."""


def hard_bills(seed: int, count: int) -> Iterator[LabelledDocument]:
    """`count` papers; each has its own generator, so that any one of them can be had again."""
    for number in range(count):
        rng = Random(f"hard bills/{seed}/{number}")
        paper = no_bill(rng, number) if rng.random() < NO_BILLS else hard_bill(rng)
        yield replace(paper, id=f"hard-bill-{seed}-{number}")


def no_bill(rng: Random, number: int) -> LabelledDocument:
    """One paper of another kind; it states nothing that a bill does."""
    paper = page(rng, kind=rng.choice(_OTHER_KINDS))
    nothing: dict[str, tuple[str, ...]] = {label.lower(): () for label in KNOWN}
    return replace(paper, spans=(), group=f"{paper.kind}/{number}", kind="none", fields=nothing)


def hard_bill(rng: Random) -> LabelledDocument:
    """One bill; its `fields` have all roles, with nothing for those that it does not state."""
    lexicon = choose_lexicon(rng)
    trade = new_trade(rng, _unknown(rng, lexicon) if rng.random() < UNKNOWN_LANGUAGES else lexicon)
    how, taxes = rng.choice(parties.ARRANGEMENTS), _taxes(rng, trade)
    box = _page(rng, trade, how, taxes)
    text, spans, _ = transcribed(box.fragments, rng.choice((Medium.PDF, Medium.PDF, Medium.MARKUP, Medium.SPACED)))
    spans = tuple(_of_party(span, text, trade) for span in spans)
    fields = {label.lower(): tuple(text[s.start : s.end] for s in spans if s.label == label) for label in KNOWN}
    if any(span.label == PART_OF_TAX for span in spans):
        fields["tax_amount"] = (str(sum(tax for _, tax in taxes)),)
    if not fields["amount_due"]:
        fields["amount_due"] = fields["total_amount"]
    text = hard_payments.with_faults(rng, text, spans)
    text = _misread(rng, text) if rng.random() < MISREAD_PAGES else text
    return LabelledDocument("", text, (), f"hard/{how}/{trade.number}", lexicon.language, "invoice", fields)


def _unknown(rng: Random, lexicon: Lexicon) -> Lexicon:
    """Exchange the letters of a lexicon's captions: words of the same shapes that mean nothing."""
    exchanged = {
        **dict(zip(_VOWELS, rng.sample(_VOWELS, len(_VOWELS)), strict=True)),
        **dict(zip(_CONSONANTS, rng.sample(_CONSONANTS, len(_CONSONANTS)), strict=True)),
    }
    letters = str.maketrans(exchanged | {old.upper(): new.upper() for old, new in exchanged.items()})
    captions = {
        key: [word.translate(letters) for word in lexicon.words[key]] for key in _CAPTIONS if key in lexicon.words
    }
    return replace(lexicon, words=lexicon.words | captions)


def _of_party(span: LabelledSpan, text: str, trade: Trade) -> LabelledSpan:
    is_receivers = span.label == "TAX_ID" and text[span.start : span.end] == trade.receiver.tax_id
    return span._replace(label="RECEIVER_TAX_ID") if is_receivers else span


def _taxes(rng: Random, trade: Trade) -> list[tuple[Decimal, Decimal]]:
    """Rates and their taxes: one of the whole net, or two, each of a part of it."""
    share = Decimal(rng.choice((100, 100, 30, 50, 80))) / 100
    parts = [(trade.rate, share), (_SECOND_RATE, 1 - share)]
    return [(rate, trade.style.rounded(trade.net * part * rate / 100)) for rate, part in parts if part]


def _page(rng: Random, trade: Trade, how: str, taxes: Sequence[tuple[Decimal, Decimal]]) -> Box:
    top, foot = parties.two_parties(rng, how, trade.supplier, trade.receiver, labels=("SUPPLIER_NAME", "RECEIVER_NAME"))
    third = EMPTY
    if rng.random() < 0.3:
        other = new_party(rng, trade.lexicon, person_share=0.5)
        third = lines(parties.block(rng, other, "ORGANIZATION", heading=_some(rng, OTHER_PARTIES, trade)))
    title = lines([row(trade.lexicon.say(rng, "invoice"))]) if rng.random() < 0.8 else EMPTY
    boxes = [
        top,
        title,
        third,
        _data(rng, trade),
        tables.items(rng, rng.choice(tables.TABLES), trade),
        _sums(rng, trade, taxes),
        _closing(rng, trade),
    ]
    if rng.random() < 0.3:
        boxes[0], boxes[1] = boxes[1], boxes[0]
    if rng.random() < 0.25:
        boxes.insert(0, boxes.pop(3))
    return blocks.with_headers_footers(rng, rng.choice(blocks.HEADERS_FOOTERS), trade.lexicon, [*boxes, foot])


def _some(rng: Random, words: dict[str, str], trade: Trade) -> str:
    return rng.choice(words.get(trade.lexicon.language, words["en"]).split("|"))


def _data(rng: Random, trade: Trade) -> Box:
    """The numbers and dates of the roles, and further ones, in any order."""
    say, style = trade.lexicon.say, trade.style
    pairs: list[blocks.Pair] = []

    def add(share: float, key: str, text: str, label: str | None) -> None:
        if rng.random() < share:
            key = rng.choice(("", say(rng, "code"), say(rng, "products"))) if rng.random() < WORDLESS else key
            pairs.append((key, row(Piece(text, label))))

    def number() -> str:
        return identifiers.document_number(rng, year=trade.issued.year)

    add(0.93, say(rng, "number"), trade.number, "INVOICE_ID")
    add(0.97, say(rng, "date"), style.day(trade.issued), "INVOICE_DATE")
    add(0.4, say(rng, "due"), style.day(trade.due), "DUE_DATE")
    add(0.35, say(rng, "order"), trade.order, "PURCHASE_ORDER")
    add(0.4, say(rng, "customer"), trade.customer, None)
    pairs += hard_payments.references(rng, trade)
    add(0.15, say(rng, "refers_to"), number(), None)
    for _ in range(rng.choice((0, 0, 1, 2))):
        add(1.0, _some(rng, OTHER_NUMBERS, trade), rng.choice((number(), identifiers.article_number(rng))), None)
    for _ in range(rng.choice((0, 0, 1, 2))):
        day = trade.issued.replace(day=rng.randint(1, 28), month=rng.randint(1, 12))
        add(1.0, _some(rng, OTHER_DAYS, trade), style.day(day), None)
    if rng.random() < 0.6:
        rng.shuffle(pairs)
    return blocks.arranged(rng, rng.choice(blocks.WAYS), pairs) if pairs else EMPTY


def _sums(rng: Random, trade: Trade, taxes: Sequence[tuple[Decimal, Decimal]]) -> Box:
    """Net, taxes and total, some of them absent, with further amounts between them."""
    style, say = trade.style, trade.lexicon.say

    def money(value: Decimal, label: str | None) -> Row:
        return row(Piece(style.money(style.rounded(value)), label))

    found = [(say(rng, "net"), money(trade.net, "NET_AMOUNT"))] if rng.random() < 0.75 else []
    if rng.random() < 0.85:
        label = "TAX_AMOUNT" if len(taxes) == 1 else PART_OF_TAX
        found += [(f"{say(rng, 'tax')} {style.rate(rate)}", money(tax, label)) for rate, tax in taxes]
    total = trade.net + sum(tax for _, tax in taxes)
    extras = [
        (_some(rng, OTHER_SUMS, trade), money(Decimal(rng.randint(100, 9000)) / 100, None))
        for _ in range(rng.choice((0, 0, 0, 1, 2)))
    ]
    found += [*extras[:1], (say(rng, "total"), money(total, "TOTAL_AMOUNT")), *extras[1:]]
    found += hard_payments.sums(rng, trade, total)
    found = [(say(rng, "filler")[:20] if rng.random() < WORDLESS else key, value) for key, value in found]
    if rng.random() < 0.2:
        rng.shuffle(found)
    keys, values = [row(key) for key, _ in found], [value for _, value in found]
    match rng.choice(("lines", "lines", "grid", "grid", "above", "inline")):
        case "lines":
            return lines([(*key, Piece(": "), *value) for key, value in zip(keys, values, strict=True)])
        case "above":
            return grid([keys, values], gap=4)
        case "inline":
            return lines([blocks.joined([(*k, Piece(" "), *v) for k, v in zip(keys, values, strict=True)], "   ")])
    return indented(
        grid(list(map(list, zip(keys, values, strict=True))), gap=3, right=frozenset({1})), rng.choice((0, 40))
    )


def _closing(rng: Random, trade: Trade) -> Box:
    """How to pay: to one account or two, or by direct debit from the receiver's; terms and thanks."""
    say, style = trade.lexicon.say, trade.style
    parts: list[Callable[[], list[Row]]] = [
        lambda: [row(say(rng, "terms").format(n=(trade.due - trade.issued).days))],
        lambda: list(hard_payments.discount(rng, trade)),
        lambda: parties.banked(rng, trade.supplier),
        lambda: [row(say(rng, "thanks"))],
        lambda: [row(_some(rng, OTHER_DAYS, trade), " ", style.day(trade.issued.replace(day=rng.randint(1, 28))))],
    ]
    shares = (0.4, 1.0, 0.5, 0.4, 0.2)
    rows = [line for part, share in zip(parts, shares, strict=True) if rng.random() < share for line in part()]
    if rng.random() < 0.08:
        account = bank_account(rng, trade.lexicon)
        rows.append(row(say(rng, "iban"), " ", Piece(account.text, None)))
    return lines(rows)


def _misread(rng: Random, text: str) -> str:
    """A text as OCR may read it."""
    return "".join(_MISREAD.get(c, c) if c in _MISREAD and rng.random() < MISREAD_CHARACTERS else c for c in text)
