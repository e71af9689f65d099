"""Key-value fallback of a bill: what is written like a value, and which of it is kept."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from service.core.decoding.entities import Entity, Source
from service.core.fields import keyword_values
from service.core.fields.cells import Span
from service.core.fields.keyword_values import (
    ReadValue,
    SpanSet,
    amount_spans,
    count_spans,
    day_spans,
    identifier_spans,
)
from service.core.fields.lines import TextLines
from service.text.rules.span_extension import date_spans
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value


def reader_of(text: str) -> ReadValue:
    context = DocumentContext(text)
    return lambda label, part: read_value(label, part, context)


@pytest.mark.parametrize(
    ("span", "touches"),
    [
        ((0, 2), False),
        ((0, 3), True),
        ((3, 4), True),
        ((4, 9), True),
        ((5, 7), False),
        ((6, 8), True),
        ((9, 12), False),
    ],
)
def test_a_span_touches_what_it_overlaps(span: tuple[int, int], touches: bool) -> None:
    assert SpanSet([(7, 9), (2, 5)]).touch(span) is touches
    assert not SpanSet([]).touch(span)


def texts(text: str, spans: Iterable[Span]) -> list[str]:
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("TOTAL RM 9.00", ["RM 9.00"]),
        ("TOTAL RM9.00", ["RM9.00"]),
        ("TOTAL 9.00 SR", ["9.00"]),
        ("GST 6.00", ["6.00"]),
        ("Total: 1.234,50 €", ["1.234,50 €"]),
        ("Total: 1 234,50 €", ["1 234,50 €"]),
        ("Total 1,23,456.00", ["1,23,456.00"]),
        ("Total $5,738", ["$5,738"]),
        ("Total 5,738", ["5,738"]),
        ("合計:1200円", ["1200円"]),
        ("合計 ￥1,200-", ["￥1,200"]),
        ("Total:9.00 at 10:15", ["9.00"]),
        ("ADJ -0.01", ["-0.01"]),
        ("ADJ 0.04-", ["0.04-"]),
        ("ADJ (0.04)", ["(0.04)"]),
        ("ADJ (0.04 net", ["0.04"]),
        ("(total 0.04)", ["0.04"]),
        ("8 Unit(s) 4.55 € 10% 32.76 €", ["4.55 €", "32.76 €"]),
        ("7 % 22,00", ["22,00"]),
        ("19,00 % USt", []),
        ("12.03.2026 and 1.2.3 and 10:15", []),
        ("5 pieces (5), room 12, 2026", []),
        ("4 2 500.00", ["500.00"]),
        ("NO-17.50/A", []),
    ],
)
def test_amounts_have_decimals_groups_or_a_currency(text: str, wanted: list[str]) -> None:
    assert texts(text, amount_spans(reader_of(text), text)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("netto bis 04.04.2018, 3% Skonto bis 15.03.2018", ["04.04.2018", "15.03.2018"]),
        ("due 12 March 2026.", ["12 March 2026"]),
        ("le 12 mars 2026", ["12 mars 2026"]),
        ("2026年3月12日", ["2026年3月12日"]),
        ("March 2026, 04/2017, 2019", []),
        ("31/02/2024", []),
        ("03/04/2025", ["03/04/2025"]),
    ],
)
def test_days_are_dates_with_a_day(text: str, wanted: list[str]) -> None:
    assert texts(text, day_spans(reader_of(text), text, date_spans(text))) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("Avoir AV-2017-0005", ["AV-2017-0005"]), ("Nr:22497.", ["22497"]), ("INV/2026/17", ["INV/2026/17"]),
     ("a 12 word", []), ("Invoice", []), ("x" * 90 + "1", [])],
)  # fmt: skip
def test_identifiers_have_a_digit(text: str, wanted: list[str]) -> None:
    assert texts(text, identifier_spans(text)) == wanted


def test_counts_have_their_unit_and_stay_within_their_place() -> None:
    text = "9 Steak 5,5000 4 kg 7 % 22,00 3 Xyz"
    read = reader_of(text)
    assert texts(text, count_spans(read, text, (2, len(text)))) == ["4 kg", "22,00", "3"]
    assert texts(text, count_spans(read, text, (0, 2))) == ["9"]


def kept(text: str, *entities: tuple[str, str], most: int = 1_000) -> list[tuple[str, str]]:
    found, place = [], 0
    for label, part in entities:
        place = text.index(part, place)
        found.append(Entity(label, part, place, place + len(part), 0.9))
        place += len(part)
    result = keyword_values.keyword_values(TextLines(text[:most]), found, date_spans(text[:most]), reader_of(text))
    assert all(text[each.start : each.end] == each.text and each.source is Source.RULE for each in result)
    return [(each.label, each.text) for each in result]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Shop\nTOTAL  RM 9.00\nThanks", [("MONEY", "RM 9.00")]),
        ("Shop\nWidget 9.00", []),
        ("Zahlbar netto bis 04.04.2018, Skonto bis 15.03.2018", [("DATE", "04.04.2018"), ("DATE", "15.03.2018")]),
        ("Delivered 04.04.2018", [("DATE", "04.04.2018")]),
        ("Printed 04.04.2018", []),
        ("Invoice # 3 (progress billing)", [("ID_NUMBER", "3")]),
        ("Room # 3 or invoice 3", []),
        (
            "Leistungszeitraum: 01.03.2018 - 31.03.2018",
            [("DATE", "01.03.2018"), ("SUPPLY_DATE", "01.03.2018 - 31.03.2018"), ("DATE", "31.03.2018")],
        ),
        ("Période : mars 2018", [("SUPPLY_DATE", "mars 2018")]),
        ("Shop 01.03.2018 - 31.03.2018", []),
        ("Period\n01.03.2018\n31.03.2018", [("DATE", "01.03.2018")]),
        ("KID: 1234 56789", [("PAYMENT_REFERENCE", "1234 56789")]),
        ("Verwendungszweck: Rechnung 2018-4711", [("PAYMENT_REFERENCE", "2018-4711")]),
        ("Referenz\n21 00000 00003 13947 14300 09017", [("PAYMENT_REFERENCE", "21 00000 00003 13947 14300 09017")]),
        ("Avoir AV-2017-0005", [("ID_NUMBER", "AV-2017-0005")]),
        ("Facture liée AV-2017-0005", []),
        ("Invoice date 04.04.2018", [("DATE", "04.04.2018")]),
        ("Handelsrechnung (380) Nr. 471113 vom 13.06.2018", [("ID_NUMBER", "471113")]),
        ("Room 471113", []),
        ("Room: 471113", []),
        ("Invoice 12.50", []),
    ],
)
def test_a_value_is_kept_where_words_name_it(text: str, wanted: list[tuple[str, str]]) -> None:
    assert kept(text) == wanted


def test_what_the_model_has_found_stands() -> None:
    text = "Invoice INV-17, 04.04.2018, due 05.05.2018\nTotal 9.00 Tax 1.00"
    assert kept(text, ("INVOICE_ID", "17"), ("DUE_DATE", "05.05.2018"), ("TOTAL_AMOUNT", "9")) == [("MONEY", "1.00")]


def test_a_date_stands_beside_an_entity_that_is_none() -> None:
    text = "FATTURA N. 7 DEL 15 GENNAIO 2026"
    found = [("ID_NUMBER", "7"), ("DATE", "15 GENNAIO 2026")]
    assert kept(text, ("INVOICE_DATE", "7 DEL 15 GENNAIO 2026")) == found
    assert kept(text, ("INVOICE_DATE", "15 GENNAIO 2026")) == found[:1]


def test_an_amount_under_another_kind_of_label_is_kept() -> None:
    assert kept("Total 9.00", ("QUANTITY", "9.00")) == [("MONEY", "9.00")]


def test_the_numbers_of_a_row_are_kept() -> None:
    text = "Item Price Number Total\nSteak 5,5000 4 kg 7 %\n22,00\nof cattle 9,00"
    assert kept(text, ("LINE_ITEM", "Steak")) == [("MONEY", "5,5000"), ("QUANTITY", "4 kg"), ("MONEY", "22,00")]
    assert kept(text, ("LINE_ITEM", "Steak"), ("QUANTITY", "4"), ("MONEY", "22,00")) == [("MONEY", "5,5000")]


def test_a_count_before_a_description_is_kept() -> None:
    text = "Qty Item\n300 Copper washers 0.12 36.00\n2 4 kg Steak 1.00"
    assert kept(text, ("LINE_ITEM", "Copper washers"), ("LINE_ITEM", "Steak")) == [
        ("QUANTITY", "300"),
        ("MONEY", "0.12"),
        ("MONEY", "36.00"),
        ("QUANTITY", "2"),
        ("QUANTITY", "4 kg"),
        ("MONEY", "1.00"),
    ]


def test_a_row_ends_at_the_next_description() -> None:
    assert kept("Mount 1.00 Lens 2.00", ("LINE_ITEM", "Mount"), ("LINE_ITEM", "Lens")) == [
        ("MONEY", "1.00"),
        ("MONEY", "2.00"),
    ]


def test_the_first_of_many_values_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyword_values, "MOST_VALUES", 2)
    assert kept("Total 1.00\nTotal 2.00\nTotal 3.00") == [("MONEY", "1.00"), ("MONEY", "2.00")]
    assert kept("Total 1.00\nTotal 2.00", most=12) == [("MONEY", "1.00")]
    assert kept("Total 1.00\nTotal 2.00", ("LINE_ITEM", "2.00"), most=12) == [("MONEY", "1.00")]


def test_a_description_at_the_end_of_the_text_has_no_row() -> None:
    assert kept("Price 9.00\nSteak", ("LINE_ITEM", "Steak")) == []


def test_count_and_price_are_kept_apart_where_the_model_took_them_for_one() -> None:
    assert kept("Vitamins 2x21,50\t43,00", ("LINE_ITEM", "Vitamins"), ("MONEY", "2x21,50"), ("MONEY", "43,00")) == [
        ("QUANTITY", "2"),
        ("MONEY", "21,50"),
    ]
    apart = (("LINE_ITEM", "Tea"), ("QUANTITY", "2"), ("MONEY", "3,50"), ("MONEY", "7,00"))
    assert kept("Tea 2 x 3,50\t7,00", *apart) == []


def test_descriptions_are_kept_where_they_are_others_than_the_items() -> None:
    assert kept("Tea, 100 bags\t3,50", ("LINE_ITEM", "bags"), ("MONEY", "3,50")) == [("LINE_ITEM", "Tea, 100 bags")]
    assert kept("Tea\t3,50", ("LINE_ITEM", "Tea"), ("MONEY", "3,50")) == []
