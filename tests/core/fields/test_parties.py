"""Who sold and who buys: by label, and by words and place where the label leaves it open."""

from __future__ import annotations

import pytest

from service.core.fields.lines import TextLines
from service.core.fields.parties import choose_parties, word_before
from service.core.fields.party_places import RECEIVER, SUPPLIER
from tests.support.mentions import mentions_in

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
    assert word_before(TextLines(text), mentions_in(text, ("PERSON", "Finch Ltd"))[0]) == RECEIVER


def test_the_nearest_word_counts_and_prose_does_not() -> None:
    text = "Seller\nBuyer\nFinch Ltd"
    assert word_before(TextLines(text), mentions_in(text, (RECEIVER, "Finch Ltd"))[0]) == RECEIVER
    named = "MUSTER-KUNDE GMBH\nFinch Ltd"
    assert word_before(TextLines(named), mentions_in(named, (RECEIVER, "Finch Ltd"))[0]) is None
    prose = "We thank every customer for the trust that was placed in our firm.\nFinch Ltd"
    assert word_before(TextLines(prose), mentions_in(prose, (RECEIVER, "Finch Ltd"))[0]) is None
