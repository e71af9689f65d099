"""What an invoice's XML states of a text: labels by part, the model's entities in other words, and labels of a page."""

from __future__ import annotations

from decimal import Decimal

import pytest

from service.core.decoding.entities import Entity
from service.core.decoding.value import Value, ValueKind
from service.core.fields.electronic_invoice import invoice_fields
from service.core.fields.stated_entities import CONTACT_SCORE, restated_labels, stated_entities, within_parts
from service.core.fields.stated_invoice import ElectronicInvoice, InvoiceRow, StatedPart, StatedTax, are_sound
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value
from tests.support.mentions import mentions_in

MODEL = (
    "SUPPLIER_NAME",
    "RECEIVER_NAME",
    "ORGANIZATION",
    "PERSON",
    "MONEY",
    "INVOICE_ID",
    "ID_NUMBER",
    "IBAN",
    "LINE_ITEM",
)
TEXT = (
    "Supplier: Alpenglas KG\nBill to: Hotel Hirsch\nContact: Sepp Maier\nLamp, mounted by Jo Roth\nCountry: DE\n"
    "Note: pay Alpenglas KG, not Nord AG\nVAT ID: DE129273398\nIBAN: DE11100110012620778870\n"
)


def part(words: str, label: str = "", text: str = TEXT) -> StatedPart:
    start = text.index(words)
    return StatedPart(start, start + len(words), label)


PARTS = (
    part("Alpenglas KG", "SUPPLIER_NAME"),
    part("Hotel Hirsch", "RECEIVER_NAME"),
    part("Sepp Maier", "PERSON"),
    part("Lamp, mounted by Jo Roth", "LINE_ITEM"),
    part("pay Alpenglas KG, not Nord AG"),
    part("DE129273398", "TAX_ID"),
    part("DE11100110012620778870", "IBAN"),
)


def model_found(*found: tuple[str, str], text: str = TEXT) -> list[Entity]:
    """Entities of the model: label, and the text from one place on, or behind `|`."""
    entities = []
    for label, words in found:
        before, _, own = words.rpartition("|")
        start = text.index(before + own) + len(before)
        entities.append(Entity(label, own, start, start + len(own), 0.4))
    return entities


def said(*found: tuple[str, str], answered: tuple[str, ...] = MODEL) -> list[tuple[str, str, str, float]]:
    def read(label: str, words: str) -> Value:
        return read_value(label, words, DocumentContext(TEXT))

    entities = stated_entities(TEXT, PARTS, model_found(*found), answered, read)
    assert all(TEXT[each.start : each.end] == each.text for each in entities)
    assert entities == sorted(entities, key=lambda each: each.start)
    return [(each.label, each.text, each.source, each.score) for each in entities]


def test_what_the_xml_states_has_its_labels_whatever_the_model_says() -> None:
    assert said(("RECEIVER_NAME", "Alpenglas KG"), ("SUPPLIER_NAME", "Bill"), ("ORGANIZATION", "DE")) == [
        ("SUPPLIER_NAME", "Alpenglas KG", "embedded", 1.0),
        ("RECEIVER_NAME", "Hotel Hirsch", "embedded", 1.0),
        ("PERSON", "Sepp Maier", "embedded", CONTACT_SCORE),
        ("LINE_ITEM", "Lamp, mounted by Jo Roth", "embedded", 1.0),
        ("IBAN", "DE11100110012620778870", "embedded", 0.4),
    ]


def test_a_label_that_the_model_lacks_is_the_general_one_or_none() -> None:
    labels = [label for label, *_ in said(answered=("ORGANIZATION", "tax-id"))]
    assert labels == ["ORGANIZATION", "ORGANIZATION", "tax-id"]
    assert [label for label, *_ in said(answered=("supplier name", "Receiver_Name"))] == [
        "supplier name",
        "Receiver_Name",
    ]
    assert said(answered=()) == []


@pytest.mark.parametrize(
    ("label", "words", "expected"),
    [
        ("RECEIVER_NAME", "pay |Alpenglas KG", ("SUPPLIER_NAME", "Alpenglas KG")),
        ("SUPPLIER_NAME", "not |Nord AG", ("ORGANIZATION", "Nord AG")),
        ("PARTY", "not |Nord AG", ("ORGANIZATION", "Nord AG")),
        ("MONEY", "not |Nord AG", ("MONEY", "Nord AG")),
        ("IBAN", "not |Nord AG", ("IBAN", "Nord AG")),
        ("INVOICE_ID", "not |Nord AG", ("INVOICE_ID", "Nord AG")),
        ("ORGANIZATION", "Note: pay", ("ORGANIZATION", "pay")),
    ],
)
def test_in_other_words_no_entity_takes_a_role_that_is_stated(
    label: str, words: str, expected: tuple[str, str]
) -> None:
    assert (*expected, "model", 0.4) in said((label, words))


def test_a_role_without_a_general_label_is_no_entity_of_other_words() -> None:
    found = said(("SUPPLIER_NAME", "not |Nord AG"), answered=("SUPPLIER_NAME",))
    assert [text for _, text, *_ in found] == ["Alpenglas KG"]


def test_a_contact_and_a_person_in_a_row_are_what_the_model_found() -> None:
    found = said(("ORGANIZATION", "Sepp Maier"), ("MONEY", "Lamp"), ("PERSON", "Jo Roth"))
    assert ("ORGANIZATION", "Sepp Maier", "model", 0.4) in found
    assert ("PERSON", "Jo Roth", "model", 0.4) in found
    assert "LINE_ITEM" not in [label for label, *_ in found]


def test_entities_are_cut_at_the_ends_of_parts_and_left_out_between() -> None:
    found = model_found(
        ("PERSON", "to: Hotel"), ("PERSON", "Country: DE"), ("PERSON", "KG\nBill to: Hotel Hirsch\nContact")
    )
    assert [each.text for each in within_parts(TEXT, PARTS, found)] == ["KG", "Hotel", "Hotel Hirsch"]


@pytest.mark.parametrize(
    ("parts", "sound"),
    [((), True), (((0, 2), (2, 5)), True), (((0, 6),), False), (((2, 3), (0, 1)), False), (((3, 2),), False)],
)
def test_parts_are_in_order_within_the_text(parts: tuple[tuple[int, int], ...], *, sound: bool) -> None:
    assert are_sound([StatedPart(*each) for each in parts], 5) is sound


def text_of(value: str) -> Value:
    return Value(ValueKind.TEXT, value)


def money(number: str) -> Value:
    return Value(ValueKind.MONEY, f"{number} EUR", number=Decimal(number), unit="EUR")


PAGE = "Alpenglas KG an Hotel Hirsch, Glas 100,00 EUR, MwSt 19,00 EUR, 119,00 EUR, Alpenglas KG, Bank AG, R-7 von R-8"
STATED = {
    "SUPPLIER_NAME": text_of("Alpenglas KG"),
    "RECEIVER_NAME": text_of("Hotel Hirsch"),
    "TOTAL_AMOUNT": money("119.00"),
    "INVOICE_ID": text_of("R-9"),
}
TAXES = (StatedTax(None, money("100.00"), money("19.00")),)


@pytest.mark.parametrize(
    ("label", "words", "expected"),
    [
        ("RECEIVER_NAME", "Alpenglas KG", ("SUPPLIER_NAME", True)),
        ("SUPPLIER_NAME", "Alpenglas KG", ("SUPPLIER_NAME", True)),
        ("SUPPLIER_NAME", "Glas", ("LINE_ITEM", True)),
        ("TOTAL_AMOUNT", "100,00 EUR", ("MONEY", False)),
        ("NET_AMOUNT", "100,00 EUR", None),
        ("TAX_AMOUNT", "19,00 EUR", None),
        ("MONEY", "19,00 EUR", None),
        ("SUPPLIER_NAME", "Bank AG", ("ORGANIZATION", False)),
        ("IBAN", "Bank AG", None),
        ("INVOICE_ID", "R-7", ("INVOICE_ID", False)),
    ],
)
def test_a_page_has_the_labels_of_its_xml(label: str, words: str, expected: tuple[str, bool] | None) -> None:
    mentions = mentions_in(PAGE, (label, words))
    invoice = ElectronicInvoice("UBL", "", "x.xml", "380", "EUR", STATED, (InvoiceRow("Glas"),), taxes=TAXES)
    labels = restated_labels(
        invoice_fields(invoice, PAGE, mentions, {}), mentions, (*MODEL, "NET_AMOUNT", "TOTAL_AMOUNT")
    )
    assert labels.get(0) == expected


def test_a_repeated_name_has_the_label_of_its_party() -> None:
    mentions = mentions_in(PAGE, ("SUPPLIER_NAME", "Alpenglas KG"), ("RECEIVER_NAME", "Alpenglas KG"))
    invoice = ElectronicInvoice("UBL", "", "x.xml", "380", "EUR", STATED)
    labels = restated_labels(invoice_fields(invoice, PAGE, mentions, {}), mentions, MODEL)
    assert labels == {0: ("SUPPLIER_NAME", True), 1: ("SUPPLIER_NAME", False)}
    assert restated_labels(invoice_fields(invoice, PAGE, mentions, {}), mentions, ()) == {}
