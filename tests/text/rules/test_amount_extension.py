"""Amounts of the model are one number each, with the sign and the currency beside it."""

from __future__ import annotations

import pytest

from service.text.rules.amount_extension import missed_amounts, whole_amounts
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value
from tests.text.rules.test_span_extension import Marked, entities


@pytest.mark.parametrize(
    ("text", "part", "wanted"),
    [
        ("Lastschrift 89,90 -\nSaldo", "89,90", "89,90 -"),
        ("Storno 89,90 –", "89,90", "89,90 –"),
        ("Gutschrift 99,00 €-\n", "99,00 €", "99,00 €-"),
        ("Gutschrift 99,00 €-\n", "99,00", "99,00 €-"),
        ("Refund 12.50 CR", "12.50", "12.50 CR"),
        ("Refund 12.50Dr.\n", "12.50", "12.50Dr."),
        ("Net –1,037.03 EUR", "1,037.03 EUR", "–1,037.03 EUR"),
        ("Discount -$.50 now", "50", "-$.50"),
        ("Discount –€5.00 now", "€5.00", "–€5.00"),
        ("Total,€5.00 now", "€5.00", "€5.00"),
        ("Betrag ,89 €", "89 €", ",89 €"),
        ("1 50,00 100,00 -\n", "100,00", "100,00"),
        ("89,90 - 99,90", "89,90", "89,90"),
        ("10-20 EUR", "20 EUR", "20 EUR"),
        ("Fr.50 a", "50", "Fr.50"),
        ("12.50 CREDIT", "12.50", "12.50"),
        ("Net 5.00\n- Tax 1.00", "5.00", "5.00"),
        ("Total: (1,234.00)", "1,234.00", "(1,234.00)"),
        ("Total: (1,234.00) USD\nDate", "1,234.00) USD", "(1,234.00) USD"),
        ("Total: (1,234.00) USD", "1,234.00", "(1,234.00) USD"),
        ("Loss of (1,234.00) USD in 2025", "1,234.00) USD", "(1,234.00) USD"),
        ("Guthaben (1.234,00) EUR", "1.234,00) EUR", "(1.234,00) EUR"),
        ("Balance: $(1,234.00)", "1,234.00", "$(1,234.00)"),
        ("Saldo (1 234,00)€ heute", "1 234,00", "(1 234,00)€"),
        ("Total: ($ 1,234.00)", "$ 1,234.00", "($ 1,234.00)"),
        ("Total: (USD 1,234.00)", "USD 1,234.00", "(USD 1,234.00)"),
        ("Net loss\t(500)\t(20.00)", "500", "(500)"),
        ("Net loss   120.00 (80.00) (20.00)", "80.00", "(80.00)"),
        ("Net loss (1,234.00)", "1,234.00", "(1,234.00)"),
        ("Total due (EUR 500.00)", "EUR 500.00", "EUR 500.00"),
        ("the fee (EUR 500.00) is due", "EUR 500.00", "EUR 500.00"),
        ("the fee (500.00) is due", "500.00", "500.00"),
        ("VAT 20% (205.75)\n", "205.75", "205.75"),
        ("VAT (205.75) due", "205.75", "205.75"),
        ("Total incl. VAT (205.75)\n", "205.75", "205.75"),
    ],
)
def test_amounts_have_their_signs(text: str, part: str, wanted: str) -> None:
    (found,) = whole_amounts(text, entities(text, [("MONEY", part)]), DocumentContext(text))
    assert (found.text, text[found.start : found.end]) == (wanted, wanted)


def test_amounts_do_not_reach_into_each_other() -> None:
    text = "1.00-2.00 CR"
    model = entities(text, [("DATE", "1.00"), ("MONEY", "2.00"), ("PERSON", "CR")])
    assert whole_amounts(text, model, DocumentContext(text)) == model


@pytest.mark.parametrize(
    ("text", "part", "wanted"),
    [
        ("Total AED 1,234.50", "1,234.50", "AED 1,234.50"),
        ("Dubai\nTotal Dhs. 500.00", "500.00", "Dhs. 500.00"),
        ("5013 Bergen\nkr 1 234,50", "1 234,50", "kr 1 234,50"),
        ("8000 Aarhus C\nI alt 1.234,50 kr.", "1.234,50", "1.234,50 kr."),
        ("8001 Zürich\nTotal Fr. 1'234.50", "1'234.50", "Fr. 1'234.50"),
        ("Total IDR 1.250.000", "1.250.000", "IDR 1.250.000"),
        ("Tổng 45.000 đ", "45.000", "45.000 đ"),
        ("Karachi\nTotal Rs 2,50,000", "2,50,000", "Rs 2,50,000"),
        ("Total 1,234.500 KD", "1,234.500", "1,234.500 KD"),
        ("Att betala 1 234:50 kr\nMalmö", "1 234", "1 234:50 kr"),
        ("Razem 500 zł", "500", "500 zł"),
        ("Celkem 1 250 Kč", "1 250", "1 250 Kč"),
        ("Összesen 15 000 Ft", "15 000", "15 000 Ft"),
        ("Total 500 lei", "500", "500 lei"),
        ("Общо 150,00 лв.", "150,00", "150,00 лв."),
        ("Total S/ 120.50", "120.50", "S/ 120.50"),
        ("Total SR 500.00", "500.00", "SR 500.00"),
        ("المبلغ 500.00 ر.س", "500.00", "500.00 ر.س"),
        ("Total 500,00 DA", "500,00", "500,00 DA"),
        ("Cape Town, South Africa\nR 1 234,50", "1 234,50", "R 1 234,50"),
        ("Total TRY 4,50", "4,50", "TRY 4,50"),
        ("TRY\t4,50", "4,50", "4,50"),
        ("COFFEE CUP 4.50", "4.50", "4.50"),
        ("da 500,00", "500,00", "500,00"),
        ("le 12,50", "12,50", "12,50"),
        ("Total EUR 5.00 USD", "EUR 5.00", "EUR 5.00"),
        ("Calgary, AB T2P 1J9\n$ 5.00", "5.00", "$ 5.00"),
    ],
)
def test_amounts_have_their_currencies(text: str, part: str, wanted: str) -> None:
    (found,) = whole_amounts(text, entities(text, [("MONEY", part)]), DocumentContext(text))
    assert (found.text, text[found.start : found.end]) == (wanted, wanted)


@pytest.mark.parametrize(
    ("text", "marked", "wanted"),
    [
        ("TOTAL EUR\t12.03", [("NET_AMOUNT", "EUR"), ("TOTAL_AMOUNT", "12.03")], [("TOTAL_AMOUNT", "12.03")]),
        ("Total EUR 12.03", [("NET_AMOUNT", "EUR"), ("MONEY", "12.03")], [("NET_AMOUNT", "EUR 12.03")]),
        ("Total EUR: 12.03", [("MONEY", "EUR"), ("TOTAL_AMOUNT", "12.03")], [("TOTAL_AMOUNT", "EUR: 12.03")]),
        ("Total EUR 12.03 due", [("TOTAL_AMOUNT", "EUR")], [("TOTAL_AMOUNT", "EUR 12.03")]),
        ("EUR 2026", [("MONEY", "EUR"), ("DATE", "2026")], [("DATE", "2026")]),
        ("Betrag €\nMenge", [("TOTAL_AMOUNT", "€")], []),
        ("kr", [("MONEY", "kr")], []),
        ("five", [("MONEY", "five")], [("MONEY", "five")]),
        ("Moms 246:90 kr", [("NET_AMOUNT", "246"), ("TAX_AMOUNT", "90 kr")], [("NET_AMOUNT", "246:90 kr")]),
    ],
)
def test_the_word_of_a_currency_is_no_amount(text: str, marked: Marked, wanted: Marked) -> None:
    found = whole_amounts(text, entities(text, marked), DocumentContext(text))
    assert [(each.label, each.text) for each in found] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Deposit BHD 7.875 of the room", ["BHD 7.875"]),
        ("S/ 120.50", ["S/ 120.50"]),
        ("Dakar, Sénégal: 25 000 FCFA", ["25 000 FCFA"]),
        ("1.234,50 EUR oder USD 1,300.00", ["1.234,50 EUR", "USD 1,300.00"]),
        ("Total TRY 4.50", ["TRY 4.50"]),
        ("EUR 12 345 678 901 in all", ["EUR 12 345 678 901"]),
        ("COFFEE CUP 4.50, FOR ALL 12.50", []),
        ("ALL 1.50 " * 20_000, ["ALL 1.50"]),
        ("USD 5 and ABC 5.00 in ISO 27.001", []),
        ("Rev. A-EUR 5.00", []),
        ("Gain $ 271.79 $ 59.43", ["$ 271.79", "$ 59.43"]),
        ("EUR 12.50% and 1.2.2026 EUR", []),
    ],
)
def test_amounts_with_a_currency_that_the_model_missed_are_found(text: str, wanted: list[str]) -> None:
    context = DocumentContext(text)
    assert [text[each.start : each.end] for each in missed_amounts(text, [], context)] == wanted
    everything = entities(text, [("PERSON", text)])
    assert not missed_amounts(text, everything, context)


def test_many_amounts_with_spaces_are_read_in_bounded_time() -> None:
    text = "Invoice and the total\n" + "".join(f"1 278.{cents} EUR\n" for cents in range(10, 99)) * 200
    context = DocumentContext(text)
    assert {each.label for each in missed_amounts(text, [], context)} == {"MONEY"}
    assert context.grouped_numbers == frozenset()


ENGLISH, GERMAN, FRENCH = "Invoice and the total\n", "Die Rechnung und der Betrag\n", "La facture et le montant\n"


@pytest.mark.parametrize(
    ("text", "part", "wanted"),
    [
        ("GBP 300.00 GBP 240.00", "GBP 300.00 GBP 240.00", ["GBP 300.00", "GBP 240.00"]),
        ("300,00 € 240,00 €", "300,00 € 240,00 €", ["300,00 €", "240,00 €"]),
        ("40.39 319.00", "40.39 319.00", ["40.39", "319.00"]),
        (f"{ENGLISH}1 278.61 40.39", "1 278.61", ["278.61"]),
        (f"{ENGLISH}1 278.61 40.39", "1 278.61 40.39", ["278.61", "40.39"]),
        (f"{ENGLISH}1 278.61", "1 278.61", ["1 278.61"]),
        (f"{GERMAN}1 278,61 40,39", "1 278,61", ["278,61"]),
        (f"{GERMAN}1 278,61 40,39\nSumme 1.278,61", "1 278,61", ["1 278,61"]),
        (f"{FRENCH}1 278,61 40,39", "1 278,61", ["1 278,61"]),
        (f"{FRENCH}1 278,61 40,39 319,00", "1 278,61", ["278,61"]),
        (f"{FRENCH}1 065,51 213,10 1 278,61", "1 065,51", ["1 065,51"]),
        (f"{FRENCH}1 278,61 40,39", "1 278,61 40,39", ["1 278,61", "40,39"]),
        (f"{ENGLISH}2 278.610 557.220 KWD", "2 278.610", ["278.610"]),
        (f"{FRENCH}2 278,610 557,220 DT", "2 278,610", ["2 278,610"]),
        ("12 50 99", "12 50 99", ["12 50 99"]),
        ("5.00 to 6.00", "5.00 to 6.00", ["5.00 to 6.00"]),
        ("5.00\n6.00", "5.00\n6.00", ["5.00\n6.00"]),
    ],
)
def test_several_amounts_are_divided(text: str, part: str, wanted: list[str]) -> None:
    context = DocumentContext(text)
    found = whole_amounts(text, entities(text, [("TOTAL_AMOUNT", part)]), context)
    assert [each.text for each in found] == wanted
    assert len(found) == 1 or all(read_value(each.label, each.text, context).number for each in found)
