"""What the words before an amount say that it is, in the languages served."""

from __future__ import annotations

import pytest

from service.core.fields.amount_keywords import AmountKeyword, amount_keywords, classify_key, keyword_of_amount
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in

KEYS: dict[str | None, str] = {
    "total": "TOTAL | Total amount: | TOTAL SALES : | Gesamtbetrag | Montant total | Importe total | "
    "Totale documento | Valor total | Genel Toplam | I alt | Yhteensä | 合計 | 合计 | 합계 | الإجمالي | "
    "कुल योग | JUMLAH",
    "gross": "Grand Total  RM | TOTAL (INCLUSIVE OF GST) : | Total Sales Inclusive GST @6% | Amount incl. VAT | "
    "Total incl. 19,00 % VAT | Bruttosumme | Summe inkl. MwSt. | Total TTC | Total con IVA | "
    "Totaal incl. btw | 价税合计",
    "net": "TOTAL (EXCLUDING GST): | Total excl. | Rechnungssumme ohne USt. | TOTAL HT | Base imponible | "
    "Imponibile | Wartość netto | Celkem bez DPH",
    "subtotal": "Sub-Total | SUBTOTAL RM | Zwischensumme | 小計",
    "net_or_total": "Nett Total",
    "rounded": "TOTAL ROUNDED | TOTAL AFTER ROUNDING",
    "to_pay": "Balance due | TOTAL AMT PAYABLE | Zu zahlen | Zahlbetrag | NET A PAYER | Netto a pagare | "
    "Te betalen | Razem do zapłaty | Всего к оплате | Att betala | Total de plată",
    "tax": "GST @6% | Total GST | GST @6% included in total | inkl. 19 % MwSt. | zzgl. Umsatzsteuer 19 % | "
    "Total taxes | dont TVA 20 % | в том числе НДС | KDV | varav moms | 消費税(10%) | 부가세",
    "no_sum": "TOTAL QTY: 9 | Total discount | Gesamtbetrag der Abschläge | Erhaltene Anzahlungen",
    "rounding": "ROUNDING ADJ............",
    "paid": "CASH | Visa | Espèces",
    "change": "CHANGE DUE | Wechselgeld | お釣り",
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


def test_a_rounded_total_with_its_tax_is_the_rounded_one() -> None:
    assert classify_key("Rounded total incl. GST") is AmountKeyword.ROUNDED
