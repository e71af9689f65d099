"""Keys of amounts: classes by their words, and which line items are sums."""

from __future__ import annotations

import pytest

from service.core.fields.amount_keywords import (
    AmountKeyword,
    amount_keywords,
    classify_key,
    goods_lines,
    keyword_of_amount,
    names_goods,
    names_sum,
)
from service.core.fields.lines import TextLines
from service.core.fields.vocabulary.phrases import PhraseTable
from tests.core.fields.test_taxes import sums_of
from tests.support.mentions import mentions_in


@pytest.mark.parametrize("line", ["Netto_Listenpreis", "Bruttolistenpreis", "netto2listenpreis"])
def test_a_phrase_that_any_letters_may_begin_goes_before_what_they_are(line: str) -> None:
    assert classify_key(line) is AmountKeyword.NO_SUM


KEYS: dict[str | None, str] = {
    "total": "TOTAL | Total amount: | TOTAL SALES : | Gesamtbetrag | Montant total | Importe total | "
    "Totale documento | Valor total | Genel Toplam | I alt | Yhteensä | 合計 | 合计 | 합계 | الإجمالي | "
    "कुल योग | JUMLAH | Összesen | Számla végösszege | ΣΥΝΟΛΟ | Συνολικό ποσό",
    "gross": "Grand Total  RM | TOTAL (INCLUSIVE OF GST) : | Total Sales Inclusive GST @6% | Amount incl. VAT | "
    "Total incl. 19,00 % VAT | Bruttosumme | Summe inkl. MwSt. | Total TTC | Total con IVA | "
    "Totaal incl. btw | 价税合计 | Bruttó összesen | Mindösszesen | Γενικό σύνολο | Τελική αξία",
    "net": "TOTAL (EXCLUDING GST): | Total excl. | Rechnungssumme ohne USt. | TOTAL HT | Base imponible | "
    "Imponibile | Wartość netto | Celkem bez DPH | Nettó összesen | ÁFA alapja | Összesen ÁFA nélkül | Καθαρή αξία | "
    "Σύνολο χωρίς ΦΠΑ",
    "subtotal": "Sub-Total | SUBTOTAL RM | Zwischensumme | 小計",
    "net_or_total": "Nett Total",
    "rounded": "TOTAL ROUNDED | TOTAL AFTER ROUNDING",
    "to_pay": "Balance due | TOTAL AMT PAYABLE | Zu zahlen | Zahlbetrag | NET A PAYER | Netto a pagare | "
    "Te betalen | Razem do zapłaty | Amount owing | Noch zu zahlen | Reste dû | Balance due less deposit | "
    "Всего к оплате | Att betala | Total de plată | Fizetendő összeg | Még fizetendő | Πληρωτέο ποσό",
    "tax": "GST @6% | Total GST | GST @6% included in total | inkl. 19 % MwSt. | zzgl. Umsatzsteuer 19 % | "
    "Total taxes | dont TVA 20 % | в том числе НДС | KDV | varav moms | 消費税(10%) | 부가세 | ÁFA 27% | "
    "27 % ÁFA összege | ΦΠΑ 24% | Φ.Π.Α. | Αξία Φ.Π.Α.",
    "no_sum": "TOTAL QTY: 9 | Unit price | Wechselkurs EUR/CHF | Nettó egységár | Τιμή μονάδας",
    "discount": "Total discount | abzgl. 5 % Rabatt | Remise 3 % | Sconto | 値引き | Kedvezmény 5 % | Έκπτωση",
    "prepaid": "Gesamtbetrag der Abschläge | Erhaltene Anzahlungen | Less deposit paid | Acompte versé | "
    "Reeds betaald | Levont előleg | Προκαταβολή",
    "brought_forward": "Balance brought forward | Saldovortrag | Solde antérieur | Saldo anterior",
    "withholding": "Ritenuta d'acconto 20 % | Retención IRPF 15 % | 源泉徴収税額 | TDS 10% | Παρακράτηση φόρου",
    "untaxed": "Imposta di soggiorno (esente) | City tax | Kurtaxe | Taxe de séjour | Pfand",
    "tip": "Tip | Trinkgeld | Pourboire | Propina",
    "service_charge": "Service charge 12.5% | Coperto | サービス料",
    "shipping": "Shipping | Versandkosten | Frais de port | Portes",
    "rounding": "ROUNDING ADJ............",
    "paid": "CASH | Visa | Espèces | Készpénz | ΜΕΤΡΗΤΑ",
    "change": "CHANGE DUE | Wechselgeld | お釣り | Visszajáró | ΡΕΣΤΑ",
    None: "Amount | Widget, large | the total of all loans that were granted to the borrower exceeds",
}
"""Class → keys, separated by bars."""


@pytest.mark.parametrize(("key", "word"), [(key, word) for word, keys in KEYS.items() for key in keys.split(" | ")])
def test_a_key_says_what_its_amount_is(key: str, word: str | None) -> None:
    assert classify_key(key) == word


@pytest.mark.parametrize(
    ("text", "amount", "word"),
    [
        ("Total  9.00", "9.00", AmountKeyword.TOTAL),
        ("Saving: 1.00 TOTAL 9.00", "9.00", AmountKeyword.TOTAL),
        ("TOTAL :  80.91  0.00", "80.91", None),
        ("TOTAL :  80.91  0.00", "0.00", None),
        ("Net total 20.00 € Tax Total 4.00 €", "20.00 €", AmountKeyword.NET_OR_TOTAL),
        ("Net total 20.00 € Tax Total 4.00 €", "4.00 €", AmountKeyword.TAX),
        ("TOTAL\n9.00", "9.00", AmountKeyword.TOTAL),
        ("ROUNDING  -0.01\n9.00", "9.00", None),
        ("Qty  Price  Total\n2  1.00  2.00", "2.00", None),
    ],
)
def test_the_key_of_an_amount_is_nearest_to_it(text: str, amount: str, word: AmountKeyword | None) -> None:
    start = text.index(amount)
    assert keyword_of_amount(TextLines(text), start, start + len(amount)) == word


def test_beside_a_description_words_speak_of_the_goods() -> None:
    text = "Total care shampoo 9.00\nTotal 9.00"
    found = mentions_in(text, ("LINE_ITEM", "Total care shampoo"), ("MONEY", "9.00"), ("MONEY", "9.00"))
    assert amount_keywords(found, TextLines(text)) == {2: AmountKeyword.TOTAL}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Total 278.61 40.39 319.00", {0: "net", 1: "tax", 2: "total"}),
        ("Total 278.61 40.39 400.00", {}),
        ("Widget 278.61 40.39 319.00", {}),
        ("Total 278.61\n40.39 319.00", {0: "total"}),
    ],
)
def test_in_a_row_of_a_total_each_amount_has_its_class(line: str, words: dict[int, str]) -> None:
    found = mentions_in(line, *(("MONEY", part) for part in line.split() if part[0].isdigit()))
    assert amount_keywords(found, TextLines(line)) == words


def test_a_rounded_total_with_its_tax_is_the_rounded_one() -> None:
    assert classify_key("Rounded total incl. GST") is AmountKeyword.ROUNDED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Total\t278.61\t40.39\t319.00", ["net", "tax", "total"]),
        ("Restbetrag\t100,00\t19,00\t119,00", ["net", "tax", "to_pay"]),
        ("abzgl. Abschlagsrechnung\t100,00\t19,00\t119,00", ["no_sum", "no_sum", "prepaid"]),
        ("Total\t10.122,00\t2.125,62\nDe plată\t12.247,62", ["net", "tax", "to_pay"]),
        ("Tip\t100.00\t19.00\t119.00", [None, None, None]),
        ("Total\t100.00\t19.00\t120.00", [None, None, None]),
        ("5 318,00\nTotal HT\n€", ["net"]),
        ("5 318,00\nTotal HT 3\n€", [None]),
        ("5 318,00\nTotal HT\nPage", [None]),
    ],
)
def test_rows_of_sums_and_wrapped_cells(text: str, words: list[str | None]) -> None:
    found = sums_of(text)
    keywords = amount_keywords(found, TextLines(text))
    assert [keywords.get(each.entity) for each in found] == words


@pytest.mark.parametrize(
    "item",
    [
        *("Total", "Total EUR", "Less deposit", "VAT 20 %", "Sales tax", "CHANGE", "YOU SAVED", "Übertrag", "Cash"),
        *("abzgl. 1. Abschlagsrechnung", "--- Non food ---", "12", "23%"),
    ],
)
def test_a_sum_and_a_payment_are_no_goods(item: str) -> None:
    text = f"{item}\t20.00"
    assert not names_goods(item)
    assert not goods_lines(mentions_in(text, ("LINE_ITEM", item)), TextLines(text))


@pytest.mark.parametrize(
    "item",
    [
        *("Copper wire", "Delivery and setup", "Total gym bench", "Net curtain", "Card stock 300 g", "Cash in transit"),
        *("Deposit for key", "Obstkorb, groß", "box of chocolates", "szt."),
    ],
)
def test_goods_may_have_a_word_of_a_sum_in_their_name(item: str) -> None:
    text = f"{item}\t20.00"
    assert names_goods(item)
    assert goods_lines(mentions_in(text, ("LINE_ITEM", item)), TextLines(text)) == {0}


@pytest.mark.parametrize(
    ("text", "is_sum"),
    [("Total for the first quarter", True), ("19 % VAT", True), ("Obstkorb, groß", False), ("Total quantity", False)],
)
def test_a_sum_is_named_at_the_beginning(text: str, is_sum: bool) -> None:
    assert names_sum(text) is is_sum


@pytest.mark.parametrize(("line", "has"), [("total tax 5", True), ("totally taxing", False), ("", False)])
def test_one_search_tells_whether_a_line_has_a_phrase(line: str, has: bool) -> None:
    assert PhraseTable("total", "tax").has(line) is has
