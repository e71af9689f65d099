"""Who sold and who buys: by label, and by words and place where the label leaves it open."""

from __future__ import annotations

import pytest

from service.core.fields.lines import TextLines
from service.core.fields.parties import choose_parties, keyword_before
from service.core.fields.roles import RECEIVER, SUPPLIER
from tests.support.mentions import mention, mentions_in

Found = tuple[str, str, float]


def parties(text: str, *found: Found) -> dict[str, tuple[str, str]]:
    choices = choose_parties(mentions_in(text, *found), TextLines(text))
    return {label: (choice.best.text, choice.reason.value) for label, choice in choices.items()}


def test_labels_decide_where_the_model_is_sure() -> None:
    text = "Acme GmbH\nFinch Ltd"
    found = parties(text, (SUPPLIER, "Acme GmbH", 0.9), (RECEIVER, "Finch Ltd", 0.9))
    assert found == {SUPPLIER: ("Acme GmbH", "label"), RECEIVER: ("Finch Ltd", "label")}


@pytest.mark.parametrize(
    ("supplier_word", "receiver_word"),
    [
        ("From:", "Bill to:"),
        ("Verkäufer", "Käufer"),
        ("Fournisseur :", "Client :"),
        ("продавец", "покупатель"),
        ("卖方", "买方"),
    ],
)
def test_words_before_a_name_decide_between_organizations(supplier_word: str, receiver_word: str) -> None:
    text = f"{receiver_word}\nFinch Ltd\n27 Quay Street\n\n\n\n{supplier_word} Acme GmbH"
    found = parties(text, ("ORGANIZATION", "Finch Ltd", 0.9), ("ORGANIZATION", "Acme GmbH", 0.9))
    assert found == {SUPPLIER: ("Acme GmbH", "context"), RECEIVER: ("Finch Ltd", "context")}


def test_a_person_is_a_party_only_after_a_word_that_says_so() -> None:
    text = "Acme GmbH\nBill to: Jane Doe\n\n\n\n\n\nContact John Roe"
    found = ((SUPPLIER, "Acme GmbH", 0.9), ("PERSON", "Jane Doe", 0.9), ("PERSON", "John Roe", 0.99))
    assert parties(text, *found) == {SUPPLIER: ("Acme GmbH", "label"), RECEIVER: ("Jane Doe", "context")}


def test_the_first_of_two_suppliers_is_chosen_if_their_scores_are_close() -> None:
    text = "Acme GmbH\n…\nBank of Nowhere"
    found = parties(text, (SUPPLIER, "Acme GmbH", 0.85), (SUPPLIER, "Bank of Nowhere", 0.9))
    assert found == {SUPPLIER: ("Acme GmbH", "context")}


def test_one_name_never_has_both_roles() -> None:
    text = "Acme GmbH\nACME GMBH\nFinch Ltd"
    found = parties(text, (SUPPLIER, "Acme GmbH", 0.9), (RECEIVER, "ACME GMBH", 0.9), (RECEIVER, "Finch Ltd", 0.5))
    assert found == {SUPPLIER: ("Acme GmbH", "label"), RECEIVER: ("Finch Ltd", "context")}


def test_what_nothing_speaks_for_is_left_out() -> None:
    text = "…, Acme GmbH and Finch Ltd"
    assert parties(text, ("ORGANIZATION", "Acme GmbH", 0.4), ("ORGANIZATION", "Finch Ltd", 0.6)) == {}
    assert choose_parties([], TextLines(text)) == {}


@pytest.mark.parametrize(
    "word",
    ["Bill to", "BILLED-TO", "Sold to:", "Rechnung an", "Facturé à", "Facturar a", "买方", "Spett.le", "To:", "An:"],
)
def test_words_of_several_parts_and_cases_are_known(word: str) -> None:
    text = f"{word} Finch Ltd"
    assert keyword_before(TextLines(text), mentions_in(text, ("PERSON", "Finch Ltd"))[0])[0] == RECEIVER


def test_the_nearest_word_counts_and_prose_does_not() -> None:
    text = "Seller\nBuyer\nFinch Ltd"
    assert keyword_before(TextLines(text), mentions_in(text, (RECEIVER, "Finch Ltd"))[0])[0] == RECEIVER
    named = "MUSTER-KUNDE GMBH\nFinch Ltd"
    assert keyword_before(TextLines(named), mentions_in(named, (RECEIVER, "Finch Ltd"))[0])[0] is None
    prose = "We thank every customer for the trust that was placed in our firm.\nFinch Ltd"
    assert keyword_before(TextLines(prose), mentions_in(prose, (RECEIVER, "Finch Ltd"))[0])[0] is None


FRENCH = """Au bon moulin SARL - 1242 chemin de l'olive - 84340 Malaucène
Ma jolie boutique
35 rue de la République
69001 Lyon"""

JAPANESE = """株式会社青空 御中
請求書
山田製作所
東京都千代田区1-1"""


def chosen_names(text: str, *found: tuple[str, str] | tuple[str, str, float]) -> dict[str, str]:
    choices = choose_parties(mentions_in(text, *found), TextLines(text))
    return {label: choice.best.text for label, choice in choices.items()}


def test_two_suppliers_of_the_model_are_told_apart_by_their_places() -> None:
    both = (("ADDRESS", "1242 chemin de l'olive - 84340 Malaucène"), ("ADDRESS", "35 rue de la République\n69001 Lyon"))
    names = ("Au bon moulin SARL", "Ma jolie boutique")
    found = chosen_names(FRENCH, (SUPPLIER, names[0], 0.46), both[0], (SUPPLIER, names[1], 0.5), both[1])
    assert found == {SUPPLIER: names[0], RECEIVER: names[1]}


def test_a_mark_of_address_names_the_receiver_though_it_stands_first() -> None:
    found = chosen_names(JAPANESE, ("ORGANIZATION", "株式会社青空", 0.6), (SUPPLIER, "山田製作所", 0.4))
    assert found == {SUPPLIER: "山田製作所", RECEIVER: "株式会社青空"}


OSTERKAMP = "Osterkamp | Wielandstr. 5 | 04317 Leipzig"


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        (
            "Verlag Sommer GmbH\nAllee 30\n04107 Leipzig\nRechnung 17\nBetrag 126,00 EUR\n"
            f"{OSTERKAMP}\nSt.-Nr. 232/118/40277",
            ((SUPPLIER, "Verlag Sommer GmbH", 0.5), ("ADDRESS", "Allee 30\n04107 Leipzig"), ("MONEY", "126,00 EUR"),
             ("PERSON", "Osterkamp", 0.4), ("ADDRESS", "Wielandstr. 5 | 04317 Leipzig"), ("TAX_ID", "232/118/40277")),
            {SUPPLIER: "Osterkamp", RECEIVER: "Verlag Sommer GmbH"},
        ),
        (
            "Le Goff\n14 rue de Siam\n29200 Brest\nKerlouan SARL\n8 quai\n29200 Brest\nTél. 02 98 55 12 00",
            ((SUPPLIER, "Le Goff", 0.55), ("ADDRESS", "14 rue de Siam\n29200 Brest"), (SUPPLIER, "Kerlouan SARL", 0.3),
             ("ADDRESS", "8 quai\n29200 Brest"), ("PHONE", "02 98 55 12 00")),
            {SUPPLIER: "Kerlouan SARL", RECEIVER: "Le Goff"},
        ),
        (
            "Bakery KG\nMarkt 2\n99084 Erfurt\nCafé Dom\nDomplatz 11\n99084 Erfurt\nRechnung 118\nIBAN DE1",
            ((SUPPLIER, "Bakery KG", 0.5), ("ADDRESS", "Markt 2\n99084 Erfurt"), (SUPPLIER, "Café Dom", 0.5),
             ("ADDRESS", "Domplatz 11\n99084 Erfurt"), ("INVOICE_ID", "118"), ("IBAN", "DE1")),
            {SUPPLIER: "Bakery KG", RECEIVER: "Café Dom"},
        ),
        (
            "Seller:\nBakery KG\nMarkt 2\n99084 Erfurt\nCafé Dom\nDomplatz 11\n99084 Erfurt\nTel. 0361 55",
            ((SUPPLIER, "Bakery KG", 0.5), ("ADDRESS", "Markt 2\n99084 Erfurt"), (RECEIVER, "Café Dom", 0.5),
             ("ADDRESS", "Domplatz 11\n99084 Erfurt"), ("PHONE", "0361 55")),
            {SUPPLIER: "Bakery KG", RECEIVER: "Café Dom"},
        ),
    ],
)  # fmt: skip
def test_an_address_window_is_the_receivers_if_another_firm_is_the_sender(
    text: str, found: tuple[tuple[str, str] | tuple[str, str, float], ...], expected: dict[str, str]
) -> None:
    assert chosen_names(text, *found) == expected


def test_a_second_supplier_is_no_receiver_without_a_sign() -> None:
    text = "ZAVA AUTO REPAIR\nCertified Collision Repair"
    found = chosen_names(text, (SUPPLIER, "ZAVA AUTO REPAIR", 0.9), (SUPPLIER, "Certified Collision Repair", 0.8))
    assert found == {SUPPLIER: "ZAVA AUTO REPAIR"}


def test_a_receiver_of_the_model_needs_no_other_sign() -> None:
    text = "Acme GmbH\n…\nFinch Ltd"
    found = chosen_names(text, (SUPPLIER, "Acme GmbH", 0.9), (RECEIVER, "Finch Ltd", 0.28))
    assert found == {SUPPLIER: "Acme GmbH", RECEIVER: "Finch Ltd"}


def test_a_firms_name_with_its_legal_form_is_not_the_other_party() -> None:
    text = "Acme\nUSt-IdNr DE136695976\n\n\n\n\n\n\nACME GmbH\nLindenallee 14, 80331 München"
    names = ((SUPPLIER, "Acme", 0.5), ("TAX_ID", "DE136695976"), (SUPPLIER, "ACME GmbH", 0.5))
    assert set(chosen_names(text, *names, ("ADDRESS", "Lindenallee 14, 80331 München"))) == {SUPPLIER}


def test_the_firm_above_its_contact_is_the_receiver() -> None:
    text = "Acme GmbH\nKunden AG Frankreich\nAlexandre Payet\n35 rue de la République"
    names = ((SUPPLIER, "Acme GmbH", 0.9), (RECEIVER, "Kunden AG", 0.34), ("LOCATION", "Frankreich"))
    found = chosen_names(text, *names, (RECEIVER, "Alexandre Payet", 0.3), ("ADDRESS", "35 rue de la République"))
    assert found == {SUPPLIER: "Acme GmbH", RECEIVER: "Kunden AG"}


@pytest.mark.parametrize(
    ("text", "supplier", "receiver"),
    [
        ("Seller\tBuyer\nAcme Ltd\tFinch Ltd", "Acme Ltd", "Finch Ltd"),
        ("Odběratel:\tDodavatel:\nFinch Ltd\tAcme Ltd", "Acme Ltd", "Finch Ltd"),
        ("Vendor          Ship to         Date\nAcme Ltd        Finch Ltd       5 May 2025", "Acme Ltd", "Finch Ltd"),
        ("Von:\nAcme Ltd\nFür Finch Ltd\nAn:\nFinch Ltd", "Acme Ltd", "Finch Ltd"),
        ("Customer no. 4711\nAcme Ltd\nVAT 1\nCustomer\nFinch Ltd", "Acme Ltd", "Finch Ltd"),
    ],
)
def test_a_heading_is_of_its_column_and_not_of_a_number(text: str, supplier: str, receiver: str) -> None:
    ordered = sorted([(text.rindex(each), each) for each in ("Acme Ltd", "Finch Ltd")])
    mentions = [mention(number, RECEIVER, name, at, 0.4) for number, (at, name) in enumerate(ordered)]
    choices = choose_parties(mentions, TextLines(text))
    assert {label: choice.best.text for label, choice in choices.items()} == {SUPPLIER: supplier, RECEIVER: receiver}


@pytest.mark.parametrize(
    "bank", ["Volksbank Neustadt eG", "Banco del Sur", "FNB", "Εθνική Τράπεζα", "みずほ銀行", "Банк Заря"]
)
def test_the_bank_to_pay_to_is_no_party_unless_a_keyword_says_so(bank: str) -> None:
    text = f"Anna Muster\nSteuernummer 24/233/00123\n{bank}\nSeller: {bank}"
    names = (("ORGANIZATION", "Anna Muster", 0.4), ("TAX_ID", "24/233/00123"), (SUPPLIER, bank, 0.4))
    assert chosen_names(text, *names)[SUPPLIER] == "Anna Muster"
    assert chosen_names(text, *names, (SUPPLIER, bank, 0.4))[SUPPLIER] == bank


def test_the_firm_is_the_party_and_not_its_brand() -> None:
    text = "SUSHI CORNER\nMIZU MENTAI SDN BHD\nTotal 12.00"
    assert chosen_names(text, (SUPPLIER, "SUSHI CORNER", 0.7), (SUPPLIER, "MIZU MENTAI SDN BHD", 0.72)) == {
        SUPPLIER: "MIZU MENTAI SDN BHD"
    }
    alone = (SUPPLIER, "SUSHI CORNER", 0.7)
    assert chosen_names(text, alone) == {SUPPLIER: "SUSHI CORNER"}


def test_a_part_of_a_longer_name_is_no_party() -> None:
    text = "Bill to:\nOld Mill Bakery Ltd"
    part, whole = mentions_in(text, (RECEIVER, "Bakery Ltd", 0.6)), mentions_in(text, (RECEIVER, "Old Mill Bakery Ltd"))
    found = choose_parties([whole[0]._replace(entity=1, by_keyword=True), *part], TextLines(text))
    assert {label: (choice.best.text, choice.reason.value) for label, choice in found.items()} == {
        RECEIVER: ("Old Mill Bakery Ltd", "context")
    }


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("ROSEN SHOP\nInh. Petra Lind e.K.", ((SUPPLIER, "ROSEN SHOP", 0.5), (SUPPLIER, "Petra Lind e.K.", 0.52)),
         {SUPPLIER: "ROSEN SHOP"}),
        ("Bank: ABN AMRO\nDe Ketting", ((SUPPLIER, "ABN AMRO", 0.8), (SUPPLIER, "De Ketting", 0.4)),
         {SUPPLIER: "De Ketting"}),
        ("Alphabet, Allee 26\nAlphabet Fleet GmbH\nMuster GmbH",
         ((SUPPLIER, "Alphabet", 0.9), ("ADDRESS", "Allee 26", 0.9), (RECEIVER, "Alphabet Fleet GmbH", 0.5),
          (RECEIVER, "Muster GmbH", 0.4)),
         {SUPPLIER: "Alphabet Fleet GmbH", RECEIVER: "Muster GmbH"}),
        ("Acme\nFAO\n3400 Burgdorf\nPty Ltd", ((SUPPLIER, "Acme", 0.3), (RECEIVER, "FAO", 0.9),
          (SUPPLIER, "3400 Burgdorf", 0.9), (RECEIVER, "Pty Ltd", 0.9)), {SUPPLIER: "Acme"}),
    ],
)  # fmt: skip
def test_the_party_is_the_firm_in_full_and_no_owner_bank_or_place(
    text: str, found: tuple[tuple[str, str, float], ...], expected: dict[str, str]
) -> None:
    assert chosen_names(text, *found) == expected


@pytest.mark.parametrize(
    ("below", "supplier"),
    [
        ("Bill to: Tern Club", "Acme GmbH"),
        ("Kunde\nTern Club", "Acme GmbH"),
        ("Client : Tern Club", "Acme GmbH"),
        ("Seller: Tern Club\n\n\n\n\n\nBill to: Tern Club", "Tern Club"),
        ("Tern Club", "Tern Club"),
    ],
)
def test_a_firm_that_a_keyword_calls_the_receiver_is_nowhere_the_supplier(below: str, supplier: str) -> None:
    """As on a payment slip above the letterhead, which names the customer first."""
    text = f"Payment slip\nTern Club\nAcme GmbH\n\n\n\n\n\n{below}"
    slip = (SUPPLIER, "Tern Club", 0.9), (SUPPLIER, "Acme GmbH", 0.3)
    again = [(SUPPLIER, "Tern Club", 0.9)] * below.count("Tern Club")
    assert parties(text, *slip, *again)[SUPPLIER][0] == supplier
