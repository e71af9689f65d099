"""What the words before an amount say that it is, in the languages served."""

from __future__ import annotations

import pytest

from service.core.fields.amount_words import AmountWord, amount_word, word_for_amount, words_for_amounts
from service.core.fields.lines import TextLines
from tests.support.mentions import mentions_in


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("TOTAL", "total"),
        ("Total amount:", "total"),
        ("TOTAL SALES :", "total"),
        ("Grand Total  RM", "gross"),
        ("TOTAL (INCLUSIVE OF GST) :", "gross"),
        ("Total Sales Inclusive GST @6%", "gross"),
        ("Amount incl. VAT", "gross"),
        ("Total incl. 19,00 % VAT", "gross"),
        ("TOTAL (EXCLUDING GST):", "net"),
        ("Total excl.", "net"),
        ("Sub-Total", "subtotal"),
        ("SUBTOTAL RM", "subtotal"),
        ("Nett Total", "net_or_total"),
        ("TOTAL ROUNDED", "rounded"),
        ("TOTAL AFTER ROUNDING", "rounded"),
        ("Balance due", "to_pay"),
        ("TOTAL AMT PAYABLE", "to_pay"),
        ("GST @6%", "tax"),
        ("Total GST", "tax"),
        ("GST @6% included in total", "tax"),
        ("TOTAL QTY: 9", "no_sum"),
        ("Total discount", "no_sum"),
        ("ROUNDING ADJ............", "rounding"),
        ("CASH", "paid"),
        ("Visa", "paid"),
        ("CHANGE DUE", "change"),
        ("Amount", None),
        ("Widget, large", None),
        ("the total of all loans that were granted to the borrower exceeds", None),
        ("Gesamtbetrag", "total"),
        ("Rechnungssumme ohne USt.", "net"),
        ("Bruttosumme", "gross"),
        ("Zu zahlen", "to_pay"),
        ("Zahlbetrag", "to_pay"),
        ("Zwischensumme", "subtotal"),
        ("inkl. 19 % MwSt.", "tax"),
        ("Summe inkl. MwSt.", "gross"),
        ("zzgl. Umsatzsteuer 19 %", "tax"),
        ("Gesamtbetrag der Abschläge", "no_sum"),
        ("Erhaltene Anzahlungen", "no_sum"),
        ("Wechselgeld", "change"),
        ("Montant total", "total"),
        ("Total TTC", "gross"),
        ("TOTAL HT", "net"),
        ("Total taxes", "tax"),
        ("NET A PAYER", "to_pay"),
        ("dont TVA 20 %", "tax"),
        ("Espèces", "paid"),
        ("Importe total", "total"),
        ("Base imponible", "net"),
        ("Total con IVA", "gross"),
        ("Totale documento", "total"),
        ("Netto a pagare", "to_pay"),
        ("Imponibile", "net"),
        ("Totaal incl. btw", "gross"),
        ("Te betalen", "to_pay"),
        ("Valor total", "total"),
        ("Razem do zapłaty", "to_pay"),
        ("Wartość netto", "net"),
        ("Celkem bez DPH", "net"),
        ("Всего к оплате", "to_pay"),
        ("в том числе НДС", "tax"),
        ("Genel Toplam", "total"),
        ("KDV", "tax"),
        ("Att betala", "to_pay"),
        ("varav moms", "tax"),
        ("I alt", "total"),
        ("Yhteensä", "total"),
        ("Total de plată", "to_pay"),
        ("合計", "total"),
        ("小計", "subtotal"),
        ("消費税(10%)", "tax"),
        ("お釣り", "change"),
        ("价税合计", "gross"),
        ("合计", "total"),
        ("합계", "total"),
        ("부가세", "tax"),
        ("الإجمالي", "total"),
        ("कुल योग", "total"),
        ("JUMLAH", "total"),
    ],
)
def test_a_key_says_what_its_amount_is(key: str, word: str | None) -> None:
    assert amount_word(key) == word


@pytest.mark.parametrize(
    ("text", "amount", "word"),
    [
        ("Total  9.00", "9.00", AmountWord.TOTAL),
        ("Saving: 1.00 TOTAL 9.00", "9.00", AmountWord.TOTAL),
        ("TOTAL :  80.91  0.00", "80.91", None),
        ("TOTAL :  80.91  0.00", "0.00", None),
        ("Net total 20.00 € Tax Total 4.00 €", "20.00 €", AmountWord.NET_OR_TOTAL),
        ("Net total 20.00 € Tax Total 4.00 €", "4.00 €", AmountWord.TAX),
        ("TOTAL\n9.00", "9.00", AmountWord.TOTAL),
        ("ROUNDING  -0.01\n9.00", "9.00", None),
        ("Qty  Price  Total\n2  1.00  2.00", "2.00", None),
    ],
)
def test_the_key_of_an_amount_is_nearest_to_it(text: str, amount: str, word: AmountWord | None) -> None:
    start = text.index(amount)
    assert word_for_amount(TextLines(text), start, start + len(amount)) == word


def test_beside_a_description_words_speak_of_the_goods() -> None:
    text = "Total care shampoo 9.00\nTotal 9.00"
    found = mentions_in(text, ("LINE_ITEM", "Total care shampoo"), ("MONEY", "9.00"), ("MONEY", "9.00"))
    assert words_for_amounts(found, TextLines(text)) == {2: AmountWord.TOTAL}


def test_a_rounded_total_with_its_tax_is_the_rounded_one() -> None:
    assert amount_word("Rounded total incl. GST") is AmountWord.ROUNDED
