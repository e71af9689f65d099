"""Words of bills: the data is sound, phrases are found as its notation says, and keys classify amounts."""

from __future__ import annotations

import re
from dataclasses import fields

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
from service.core.fields.vocabulary.phrases import LANGUAGES, PhraseTable, any_of, folded, written_span
from service.core.fields.vocabulary.words import BillWords
from tests.core.fields.test_taxes import sums_of
from tests.support.mentions import mentions_in

FAMILIES = (
    (*(word.value for word in AmountKeyword), "sums", "including", "excluding"),
    ("due", "dated", "supply", "discount_until", "another_day", "another_bill"),
    (
        "another_bill",
        "another_number",
        "bill",
        "bill_number",
        "credit",
        "correction",
        "order",
        "your_order",
        "reference",
    ),
    ("deposit", "carried"),
    ("seller", "buyer"),
    ("debit", "transfer"),
    ("tax_number", "other_number"),
    ("tax_base",),
    ("exempt",),
    ("early_payment",),
)
"""Kinds that are looked for together: a phrase must be of one of them."""


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: str(family[0]))
def test_no_phrase_is_of_two_kinds_that_are_looked_for_together(family: tuple[str, ...]) -> None:
    found: dict[str, set[str]] = {}
    for kind in family:
        for words in LANGUAGES.values():
            for phrase in getattr(words, kind).split():
                found.setdefault(folded(phrase), set()).add(kind)
    assert {phrase: kinds for phrase, kinds in found.items() if len(kinds) > 1} == {}


def test_every_kind_of_word_is_in_a_family() -> None:
    apart = {"number", "to", "by", "currency", "your", "representative"}
    assert {kind for family in FAMILIES for kind in family} | apart == {field.name for field in fields(BillWords)}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_words_for_a_total_and_what_it_is_paid_for(language: str) -> None:
    words = LANGUAGES[language]
    assert words.total
    assert words.tax
    assert words.bill
    for phrase in words.total.split():
        assert classify_key(phrase.replace("_", " ").replace("*", "")) in (AmountKeyword.TOTAL, AmountKeyword.GROSS)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("Grand-Total", ["gross"]),
        ("GRAND  TOTAL", ["gross"]),
        ("Subtotal, total", ["subtotal", "total"]),
        ("Totality of the grandtotals", []),
        ("MUSTER-TOTAL", []),
        ("TOTAL9.00", ["total"]),
        ("ＴＯＴＡＬ", ["total"]),
        ("NET À PAYER", ["to_pay"]),
        ("net a payer", ["to_pay"]),
        ("本日の合計金額", ["total"]),
        ("총 합계", ["total"]),
        ("ODEME TOPLAM", ["total"]),
        ("Итого к оплате", ["to_pay"]),
        ("الإجمالي", ["total"]),
        ("कुल राशि", ["total"]),
    ],
)
def test_phrases_are_found_whatever_their_form(line: str, kinds: list[str]) -> None:
    table = PhraseTable("gross", "subtotal", "to_pay", "total")
    assert [found.kind for found in table.find(folded(line))] == kinds


def test_a_phrase_stands_where_it_was_found() -> None:
    line = folded("Rechnungsbetrag, USt")
    assert [line[each.start : each.end] for each in PhraseTable("total", "tax").find(line)] == [
        "rechnungsbetrag",
        "ust",
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Sales tax", "Sales tax"),
        ("Straße 5: SALES TAX, 7 %", "SALES TAX"),
        ("Cafe\u0301 sales tax", "sales tax"),
        ("ﬁne Sales-Tax", "Sales-Tax"),
        ("각 sáles tax", "sáles tax"),
    ],
)
def test_a_phrase_stands_in_the_text_as_written(text: str, written: str) -> None:
    (found,) = PhraseTable("tax").find(folded(text))
    assert text[slice(*written_span(text, found.start, found.end))] == written


def test_an_expression_may_be_the_beginning_or_the_end_of_a_word() -> None:
    assert re.search(any_of("bill", ends=False), folded("Rechnungsnummer"))
    assert not re.search(any_of("bill"), folded("Rechnungsnummer"))
    assert re.search(any_of("number", starts=False), folded("Rechnungsnummer"))
    assert not re.search(any_of("number"), folded("Rechnungsnummer"))


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


def test_a_long_phrase_is_found_again_though_its_kind_is_not_kept() -> None:
    table, written = PhraseTable("bill"), "x" * 60 + "rechnung"
    assert [match.kind for match in table.find(f"{written} {written}")] == ["bill", "bill"]


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
