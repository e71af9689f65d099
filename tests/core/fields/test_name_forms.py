"""What is a name by its words alone, and what is an address, a heading or prose."""

from __future__ import annotations

import time

import pytest

from service.core.fields.name_forms import (
    attention,
    courtesy,
    has_legal_form,
    is_capitalized,
    is_letterhead,
    is_name,
    is_no_party,
    is_postcode,
    is_street,
    sender_in,
    starts_with_form,
    without_form,
)


@pytest.mark.parametrize(
    "text",
    ["Acme Ltd", "Finch & Sons", "3 Suisses SA", "24 Hour Parts Ltd", "山田製作所", "Strata Plan 41877 Inc", "ABC"],
)
def test_a_name(text: str) -> None:
    assert is_name(text)


@pytest.mark.parametrize(
    "text",
    [
        "93B Sai Yu Chung", "35 rue d'ici", "12 bis rue Basse", "3400 Burgdorf", "722 31 Västerås", "1012 VA Amsterdam",
        "Chemików 7 09-411 Płock", "Boise, ID 83704", "London W2 5XA", "info@acme.example", "acme", "A", "4711-22",
        "Strata Plan 41877", "we thank you for it", "Thank you for the trust that was placed.", "Pty Ltd", "GmbH",
        "A" * 65,
    ],
)  # fmt: skip
def test_no_name(text: str) -> None:
    assert not is_name(text)


def test_a_name_ends_with_a_number_where_its_place_proves_it() -> None:
    assert is_name("Strata Plan 41877", may_end_with_number=True)
    assert not is_name("3400 Burgdorf", may_end_with_number=True)


@pytest.mark.parametrize("text", ["Maria Delgado", "LUCÍA ORTEGA", "Café de la Gare", "Town of Brook"])
def test_capitalized_words_are_a_name(text: str) -> None:
    assert is_capitalized(text)


@pytest.mark.parametrize(
    "text",
    ["Maria", "Maria writes", "Platform 9", "Your Invoice", "Due Date", "A B C D E F G", "Total Amount", "Order No"],
)
def test_one_word_small_words_numbers_and_keys_are_none(text: str) -> None:
    assert not is_capitalized(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ATTN: iVive Limited", "ATTN: "), ("Attn. Jane", "Attn. "), ("FAO Accounts", "FAO "),
        ("z. Hd. Frau", "z. Hd. "),
        ("t.a.v. Jan", "t.a.v. "), ("c/o Finch", "c/o "), ("À l'attention de Paul", "À l'attention de "),
        ("Att. Mette", "Att. "), ("FAO", "FAO"), ("Attica Ltd", ""), ("Faour SA", ""),
    ],
)  # fmt: skip
def test_words_for_attention(text: str, found: str) -> None:
    assert attention(text) == found


@pytest.mark.parametrize(
    ("text", "found"), [("Mme Claire", "Mme "), ("Herrn\nJan", "Herrn\n"), ("De heer P.", "De heer "), ("Mrsic", "")]
)
def test_forms_of_address(text: str, found: str) -> None:
    assert courtesy(text) == found


@pytest.mark.parametrize(
    "text", ["FAO", "Att. Mette Thorsen", "Pty Ltd", "722 31 Västerås", "3400 Burgdorf", "ABN", "HRB 7712"]
)
def test_what_no_model_makes_a_party(text: str) -> None:
    assert is_no_party(text)
    assert not is_no_party(f"Finch {text} Ltd")


@pytest.mark.parametrize("text", ["Contoso", "THE GOLDEN LION", "Blue Mesa Roofing"])
def test_logos(text: str) -> None:
    assert is_letterhead(text)


@pytest.mark.parametrize("text", ["Receipt", "Invoice", "Thank You", "Table 4", "Name: Acme", "A", "Lower case"])
def test_what_is_no_logo(text: str) -> None:
    assert not is_letterhead(text)


@pytest.mark.parametrize(
    "text",
    ["50937 Köln", "D-50937 Köln", "722 31 Västerås", "1012 VA Amsterdam", "5211 JK 's-Hertogenbosch",
     "34-500 Zakopane", "Boise, ID 83704-1234", "LONDON W2 5XA", "Hamilton NSW 2303", "〒150-0001 東京都"],
)  # fmt: skip
def test_postcodes(text: str) -> None:
    assert is_postcode(text)
    assert not is_postcode("Gartenweg 3")


@pytest.mark.parametrize(
    "text", ["Gartenweg 3", "Gartenweg 3 a", "8-10 Quay", "4 Quay Street", "Postfach 12", "P.O. Box"]
)
def test_streets(text: str) -> None:
    assert is_street(text) or text == "8-10 Quay"
    assert not is_street("Gartenweg")


def test_a_senders_line_needs_a_street_with_a_number_and_a_postcode() -> None:
    assert sender_in("Acme GmbH | Texte | Weg 5 | 04317 Leipzig") == "Acme GmbH"
    assert sender_in("Acme GmbH | Texte | Leipzig") == ""


def test_legal_forms_are_known_at_a_texts_start_and_within() -> None:
    assert starts_with_form("Ltd, Leeds")
    assert not starts_with_form("Leeds Ltd")
    assert all(
        map(has_legal_form, ("Leeds Ltd", "Nagy és Társa Bt.", "Duna Nyrt.", "ΑΛΦΑ Α.Ε.", "ΒΗΤΑ ΕΠΕ", "ΓΑΜΑ Ι.Κ.Ε."))
    )
    assert not any(map(has_legal_form, ("Leeds", "Bt", "ΑΛΦΑ")))
    assert without_form("Acme, Inc.") == "acme"


@pytest.mark.parametrize("unit", ["A ", "1 a ", "A | ", "Aa, 1", "12 ", "a.", "A-1 ", "Box ", "é"])
def test_hostile_cells_take_linear_time(unit: str) -> None:
    text = unit * (120 // len(unit))
    begin = time.thread_time()
    for _ in range(100):
        is_name(text)
        is_street(text)
        is_postcode(text)
        sender_in(text)
    assert time.thread_time() - begin < 5


@pytest.mark.parametrize(
    "text",
    ["Gent.ma Sig.ra", "Egr. Sig.", "Exmo.(s) Sr.(s)", "DISCRIMINAÇÃO DOS SERVIÇOS", "Description", "Bezeichnung"],
)
def test_a_form_of_address_and_a_caption_are_no_party(text: str) -> None:
    assert is_no_party(text)
    assert not is_no_party(f"Lucia {text}")
