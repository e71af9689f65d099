"""What hard bills say of payments: what is paid and what is left, a reference, days of supply and of a discount.

A word of no vocabulary stands before some of them (`UNFAMILIAR`), as on a real bill.

Faults: one digit of an amount, an account or a tax number is another one, as a reader mistakes it or a forger changes
it. The truth is what was meant, so that sums which do not add up, and checksums that fail, are as often wrong as there.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Final

from stdnum.iso7064 import mod_97_10

from model_store.builtin.training.pages import blocks, identifiers
from model_store.builtin.training.pages.facts import Trade
from model_store.builtin.training.pages.sheet import Piece, Row, row
from service.evaluation.labelled_documents import LabelledSpan

Words = dict[str, str]
"""Language → words, between bars."""
DEPOSITS: Final[Words] = {
    "en": "Deposit|Deposit paid|Less prepayment|Payment received|Already settled|Part payment",
    "de": "Anzahlung|Abzgl. Anzahlung|Bereits bezahlt|Vorauszahlung|Abschlagszahlung|Gutschein eingelöst",
    "fr": "Acompte|Acompte versé|Déjà réglé|Avance perçue|Déduction acompte",
    "es": "Anticipo|Pago a cuenta|Ya pagado|Entrega a cuenta",
    "it": "Acconto|Acconto versato|Già pagato|A dedurre acconto",
    "nl": "Aanbetaling|Reeds betaald|Voorschot|Reeds voldaan",
    "pl": "Zaliczka|Wpłacono|Zapłacono|Przedpłata",
    "sv": "Förskott|Redan betalt|Handpenning|Avgår a conto",
    "pt": "Adiantamento|Já pago|Sinal|Pagamento por conta",
}
LEFT: Final[Words] = {
    "en": "Balance due|Amount due|Still to pay|Remaining balance|Outstanding",
    "de": "Restbetrag|Noch zu zahlen|Zahlbetrag|Offener Betrag|Verbleiben",
    "fr": "Reste à payer|Net à payer|Solde à régler|Solde dû",
    "es": "Pendiente de pago|Resto a pagar|A pagar|Saldo pendiente",
    "it": "Saldo da pagare|Netto a pagare|Restano da pagare|Da saldare",
    "nl": "Nog te betalen|Te betalen|Openstaand bedrag|Restant",
    "pl": "Do zapłaty|Pozostało do zapłaty|Reszta",
    "sv": "Att betala|Kvar att betala|Restbelopp",
    "pt": "Valor a pagar|Por pagar|Saldo a pagar|Restante",
}
REFERENCES: Final[Words] = {
    "en": "Payment reference|Please quote|Reference for payment|When paying state|Remittance ref",
    "de": "Verwendungszweck|Zahlungsreferenz|Bei Zahlung bitte angeben|Zahlungshinweis",
    "fr": "Référence de paiement|Référence à rappeler|Réf. virement|À indiquer lors du paiement",
    "es": "Referencia de pago|Concepto de pago|Indique al pagar",
    "it": "Causale|Riferimento pagamento|Causale bonifico|Da indicare nel pagamento",
    "nl": "Betalingskenmerk|Gestructureerde mededeling|Onder vermelding van",
    "pl": "Tytuł przelewu|Tytułem|Prosimy podać",
    "sv": "OCR-nummer|Betalningsreferens|Ange vid betalning",
    "pt": "Referência de pagamento|Referência|Indicar no pagamento",
}
SUPPLIES: Final[Words] = {
    "en": "Date of supply|Delivery date|Service date|Delivered on|Work done on",
    "de": "Lieferdatum|Leistungsdatum|Leistungszeitpunkt|Geliefert am|Ausgeführt am",
    "fr": "Date de livraison|Date de prestation|Livré le|Exécuté le",
    "es": "Fecha de entrega|Fecha de operación|Entregado el",
    "it": "Data di consegna|Consegnato il|Prestazione del",
    "nl": "Leverdatum|Leveringsdatum|Geleverd op|Uitgevoerd op",
    "pl": "Data sprzedaży|Data dostawy|Data wykonania usługi",
    "sv": "Leveransdatum|Levererat|Utfört den",
    "pt": "Data de entrega|Data da prestação|Entregue em",
}
DISCOUNTS: Final[Words] = {
    "en": "{rate} % cash discount if paid by {day}|{rate} % early payment discount until {day}, net by {due}"
    "|Save {rate} % until {day}",
    "de": "{rate} % Skonto bis {day}|Bei Zahlung bis {day} {rate} % Skonto, bis {due} netto"
    "|Zahlbar bis {day} mit {rate} % Skonto, bis {due} ohne Abzug|{rate} % Nachlass bei Zahlung bis {day}",
    "fr": "Escompte de {rate} % pour paiement avant le {day}|Escompte {rate} % si réglé au {day}, net au {due}",
    "es": "Descuento por pronto pago del {rate} % hasta el {day}|{rate} % de descuento si paga antes del {day}",
    "it": "Sconto del {rate} % per pagamento entro il {day}|{rate} % sconto cassa entro {day}, netto entro {due}",
    "nl": "{rate} % betalingskorting tot {day}|Bij betaling voor {day} {rate} % korting",
    "sv": "{rate} % kassarabatt till {day}|Vid betalning senast {day}: {rate} % rabatt",
}
"""Language → sentences with the percentage, its last day and, in some, the due date."""
UNFAMILIAR: Final = 0.1
"""Share of keys that are a word of no vocabulary."""
FAULTS: Final = {
    **dict.fromkeys(("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"), 0.12),
    **dict.fromkeys(("AMOUNT_DUE", "PAID_AMOUNT"), 0.1),
    **dict.fromkeys(("IBAN", "TAX_ID", "RECEIVER_TAX_ID"), 0.08),
}
"""Label → share of its spans of which one digit is another one."""


def key_of(rng: Random, words: Words, trade: Trade) -> str:
    """Choose words of the trade's language, else English ones, or a word of no vocabulary."""
    if rng.random() < UNFAMILIAR:
        return trade.lexicon.say(rng, "filler")[:20]
    return rng.choice(words.get(trade.lexicon.language, words["en"]).split("|"))


def sums(rng: Random, trade: Trade, total: Decimal) -> list[blocks.Pair]:
    """A deposit and the amount left, or one of them; of most bills nothing."""
    if rng.random() < 0.7:
        return []
    paid = trade.style.rounded(total * rng.randint(5, 95) / 100)
    amounts = ((DEPOSITS, "PAID_AMOUNT", paid), (LEFT, "AMOUNT_DUE", total - paid))
    return [
        (key_of(rng, words, trade), row(Piece(trade.style.money(value), label)))
        for words, label, value in amounts
        if rng.random() < 0.85
    ]


def references(rng: Random, trade: Trade) -> list[blocks.Pair]:
    """A day of supply and a payment reference, in a part of the bills."""
    pairs: list[blocks.Pair] = []
    if rng.random() < 0.35:
        pairs.append((key_of(rng, SUPPLIES, trade), row(Piece(trade.style.day(trade.delivered), "SUPPLY_DATE"))))
    if rng.random() < 0.3:
        pairs.append((key_of(rng, REFERENCES, trade), row(Piece(_reference(rng, trade), "PAYMENT_REFERENCE"))))
    return pairs


def _reference(rng: Random, trade: Trade) -> str:
    body = identifiers.digits(rng, rng.randint(6, 14))
    creditors = f"RF{mod_97_10.calc_check_digits(f'{body}RF')}{body}"
    grouped = " ".join(creditors[start : start + 4] for start in range(0, len(creditors), 4))
    return rng.choice((trade.number, body, creditors, grouped, f"{trade.customer} {trade.number}"))


def discount(rng: Random, trade: Trade) -> Iterator[Row]:
    """A sentence about a discount for an early payment, in a part of the bills of some languages."""
    if trade.lexicon.language not in DISCOUNTS or rng.random() < 0.75:
        return
    sentence = rng.choice(DISCOUNTS[trade.lexicon.language].split("|"))
    days: dict[str, tuple[str, date]] = {
        "day": ("DISCOUNT_DATE", trade.issued + timedelta(days=(trade.due - trade.issued).days // 2)),
        "due": ("DUE_DATE", trade.due),
    }
    pieces: list[str | Piece] = []
    for part in sentence.replace("}", "{").split("{"):
        if part == "rate":
            pieces.append(
                Piece(rng.choice(("2", "3", "1,5" if trade.style.decimals else "2")), "EARLY_PAYMENT_DISCOUNT")
            )
        elif part in days:
            pieces.append(Piece(trade.style.day(days[part][1]), days[part][0]))
        else:
            pieces.append(part)
    yield row(*pieces)


def with_faults(rng: Random, text: str, spans: Sequence[LabelledSpan]) -> str:
    """Change a digit of some values of a text; its length stays."""
    for span in spans:
        if rng.random() < FAULTS.get(span.label, 0.0):
            digits = [at for at in range(span.start, span.end) if text[at] in "0123456789"]
            at = rng.choice(digits or [span.start])
            other = rng.choice([each for each in "0123456789" if each != text[at]])
            text = f"{text[:at]}{other}{text[at + 1 :]}" if digits else text
    return text
