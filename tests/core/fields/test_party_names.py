"""The names of a bill's parties by their places, where the model marks them wrongly or in part."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.party_names import MOST_LINES, party_names

Marked = tuple[str, str]


def names(text: str, *marked: Marked) -> list[tuple[str, str]]:
    """(label, name) by place, with entities of (label, part of the text)."""
    entities = [Entity(label, part, at := text.index(part), at + len(part), 0.5) for label, part in marked]
    return [(label, text[start:end]) for label, (start, end) in party_names(text, entities)]


SELLER, BUYER = "SUPPLIER_NAME", "RECEIVER_NAME"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Seller: Acme Ltd", [(SELLER, "Acme Ltd")]),
        ("Sold by: Acme, Inc.", [(SELLER, "Acme, Inc.")]),
        ("Käufer: Finch GmbH, Einkauf", [(BUYER, "Finch GmbH")]),
        ("Fournisseur :\nDuval SARL\nLyon", [(SELLER, "Duval SARL")]),
        ("Seller\tBuyer\nAcme Ltd\tFinch LLC", [(SELLER, "Acme Ltd"), (BUYER, "Finch LLC")]),
        (
            "Sprzedawca          Nabywca\nAkme Sp. z o.o.     Finka S.A.",
            [(SELLER, "Akme Sp. z o.o."), (BUYER, "Finka S.A.")],
        ),
        ("Verkäufer\nNummer: 549910\nName: Acme GmbH\nOrt: Kiel", [(SELLER, "Acme GmbH")]),
        ("Rechnungsempfänger\nFirma\nFinch e.K.", [(BUYER, "Finch e.K.")]),
        ("Bill to\nMessrs. Finch & Co\n4 Quay", [(BUYER, "Finch & Co")]),
    ],
)
def test_a_name_after_its_keyword_or_in_the_column_below(text: str, expected: list[tuple[str, str]]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Customer no.: 4711",
        "Customer no.\nFinch Ltd",
        "Buyer: info@finch.example",
        "Buyer:",
        "Buyer\n\nFinch Ltd",
        "Buyer: Finch Ltd" + " and so on" * 12,
        "Seller\tBuyer\nAcme",
        "Supplier: we thank you for the trust that was placed in our Ltd.",
        "The buyer pays all taxes due\nFinch Ltd",
        "Buyer: some words without a name",
        "Seller\nfrom here on it is text",
        "Buyer\nNumber: 12\nFax: 13\nRoom: 14\nUnit: 15\nDesk: 16\nFinch Ltd",
    ],
)
def test_what_is_no_name_is_left_out(text: str) -> None:
    assert names(text) == []


def test_words_without_a_legal_form_need_a_part_that_the_model_marks() -> None:
    text = "Buyer\nTown of Brook\n4 Quay Street"
    assert names(text) == []
    assert names(text, ("LOCATION", "Brook")) == [(BUYER, "Town of Brook")]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("Finch & Sons\nJane Doe\nGartenweg 3\n50937 Köln", ("PERSON", "Finch"), "Finch & Sons"),
        ("Frau\nMonika Muster\nPostfach 12\n92366 Ulm", ("PERSON", "Monika"), "Monika Muster"),
        ("Finch Ltd\nAttn: Jane Doe\n22 Harrow Road\nLONDON W2 5XA", ("PERSON", "Jane"), "Finch Ltd"),
        ("Tel: 030 1\nFinch LLC\n88 Harbour Road\nBoise, ID 83704", ("PERSON", "Finch"), "Finch LLC"),
        ("Rechnung 7, bezahlt\nFinch UG\nPostfach 12\n92366 Ulm", ("PERSON", "Finch"), "Finch UG"),
        ("Finch AG Beträge in EUR\nGartenweg 3\n50937 Köln", ("SUPPLIER_NAME", "Finch AG"), "Finch AG"),
    ],
)
def test_the_first_line_of_a_postal_address_is_a_name(text: str, marked: Marked, expected: str) -> None:
    assert ("ORGANIZATION", expected) in names(text, marked)


@pytest.mark.parametrize(
    "text",
    [
        "50937 Köln",
        "Finch Ltd\n50937 Köln",
        "Finch Ltd\tAcme Ltd\nGartenweg 3\n50937 Köln",
        "Finch Ltd\nGartenweg 3\tLindenweg 4\n50937 Köln",
        "Lieferung an:\nGartenweg 3\n50937 Köln",
    ],
)
def test_an_address_without_a_name_above_gives_none(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Acme GmbH, Uferstr. 2, 55116 Mainz",
        "Acme GmbH · Uferstr. 2 · 55116 Mainz",
        "Acme GmbH - Uferstr. 2 - D-55116 Mainz",
    ],
)
def test_the_senders_line_begins_with_the_supplier(text: str) -> None:
    assert names(text) == [(SELLER, "Acme GmbH")]
    assert names(text.replace("Acme GmbH", "Am Hang")) == []


def test_only_the_beginning_of_a_long_document_is_searched() -> None:
    assert names("\n" * MOST_LINES + "Seller: Acme Ltd") == []
    assert names("\n" * (MOST_LINES - 1) + "Seller: Acme Ltd") == [(SELLER, "Acme Ltd")]
