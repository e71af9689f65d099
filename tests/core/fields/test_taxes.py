"""Taxes of a page: rates, bases and amounts as bills of many countries write them."""

from __future__ import annotations

import re
import time
from decimal import Decimal

import pytest

from service.core.fields.amount_keywords import AmountKeyword, amount_keywords
from service.core.fields.keyword_values import amount_spans
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention, amount, derived_amount
from service.core.fields.tax_rows import Tax, is_rate_of, states_tax
from service.core.fields.taxes import MOST_TAXES, find_taxes, settled_taxes
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value
from tests.support.mentions import mention

Rows = list[tuple[str | None, str | None, str | None]]


def sums_of(text: str, *goods: str) -> list[Mention]:
    """Mentions of the amounts of a text, and of goods in it."""
    context = DocumentContext(text)
    spans = [("MONEY", span) for span in amount_spans(lambda label, part: read_value(label, part, context), text)]
    spans += [("LINE_ITEM", (at, at + len(name))) for name in goods for at in (text.index(name),)]
    return [
        Mention(index, label, text[start:end], start, end, 0.9, read_value(label, text[start:end], context))
        for index, (label, (start, end)) in enumerate(sorted(spans, key=lambda each: each[1]))
    ]


def taxes_of(text: str, *goods: str) -> tuple[Tax, ...]:
    mentions, lines = sums_of(text, *goods), TextLines(text)
    return find_taxes(mentions, lines, amount_keywords(mentions, lines))


def rows(taxes: tuple[Tax, ...]) -> Rows:
    """Rate, base and tax as numbers."""
    return [
        (
            None if tax.percent is None else f"{tax.percent:f}",
            None if tax.base is None else str(amount(tax.base)),
            None if tax.amount is None else str(amount(tax.amount)),
        )
        for tax in taxes
    ]


@pytest.mark.parametrize(
    ("text", "taxes"),
    [
        ("VAT 20% on 100.00: 20.00", [("20", "100.00", "20.00")]),
        ("MwSt 19% auf 200,00 EUR 38,00 EUR", [("19", "200.00", "38.00")]),
        ("zzgl. 7 % USt auf 480,83\t33,66", [("7", "480.83", "33.66")]),
        ("A 19%\t7,34\t1,39\t8,73\nB 7%\t12,13\t0,85\t12,98", [("19", "7.34", "1.39"), ("7", "12.13", "0.85")]),
        ("TVA 5,5 %\t752,00\t41,36\nTVA 20 %\t145,00\t29,00", [("5.5", "752.00", "41.36"), ("20", "145.00", "29.00")]),
        ("TPS 5 %\t50,00\nTVQ 9,975 %\t99,75", [("5", None, "50.00"), ("9.975", None, "99.75")]),
        ("CGST 9%\t8,527.50\nSGST 9%\t8,527.50", [("9", None, "8527.50"), ("9", None, "8527.50")]),
        ("IGST @18% on 94,750.00\t17,055.00", [("18", "94750.00", "17055.00")]),
        (
            "10%対象 ¥28,800 消費税\t¥2,880\n8%対象 ¥14,280 消費税\t¥1,142",
            [("10", "28800", "2880"), ("8", "14280", "1142")],
        ),
        ("8%対象 ¥14,280 (内消費税 ¥1,058)", [("8", None, "1058")]),
        ("MWST 8.1%\t186.00\t15.07\nMWST 2.6%\t50.00\t1.30", [("8.1", "186.00", "15.07"), ("2.6", "50.00", "1.30")]),
        ("8.1\t186.00\t15.07\n2.6\t50.00\t1.30", [("8.1", "186.00", "15.07"), ("2.6", "50.00", "1.30")]),
        ("State tax 6.25%\t62.50\nCounty tax 2%\t20.00", [("6.25", None, "62.50"), ("2", None, "20.00")]),
        (
            "IVA 21 % s/ 300,00\t63,00\nRecargo de equivalencia 5,2 %\t300,00\t15,60",
            [("21", "300.00", "63.00"), ("5.2", "300.00", "15.60")],
        ),
        ("Taxa 23%\tIncidência 100,00\tIVA 23,00", [("23", "100.00", "23.00")]),
        ("23%\t100,00\t23,00\t123,00\nzw\t40,00\t0,00\t40,00", [("23", "100.00", "23.00"), ("0", "40.00", "0.00")]),
        ("Hesaplanan KDV(%20)\t1.536,00 TL", [("20", None, "1536.00")]),
        ("Imponibile 10 %\t321,82\nIVA 10 %\t32,18", [("10", "321.82", "32.18")]),
        ("BTW verlegd\t€ 0,00", [("0", None, "0.00")]),
        ("Imposta di soggiorno (esente)\t21,00", [("0", "21.00", None)]),
        ("Umsatz 0 %\t50,00", [("0", "50.00", None)]),
        ("GST 5.00\nQST 9.98", [(None, None, "5.00"), (None, None, "9.98")]),
        ("Netto 20%\t50.00", [("20", "50.00", None)]),
        ("Rate 20%\tVAT 10.00\tdue 120.00", [("20", None, "10.00")]),
    ],
)
def test_a_row_states_a_rate_its_base_and_its_tax(text: str, taxes: Rows) -> None:
    assert rows(taxes_of(text)) == taxes


@pytest.mark.parametrize(
    ("text", "taxes"),
    [
        ("7 % USt\t14,00\n19 % USt\t57,00\nUSt gesamt\t71,00", [("7", None, "14.00"), ("19", None, "57.00")]),
        ("19 % MwSt\t57,00\nSatz 19 %\t300,00\t57,00", [("19", "300.00", "57.00")]),
        ("VAT Net 20%\t8.50\nVAT 20%\t1.70\nVAT 20%\t10.20", [("20", "8.50", "1.70")]),
        ("VAT 20%\t1.70\nVAT\t1.70", [("20", None, "1.70")]),
        ("VAT\t1.70\nVAT\t1.70", [(None, None, "1.70")]),
        ("Netto 19 %\t376,37\n19 % MwSt.\t376,37\t71,51\t447,88", [("19", "376.37", "71.51")]),
        ("GST\t5.00\nPST\t7.00\nTotal tax\t12.00", [(None, None, "5.00"), (None, None, "7.00")]),
    ],
)
def test_a_tax_that_is_stated_again_counts_once(text: str, taxes: Rows) -> None:
    assert rows(taxes_of(text)) == taxes


@pytest.mark.parametrize(
    "text",
    [
        "2 % Skonto auf 1.000,00 EUR\t20,00 EUR",
        "Rabatt 10 %\t100,00\t10,00",
        "Ritenuta d'acconto 20 %\t300,00\t60,00",
        "Service charge 12.5%\t40.00\t5.00",
        "Interest of 60% on 10.00\t6.00",
        "Total incl. 20% VAT\t120.00",
        "Rate 20%\t120.00\tand\t130.00",
        "19 %",
    ],
)
def test_other_percentages_are_no_taxes(text: str) -> None:
    assert rows(taxes_of(text)) == []


def test_a_row_of_goods_is_no_tax() -> None:
    text = "Chair 20%\t100.00\t20.00\nVAT 20%\t100.00\t20.00"
    assert rows(taxes_of(text, "Chair")) == [("20", "100.00", "20.00")]
    assert rows(taxes_of(text, "Chair", "VAT"))[0][2] == "20.00"


@pytest.mark.parametrize(
    ("text", "taxes"),
    [
        ("Net amount\tVAT 20 %\tTotal\n100.00\t20.00\t120.00", [("20", None, "20.00")]),
        ("VAT 20 %\n20.00", [("20", None, "20.00")]),
        ("TPS 5 % (nº 81234 5678\n107,20 $\nRT0001)", [("5", None, "107.20")]),
        ("TPS 5 % 8,00 (nº 81234 5678\n107,20 $\nRT0001)", [("5", None, "8.00")]),
        ("Net amount 20 %\tTotal\n100.00\t120.00", [("20", "100.00", None)]),
        ("BASE\t% IVA\tCUOTA IVA\n192,72\t21,00\t40,47", [("21.00", "192.72", "40.47")]),
        ("BASE\tX\tIMPORTE\n192,72\t21,00\t40,47", []),
    ],
)
def test_an_amount_in_a_column_or_alone_has_the_rate_above(text: str, taxes: Rows) -> None:
    assert rows(taxes_of(text)) == taxes


@pytest.mark.parametrize(
    ("rows_of_text", "named"),
    [
        (
            "KWOTA A 23,00%\t3,53\nKWOTA B 8,00%\t4,30\nSUMA PTU\t7,83",
            [("23.00", None, "3.53"), ("8.00", None, "4.30")],
        ),
        ("KWOTA A 23,00%\t3,53\nKWOTA B 8,00%\t4,30\nSUMA PTU\t9,83", [(None, None, "9.83")]),
    ],
)
def test_amounts_behind_rates_are_taxes_where_their_sum_is_called_one(rows_of_text: str, named: Rows) -> None:
    taxes = tuple(tax for tax in taxes_of(rows_of_text) if tax.is_named)
    assert rows(taxes) == named


@pytest.mark.parametrize(
    ("text", "net", "tax", "total", "taxes"),
    [
        ("Chair 20 %\nDesk 20 %", "100.00", "20.00", "120.00", [("20", "100.00", "20.00")]),
        ("Chair 7 %", "100.00", "20.00", "120.00", [(None, None, "20.00")]),
        ("Stuhl 19 %\nRabatt 5 %", "100,00", "19,00", None, [("19", "100.00", "19.00")]),
        ("Members get 5 % off at the bar", "20.00", "2.00", "22.00", [(None, None, "2.00")]),
        ("Discount for members 20 %", "100.00", "20.00", "120.00", [(None, None, "20.00")]),
        ("2 % Skonto in 10 Tagen", "100,00", "2,00", "102,00", [(None, None, "2.00")]),
        ("Remise 10 %\nTaux 10 %", "50,00", "5,00", "55,00", [("10", "50.00", "5.00")]),
        ("Rate 9.97 %\nRate 9.98 %", "100.00", "9.98", None, [(None, None, "9.98")]),
        ("Discount 15 %\nRate 20 %", None, "10.00", "60.00", [("20", None, "10.00")]),
        ("Rate 15 %", None, "9.00", "60.00", [(None, None, "9.00")]),
        ("Rate 15 %", None, "9.00", None, [(None, None, "9.00")]),
        ("Rate 15 %", "60.00", "0.00", None, [(None, None, "0.00")]),
    ],
)
def test_the_rate_of_the_only_tax_is_the_only_percentage_that_fits(
    text: str, net: str | None, tax: str, total: str | None, taxes: Rows
) -> None:
    rates = [
        mention(number, "PERCENT", match[0], match.start())
        for number, match in enumerate(re.finditer("[0-9.]+ %", text))
    ]
    sums = [mention(90, "MONEY", each, 900) if each else None for each in (net, tax, total)]
    assert rows(settled_taxes((), TextLines(text), sums[0], sums[1], rates, sums[2])) == taxes


@pytest.mark.parametrize(
    ("text", "total", "taxes"),
    [("Reverse charge applies", "60.00", [("0", "60.00", None)]), ("nothing", "60.00", [])],
)
def test_without_a_net_the_total_is_the_base_where_there_is_no_tax(text: str, total: str, taxes: Rows) -> None:
    assert rows(settled_taxes((), TextLines(text), None, None, (), mention(1, "MONEY", total, 900))) == taxes


def test_the_number_of_taxes_is_limited() -> None:
    line = " ".join("19 % VAT {}.07" for _ in range(22))
    text = "\n".join(line.format(*range(200 + 22 * row, 222 + 22 * row)) for row in range(250))
    mentions, lines = sums_of(text), TextLines(text)
    began = time.process_time()
    assert len(find_taxes(mentions, lines, dict.fromkeys(range(len(mentions)), AmountKeyword.TAX))) == MOST_TAXES
    assert time.process_time() - began < 3


def test_a_tax_knows_the_sum_that_it_is_part_of() -> None:
    base, tax, gross = (mention(at, "MONEY", text, 9 * at) for at, text in enumerate(("100.00", "20.00", "120.00")))
    sums = [Tax(None, base, tax), Tax(None, None, tax, gross), Tax(None, base), Tax(None, None, tax)]
    assert [each.with_tax for each in sums] == [Decimal("120.00"), Decimal("120.00"), None, None]
    assert not Tax(None, base, tax).fits(Decimal(100))


def test_an_amount_behind_a_rate_that_nothing_calls_a_tax_is_not_named() -> None:
    assert [tax.is_named for tax in taxes_of("Satz 19 %\t57,00")] == [False]


@pytest.mark.parametrize(
    ("rate", "base", "tax", "fits"),
    [
        ("19", "100.00", "19.00", True),
        ("19", "99.99", "19.00", True),
        ("8.1", "1000.00", "81.10", True),
        ("19", "100.00", "19.10", False),
        ("8", "14280", "1142", True),
        ("8", "14280", "1140", False),
        ("10", "305", "30", True),
        ("8", "305", "24", True),
        ("10", "20.00", "2.00", True),
        ("5", "20.00", "2.00", False),
        ("20", "100.00", "19.00", False),
        ("20", "100", "19", False),
        ("19", "2", "1", False),
        ("2", "50.00", "2.00", False),
        ("7", "5.00", "1.00", False),
        ("0", "100.00", "0.00", True),
        ("100", "5.00", "5.00", False),
    ],
)
def test_a_tax_is_its_rate_of_the_base_up_to_rounding(rate: str, base: str, tax: str, fits: bool) -> None:
    assert is_rate_of(Decimal(rate), Decimal(base), Decimal(tax)) is fits


@pytest.mark.parametrize(
    ("text", "net", "tax", "taxes"),
    [
        ("VAT 20%\t20.00", "100.00", "20.00", [("20", "100.00", "20.00")]),
        ("VAT 20%\t20.00", "90.00", "20.00", [("20", None, "20.00")]),
        ("VAT 20%\t20.00\nVAT 10%\t9.00", "100.00", "20.00", [("20", "100.00", "20.00")]),
        ("VAT 20%\t20.00\nVAT 10%\t9.00", "100.00", "30.00", [(None, None, "30.00")]),
        ("VAT 20%\t20.00\nVAT 10%\t9.00", None, None, [("20", None, "20.00"), ("10", None, "9.00")]),
        ("Satz 20 %\t20.00", "100.00", None, []),
        ("nothing", None, "0.00", [(None, None, "0.00")]),
        ("Reverse charge applies", "100.00", None, [("0", "100.00", None)]),
        ("Kein Ausweis von Umsatzsteuer (§ 19 UStG, Kleinunternehmerin)", "9.00", None, [("0", "9.00", None)]),
        ("TVA non applicable, art. 293 B du CGI", "9.00", None, [("0", "9.00", None)]),
        ("a zw b", "9.00", None, []),
    ],
)
def test_taxes_agree_with_the_bill_s_tax(text: str, net: str | None, tax: str | None, taxes: Rows) -> None:
    found = taxes_of(text)
    stated = {value: mention(90, "MONEY", value, 900) for value in (net, tax) if value}
    of_row = next((each.amount for each in found if tax and each.amount and each.tax == Decimal(tax)), None)
    settled = settled_taxes(found, TextLines(text), stated.get(net or ""), of_row or stated.get(tax or ""))
    assert rows(settled) == taxes


def test_a_computed_sum_is_no_tax_of_its_own() -> None:
    computed = derived_amount("TAX_AMOUNT", Decimal("5.00"), [])
    assert settled_taxes((), TextLines("nothing"), None, computed) == ()
    assert (computed.text, computed.value.text, computed.score) == ("", "5.00", 0.0)


@pytest.mark.parametrize(
    ("text", "has"), [("VAT 20 %", True), ("zw", True), ("Umsatzsteuer (S)", True), ("Total 20.00", False)]
)
def test_a_line_of_taxes_names_one_has_a_rate_or_says_that_there_is_none(text: str, has: bool) -> None:
    assert states_tax(text) is has
