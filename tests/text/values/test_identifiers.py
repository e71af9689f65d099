"""Identifiers are compact, and judged where there is a checksum; ways to reach somebody have their standard form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.text.values.context import DocumentContext
from service.text.values.reading import READERS, read_tables, read_value, read_values

GERMAN = "Rechnung, Betrag und Datum, Straße"
ENGLISH = "Invoice for the order, due date of payment"


@pytest.mark.parametrize(
    ("text", "value", "valid"),
    [
        ("DE89 3704 0044 0532 0130 00", "DE89370400440532013000", True),
        ("de89 3704 0044 0532 0130 00", "DE89370400440532013000", True),
        ("DE89-3704-0044-0532-0130-00", "DE89370400440532013000", True),
        ("DE89370400440532013000", "DE89370400440532013000", True),
        ("IBAN: GB82 WEST 1234 5698 7654 32", "GB82WEST12345698765432", True),
        ("FR14 2004 1010 0505 0001 3M02 606", "FR1420041010050500013M02606", True),
        ("NL91ABNA0417164300", "NL91ABNA0417164300", True),
        ("PL61 1090 1014 0000 0712 1981 2874", "PL61109010140000071219812874", True),
        ("DE89 3704 0044 0532 0130 01", "DE89370400440532013001", False),
        ("DE89 3704 0044", "DE8937040044", False),
        ("88 1140 2004 0000 3102 7788 1420", "PL88114020040000310277881420", True),
        ("DE89 3704 0044.0532 0130 00", "DE89370400440532013000", True),
        ("DE89 3704 0044 0532,0130·00", "DE89370400440532013000", True),
        ("DE89 37O4 0044 O532 013O 00", "DE89370400440532013000", True),
        ("DE89 37O4 OO44 O532 013O 00", "DE8937O4OO44O532013O00", False),
        ("NL91 ABNA 04I7 1643 00", "NL91ABNA0417164300", True),
        ("NL20 1NGB 0001 2345 67", "NL20INGB0001234567", True),
    ],
)
def test_account_numbers(text: str, value: str, valid: bool) -> None:
    assert read_value("IBAN", text, DocumentContext("")) == Value(ValueKind.IBAN, value, valid=valid)


@pytest.mark.parametrize(
    ("text", "document", "value", "valid"),
    [
        ("DE 136 695 976", "", "DE136695976", True),
        ("DE136695977", "", "DE136695977", False),
        ("ATU13585627", "", "ATU13585627", True),
        ("FR 40 303 265 045", "", "FR40303265045", True),
        ("IT 00743110157", "", "IT00743110157", True),
        ("GB 980 7806 84", "", "GB980780684", True),
        ("EL 094259216", "", "EL094259216", True),
        ("NO 995 525 828 MVA", "", "NO995525828MVA", True),
        ("CHE-107.787.577 MWST", "", "CHE107787577MWST", True),
        ("CHE-123.456.788 MWST", "", "CHE123456788MWST", True),
        ("CHE-123.456.789", "", "CHE123456789", False),
        ("ESB58378431", "", "ESB58378431", True),
        ("712-019-55-83", "", "7120195583", None),
        ("856-734-62-15", "Warszawa, Polska; kwota 12,00 PLN", "8567346215", True),
        ("856-734-62-16", "Warszawa, Polska; kwota 12,00 PLN", "8567346216", False),
        ("16.727.230/0001-97", "São Paulo, Brasil, R$ 12,00 BRL", "16727230000197", True),
        ("12-3456789", "USA, USD 12.00", "123456789", None),
        ("21/815/08150", GERMAN, "2181508150", None),
    ],
)
def test_tax_numbers(text: str, document: str, value: str, valid: bool | None) -> None:
    assert read_value("TAX_ID", text, DocumentContext(document)) == Value(ValueKind.TAX_ID, value, valid=valid)


@pytest.mark.parametrize(
    ("text", "value", "valid"),
    [
        ("4111 1111 1111 1111", "4111111111111111", True),
        ("4111-1111-1111-1111", "4111111111111111", True),
        ("5500005555555559", "5500005555555559", True),
        ("3782 822463 10005", "378282246310005", True),
        ("4111 1111 1111 1112", "4111111111111112", False),
    ],
)
def test_payment_cards(text: str, value: str, valid: bool) -> None:
    assert read_value("ID_NUMBER", text, DocumentContext("")) == Value(ValueKind.CARD, value, valid=valid)


@pytest.mark.parametrize("text", ["4111111111111112", "9111 1111 1111 1111", "A-12345", "123456789"])
def test_other_numbers_are_no_payment_cards(text: str) -> None:
    assert read_value("ID_NUMBER", text, DocumentContext("")) == Value(ValueKind.TEXT, text)


@pytest.mark.parametrize(
    ("text", "document", "value", "valid"),
    [
        ("+49 30 1234567", "", "+49301234567", True),
        ("+1 (425) 555-0100", "", "+14255550100", True),
        ("tel: +44 20 7946 0958", "", "+442079460958", True),
        ("+49 (0)30 1234567", "", "+49301234567", True),
        ("+1 425 555 0100 ext. 12", "", "+14255550100;ext=12", True),
        ("0049 30 1234567", GERMAN, "+49301234567", True),
        ("030 / 123 45 67", GERMAN, "+49301234567", True),
        ("(425) 555-0100", ENGLISH, "+14255550100", True),
        ("020 7946 0958", "Invoice from London, United Kingdom", "+442079460958", True),
        ("01 42 68 53 00", "La facture est pour le client, rue de Paris", "+33142685300", True),
        ("03-1234-5678", "領収書です。東京都", "+81312345678", True),
        ("+999 12 34", "", None, None),
        ("030 1234567", "", None, None),
        ("1", GERMAN, None, None),
    ],
)
def test_telephone_numbers(text: str, document: str, value: str | None, valid: bool | None) -> None:
    found = read_value("PHONE", text, DocumentContext(document))
    assert found == (Value(ValueKind.TEXT, text) if value is None else Value(ValueKind.PHONE, value, valid=valid))


@pytest.mark.parametrize(
    ("label", "text", "kind", "value"),
    [
        ("EMAIL", "Jane.Doe@ACME.Example", ValueKind.EMAIL, "Jane.Doe@acme.example"),
        ("EMAIL", "jane@acme.example.", ValueKind.EMAIL, "jane@acme.example"),
        ("EMAIL", "mailto:a@b.de", ValueKind.EMAIL, "a@b.de"),
        ("EMAIL", "nobody", ValueKind.TEXT, "nobody"),
        ("EMAIL", "@", ValueKind.TEXT, "@"),
        ("URL", "https://Example.com/A", ValueKind.URL, "https://Example.com/A"),
        ("URL", "www.acme.example", ValueKind.URL, "www.acme.example"),
        ("BIC", "COBA DE FF XXX", ValueKind.BIC, "COBADEFFXXX"),
        ("BIC", "cobadeff", ValueKind.BIC, "COBADEFF"),
        ("BIC", "12345678", ValueKind.TEXT, "12345678"),
        ("PERSON", "Jane\n  Doe", ValueKind.TEXT, "Jane Doe"),
        ("IBAN", "none", ValueKind.TEXT, "none"),
        ("IBAN", "ABN", ValueKind.TEXT, "ABN"),
        ("IBAN", "XX12 3456 7890", ValueKind.TEXT, "XX12 3456 7890"),
        ("IBAN", "US1234567890", ValueKind.TEXT, "US1234567890"),
        ("IBAN", "FR76", ValueKind.TEXT, "FR76"),
        ("IBAN", "FR76 XXXX XXXX 739", ValueKind.TEXT, "FR76 XXXX XXXX 739"),
        ("IBAN", "DE89 **** **** 3000", ValueKind.TEXT, "DE89 **** **** 3000"),
        ("IBAN", "88 1140 2004 0000 3102 7788 1421", ValueKind.TEXT, "88 1140 2004 0000 3102 7788 1421"),
        ("TAX_ID", "exempt", ValueKind.TEXT, "exempt"),
    ],
)
def test_other_labels(label: str, text: str, kind: ValueKind, value: str) -> None:
    assert read_value(label, text, DocumentContext("")) == Value(kind, value)


def test_all_entities_of_a_document_are_read_in_its_context() -> None:
    text = "due 15/01/2026, sent 03/04/2025, paid 04/03/2025"
    entities = [Entity("DATE", text[a : a + 10], a, a + 10, 0.9) for a in (4, 21, 38)]
    values = read_values(DocumentContext(text), entities)
    assert [value.text for value in values] == ["2026-01-15", "2025-04-03", "2025-03-04"]


@given(st.sampled_from([*READERS, "PERSON"]), st.text(max_size=60), st.text(max_size=60))
@settings(deadline=None)
def test_any_text_has_a_value_without_line_breaks(label: str, text: str, document: str) -> None:
    read_tables()
    value = read_value(label, text, DocumentContext(document))
    assert "\n" not in value.text
    assert len(value.ambiguous) != 1
