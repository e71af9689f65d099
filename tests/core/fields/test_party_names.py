"""The names of a bill's parties by their places, where the model marks them wrongly or in part."""

from __future__ import annotations

import pytest

from service.core.decoding.entities import Entity
from service.core.fields.lines import TextLines
from service.core.fields.party_names import MOST_LINES, party_names

Marked = tuple[str, str]


def names(text: str, *marked: Marked) -> list[tuple[str, str]]:
    """(label, name) by place, with entities of (label, part of the text)."""
    entities = [Entity(label, part, at := text.index(part), at + len(part), 0.5) for label, part in marked]
    return [(label, text[start:end]) for label, (start, end) in party_names(TextLines(text), entities)]


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
        ("Client:\nMaria Delgado\n77 Laurel Ln", [(BUYER, "Maria Delgado")]),
        ("Kunde\nRenate Albers", [(BUYER, "Renate Albers")]),
        ("請求先:\n株式会社みどり", [(BUYER, "株式会社みどり")]),
        ("NOMBRE:\nLucía Ortega\nCalle Sol 4", [(BUYER, "Lucía Ortega")]),
        ("Nome: Mario Rossi S.r.l.", [(BUYER, "Mario Rossi S.r.l.")]),
        ("Vendeur\nNom : Duval SARL", [(SELLER, "Duval SARL")]),
        ("Nabywca:           Szkoła Podstawowa\nNIP:               5261040828", [(BUYER, "Szkoła Podstawowa")]),
        ("To\tTown Council\nNumber\t17", [(BUYER, "Town Council")]),
        ("Nabywca\nSzkoła Podstawowa nr 4 S.A.\nul. Szkolna 1", [(BUYER, "Szkoła Podstawowa nr 4 S.A.")]),
        ("Bill to:\nATTN: Finch Limited\n93B Sai Yu Chung", [(BUYER, "Finch Limited")]),
        ("Bill to:\nFAO Accounts Payable Ltd\nFinch & Rigby Ltd", [(BUYER, "Finch & Rigby Ltd")]),
        ("Bill to:\nAttn: Jane\nFinch Ltd\n7 Quay", [(BUYER, "Finch Ltd")]),
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
        "Buyer: Jane Finch",
        "Buyer\nInvoice Address Number",
        "Buyer\nBrook",
        "Buyer\n35 Rue Basse",
        "Buyer\n3400 Burgdorf West",
        "Buyer\nAttn: Jane\n4 Quay Street",
        "Buyer\tDate\tPage",
        "Total 9.00\nName:\tQuantity:\tNo:",
        "Buyer\nNumber: 12\nFax: 13\nRoom: 14\nUnit: 15\nDesk: 16\nFinch Ltd",
    ],
)
def test_what_is_no_name_is_left_out(text: str) -> None:
    assert names(text) == []


def test_a_single_word_needs_a_part_that_the_model_marks() -> None:
    for text in ("Buyer\nBrook\n4 Quay Street", "Buyer: Town of Brook"):
        assert names(text) == []
        assert (BUYER, text.removeprefix("Buyer").strip(": \n").split("\n")[0]) in names(
            text, ("ORGANIZATION", "Brook")
        )
    assert names("Buyer\nTown of Brook\n4 Quay Street") == [(BUYER, "Town of Brook")]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("From\nSingapore (SIN)", ("LOCATION", "Singapore")),
        ("From\nSingapore", ("LOCATION", "Singapore")),
        ("From\nPol. Ind. El Viso, nave 9", ("ADDRESS", "Pol. Ind. El Viso, nave 9")),
    ],
)
def test_a_town_and_the_beginning_of_an_address_are_no_party(text: str, marked: Marked) -> None:
    assert names(text, marked) == []


def test_a_name_key_behind_the_first_amount_is_not_the_receivers() -> None:
    assert names("Total 9.00\nName: Acme Ltd", ("TOTAL_AMOUNT", "9.00")) == []
    assert names("Name: Acme Ltd\nTotal 9.00", ("TOTAL_AMOUNT", "9.00")) == [(BUYER, "Acme Ltd")]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("Hafenkontor Ostsee eG", (BUYER, "Ostsee eG"), (BUYER, "Hafenkontor Ostsee eG")),
        ("Logo\tBei Spiel GmbH", ("ORGANIZATION", "Spiel GmbH"), ("ORGANIZATION", "Bei Spiel GmbH")),
        ("Harbourside Plumbing\nPty Ltd", (SELLER, "Harbourside Plumbing"), (SELLER, "Harbourside Plumbing\nPty Ltd")),
        ("Harbourside Plumbing\nLimited", (BUYER, "Limited"), (BUYER, "Harbourside Plumbing\nLimited")),
    ],
)
def test_a_name_is_whole(text: str, marked: Marked, expected: tuple[str, str]) -> None:
    assert names(text, marked) == [expected]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("We thank Acme GmbH", (SELLER, "Acme GmbH")),
        ("Account Name: Acme GmbH", (SELLER, "Acme GmbH")),
        ("Acme GmbH", (SELLER, "Acme GmbH")),
        ("Jane Doe", ("PERSON", "Doe")),
        ("Finch Ltd\tQuay\nPty Ltd", (SELLER, "Finch Ltd")),
        ("7\nPty Ltd", (SELLER, "Pty Ltd")),
        ("Pty Ltd", (SELLER, "Pty Ltd")),
    ],
)
def test_a_name_is_not_widened_over_other_words(text: str, marked: Marked) -> None:
    assert names(text, marked) == []


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("Finch & Sons\nJane Doe\nGartenweg 3\n50937 Köln", ("PERSON", "Finch"), "Finch & Sons"),
        ("Frau\nMonika Muster\nPostfach 12\n92366 Ulm", ("PERSON", "Monika"), "Monika Muster"),
        ("Finch Ltd\nAttn: Jane Doe\n22 Harrow Road\nLONDON W2 5XA", ("PERSON", "Jane"), "Finch Ltd"),
        ("Tel: 030 1\nFinch LLC\n88 Harbour Road\nBoise, ID 83704", ("PERSON", "Finch"), "Finch LLC"),
        ("Rechnung 7, bezahlt\nFinch UG\nPostfach 12\n92366 Ulm", ("PERSON", "Finch"), "Finch UG"),
        ("Town Of Brook\nEinkauf\nGartenweg 3\n50937 Köln", ("ADDRESS", "Gartenweg 3"), "Town Of Brook"),
        ("Finch Ltd\tTotal\nGartenweg 3\tDate\n50937 Köln\t3 May", ("PERSON", "Finch"), "Finch Ltd"),
        ("z. Hd. Frau Lang\nKunst OHG\nSalzgasse 9\n86899 Landsberg", ("PERSON", "Lang"), "Kunst OHG"),
        ("t.a.v. Jan de Boer\nSingel 8\n1012 VA Amsterdam", ("PERSON", "Jan de Boer"), "Jan de Boer"),
        ("Brf Solsidan\nBjörkvägen 3\n722 31 Västerås", ("ADDRESS", "Brf Solsidan"), "Brf Solsidan"),
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
        "Acme GmbH | Texte & Lektorat | Wielandstr. 5 | 04317 Leipzig",
        "Acme GmbH • Texte • Wielandstr. 5 • 04317 Leipzig",
        "Acme GmbH – 14 rue de Siam – 29200 Brest",
        "Acme GmbH, Storgatan 14, 722 12 Västerås",
    ],
)
def test_the_senders_line_begins_with_the_supplier(text: str) -> None:
    assert names(text) == [(SELLER, "Acme GmbH")]
    assert names(text.replace("Acme GmbH", "Am Hang")) == []


def test_only_the_beginning_of_a_long_document_is_searched() -> None:
    assert names("\n" * MOST_LINES + "Seller: Acme Ltd") == []
    assert names("\n" * (MOST_LINES - 1) + "Seller: Acme Ltd") == [(SELLER, "Acme Ltd")]


@pytest.mark.parametrize(
    ("text", "marked", "expected"),
    [
        ("Contoso\n4 Quay Street", ("ADDRESS", "4 Quay Street"), [(SELLER, "Contoso")]),
        ("9:41\nContoso\t4 Quay Street", ("ADDRESS", "4 Quay Street"), [(SELLER, "Contoso")]),
        ("9:41\nContoso\ninfo@contoso.example", ("EMAIL", "info@contoso.example"), [(SELLER, "Contoso")]),
        ("Contoso\nTotal", ("MONEY", "Total"), []),
        ("Invoice\n4 Quay Street", ("ADDRESS", "4 Quay Street"), []),
        ("Contoso\nAcme Ltd\n4 Quay Street", ("ORGANIZATION", "Acme Ltd"), []),
        ("4 Quay Street\nContoso", ("ADDRESS", "4 Quay Street"), []),
        ("Contoso\tPage\n4 Quay Street", ("ADDRESS", "4 Quay Street"), []),
    ],
)
def test_a_logo_that_the_model_does_not_mark(text: str, marked: Marked, expected: list[tuple[str, str]]) -> None:
    assert names(text, marked) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("Auberge Du Lac\n88400 Gérardmer", [("ORGANIZATION", "Auberge Du Lac")]),
        ("Auberge Du Lac", []),
        ("lower quai\n88400 Gérardmer", []),
    ],
)
def test_the_first_line_of_an_address_may_be_a_name(address: str, expected: list[tuple[str, str]]) -> None:
    text = f"Acme Ltd\n{address}"
    found = [Entity("ORGANIZATION", "Acme Ltd", 0, 8, 0.5), Entity("ADDRESS", address, 9, len(text), 0.5)]
    places = party_names(TextLines(text), found)
    assert [(label, text[start:end]) for label, (start, end) in places] == expected


@pytest.mark.parametrize(
    ("text", "town", "expected"),
    [
        ("Bostads AB Lindgren Park\nBox 120", (), [("RECEIVER_NAME", "Bostads AB Lindgren Park")]),
        ("Bostads AB\nBox 120", (), [("RECEIVER_NAME", "Bostads AB")]),
        ("Bostads AB Kiruna", (("LOCATION", "Kiruna"),), []),
        ("Bostads AB och vi kallar på", (), []),
    ],
)
def test_a_name_goes_on_behind_a_trades_form(text: str, town: tuple[Marked, ...], expected: list[Marked]) -> None:
    assert names(text, (BUYER, "Bostads AB"), *town) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Kunde: 4711\nAcme GmbH\nHauptstr. 5\n24103 Kiel", "Acme GmbH"),
        ("A One GmbH\nA Two GmbH\nA Three GmbH\nA Four GmbH\nA Five GmbH\nHauptstr. 5\n24103 Kiel", "A Two GmbH"),
    ],
)
def test_a_block_ends_at_its_limit_and_goes_on_over_a_keyword(text: str, name: str) -> None:
    assert names(text) == [("ORGANIZATION", name)]
