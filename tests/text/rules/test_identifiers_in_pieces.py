"""Identifiers over line ends, cells, boxes and invisible characters are found whole where their checksum holds."""

from __future__ import annotations

import time

import pytest

from service.text.rules.rule_set import FINDERS, RuleSet
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value

RULES = RuleSet(find=tuple(FINDERS))
LABELS = {label for label, _ in FINDERS.values()}
IBAN = ("IBAN", "DE89370400440532013000")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Konto DE89 3704 0044\n0532 0130 00 bei", [IBAN]),
        ("Konto DE89 3704 0044 0532\r\n  0130 00", [IBAN]),
        ("IBAN DE89\t3704\t0044\t0532\t0130\t00\n", [IBAN]),
        ("IBAN | DE89 | 3704 | 0044 | 0532 | 0130 | 00 |", [IBAN]),
        ("IBAN D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0", [IBAN]),
        ("IBAN\n" + "\n".join("DE89370400440532013000") + "\n", [IBAN]),
        ("IBAN: DE89 3704 0044 0532 0130 00BIC COBADEFFXXX", [IBAN, ("BIC", "COBADEFFXXX")]),
        ("IBANDE89370400440532013000", [IBAN]),
        ("DE89\u200b3704\u200b0044\u00ad0532\u20600130\ufeff00", [IBAN]),
        ("Compte FR14 2004 1010 0505\n0001 3M02 606", [("IBAN", "FR1420041010050500013M02606")]),
        ("jane.\u00addoe@\u200bacme.example", [("EMAIL", "jane.doe@acme.example")]),
        ("+49\u200b 89 \u00ad1234567", [("PHONE", "+49891234567")]),
        ("Tel. +49 89 1234-\n5678", [("PHONE", "+498912345678")]),
        ("VAT DE 136 695\n976", [("TAX_ID", "DE136695976")]),
        ("Card 4111 1111\n1111 1111", [("ID_NUMBER", "4111111111111111")]),
        ("DE89 3704 0044 0532 0130 00\nGB33BUKB20201555555555", [IBAN, ("IBAN", "GB33BUKB20201555555555")]),
        ("VAT DE136695976\n12345", [("TAX_ID", "DE136695976")]),
        ("Kunde DE 12\n34567 Berlin", []),
        ("Code DE89 3704 0044\n0532 0130 01", []),
    ],
)  # fmt: skip
def test_identifiers_in_pieces(text: str, wanted: list[tuple[str, str]]) -> None:
    context = DocumentContext(text)
    found = RULES.apply(context, [], LABELS, LABELS)
    assert [(each.label, read_value(each.label, each.text, context).text) for each in found] == wanted
    assert all(text[each.start : each.end] == each.text for each in found)
    assert all(read_value(each.label, each.text, context).valid is not False for each in found)


@pytest.mark.parametrize("unit", ["A ", "A B 1\t\n 2\t", "3704\n", "DE89 ", "D\t", "4111\n"])
def test_pieces_that_never_end_take_linear_time(unit: str) -> None:
    begin = time.perf_counter()
    RULES.apply(DocumentContext("DE89 "), [], LABELS, LABELS)
    text = "IBAN DE89 " + unit * (200_000 // len(unit))
    RULES.apply(DocumentContext(text), [], LABELS, LABELS)
    assert time.perf_counter() - begin < 10
