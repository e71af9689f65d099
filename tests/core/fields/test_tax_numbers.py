"""Whose tax number it is: by the words before it, the name beside it, and the block that it stands in."""

from __future__ import annotations

import time

import pytest

from service.core.fields.lines import TextLines
from service.core.fields.parties import choose_parties
from service.core.fields.roles import RECEIVER, RECEIVER_TAX_ID, SUPPLIER, TAX_ID
from service.core.fields.tax_numbers import choose_tax_numbers
from tests.support.mentions import mention, mentions_in

GERMAN, FRENCH, INVALID = "DE136695976", "FR40303265045", "DE123456789"
OFFICE, SERIAL = "201/113/40209", "SDMPP373MPP15"
MARKED = (
    *((TAX_ID, each) for each in (GERMAN, FRENCH, INVALID, OFFICE, SERIAL, "XXXXXXXX6612", "Dh5hR7w04bbfz0", "774 1")),
    *(("ID_NUMBER", each) for each in ("1234567890", "FV/44")),
    *((SUPPLIER, each) for each in ("Acme GmbH",)),
    *((RECEIVER, each) for each in ("Finch Ltd", "Maria Souza")),
    *(("INVOICE_ID", each) for each in ("R-17",)),
)


def chosen(text: str) -> tuple[str | None, str | None]:
    """The supplier's and the receiver's number."""
    found = sorted((text.index(part), label, part) for label, part in MARKED if part in text)
    mentions = [mention(number, label, part, at, 0.8) for number, (at, label, part) in enumerate(found)]
    lines = TextLines(text)
    choices = choose_tax_numbers(mentions, lines, choose_parties(mentions, lines))
    ours, theirs = (choices[label].best.text if label in choices else None for label in (TAX_ID, RECEIVER_TAX_ID))
    return ours, theirs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Steuernummer: {OFFICE}\nUSt-IdNr.: {GERMAN}", (GERMAN, None)),
        (f"Serienummer: {SERIAL}\nBTW {GERMAN}", (GERMAN, None)),
        (f"Steuernummer: {OFFICE}\nUSt-IdNr.: {INVALID}", (INVALID, None)),
        (f"{INVALID}\n{GERMAN}", (GERMAN, None)),
        (f"Ref. {SERIAL}\nSt.-Nr. {OFFICE}", (OFFICE, None)),
        (f"Steuernummer: {OFFICE}", (OFFICE, None)),
        ("Partita IVA\n1234567890", ("1234567890", None)),
        ("Kunden-Nr. 1234567890", (None, None)),
        ("Faktura VAT nr FV/44", (None, None)),
        (f"Serial no. {SERIAL}", (None, None)),
        ("Card XXXXXXXX6612, SDC Dh5hR7w04bbfz0", (None, None)),
    ],
)
def test_a_number_that_is_proved_comes_before_all_others(text: str, expected: tuple[str | None, str | None]) -> None:
    assert chosen(text) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Customer VAT no. {}", "USt-IdNr. des Kunden: {}", "Ihre USt-IdNr.: {}", "Your VAT ID {}", "N° TVA client {}",
        "Votre n° de TVA : {}", "Uw btw-nummer {}", "Su NIF: {}", "Vostra partita IVA {}", "NIP nabywcy {}",
        "Ert momsreg.nr {}", "GSTIN of buyer {}",
    ],
)  # fmt: skip
def test_words_before_a_number_make_it_the_receivers(words: str) -> None:
    assert chosen(f"{words.format(FRENCH)}") == (None, FRENCH)
    assert chosen(f"{words.format(FRENCH)}\nUSt-IdNr.: {GERMAN}") == (GERMAN, FRENCH)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Acme GmbH\nUSt-IdNr. {GERMAN}\nFinch Ltd\nVAT {FRENCH}", (GERMAN, FRENCH)),
        (f"Finch Ltd\nVAT {FRENCH}\nAcme GmbH | USt-IdNr. {GERMAN}", (GERMAN, FRENCH)),
        (f"Acme GmbH\tFinch Ltd\nVAT {GERMAN}\tVAT {FRENCH}", (GERMAN, FRENCH)),
        (f"Finch Ltd\nRechnung R-17\nUSt-IdNr. {GERMAN}", (GERMAN, None)),
        (f"Buyer\nTown of Brook\nVAT {FRENCH}", (None, FRENCH)),
        ("Finch Ltd" + "\n" * 7 + f"VAT {GERMAN}", (GERMAN, None)),
        (f"Acme GmbH, USt-IdNr. {GERMAN}\nFiskalvertreter: Fisk AG, {FRENCH}", (GERMAN, None)),
        (f"Représentant fiscal SARL TVA {FRENCH}", (None, None)),
        (f"Verkäufer USt-IdNr. {GERMAN}", (GERMAN, None)),
        (f"Supplier no.\t{OFFICE}\tBuyer VAT no.\t{FRENCH}", (OFFICE, FRENCH)),
        (f"Finch Ltd\t{GERMAN}", (GERMAN, None)),
        ("", (None, None)),
    ],
)
def test_a_number_is_of_the_party_that_it_stands_with(text: str, expected: tuple[str | None, str | None]) -> None:
    assert chosen(text) == expected


def test_a_number_in_the_block_of_a_person_is_the_persons() -> None:
    text = f"Loja Silva\n{GERMAN}\nNota 7\nMaria Souza\nCPF {FRENCH}"
    found = mentions_in(text, (SUPPLIER, "Loja Silva"), (TAX_ID, GERMAN), (RECEIVER, "Maria Souza"), (TAX_ID, FRENCH))
    choices = choose_tax_numbers(found, TextLines(text), choose_parties(found, TextLines(text)))
    assert {label: choice.best.text for label, choice in choices.items()} == {TAX_ID: GERMAN, RECEIVER_TAX_ID: FRENCH}


def test_a_block_far_above_or_cut_by_a_day_is_not_the_number_s() -> None:
    text = f"Loja Silva\nMaria Souza\n3/3/2026\nCPF {FRENCH}"
    labels = ((SUPPLIER, "Loja Silva"), (RECEIVER, "Maria Souza"), ("DATE", "3/3/2026"), (TAX_ID, FRENCH))
    found = mentions_in(text, *labels)
    parties = choose_parties(found, TextLines(text))
    assert list(choose_tax_numbers(found, TextLines(text), parties)) == [TAX_ID]
    assert list(choose_tax_numbers([*found[:2], found[3]], TextLines(text), parties)) == [RECEIVER_TAX_ID]


@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        ("DE136695976", True),
        ("de136695976", True),
        ("De136695976", False),
        ("1" * 15, True),
        ("1" * 16, False),
        ("XXXXX5976", False),
        ("•••5976", False),
        ("a" * 100_000, True),
        ("a" * 100_000 + "B", False),
    ],
)
def test_a_number_has_letters_of_one_case_and_is_not_masked(number: str, is_one: bool) -> None:
    began = time.process_time()
    found = choose_tax_numbers([mention(0, TAX_ID, number, 8)], TextLines(f"VAT no. {number}"), {})
    assert (TAX_ID in found) is is_one
    assert time.process_time() - began < 1


def test_a_name_that_contains_the_number_is_not_above_it() -> None:
    text = f"Finch Ltd {FRENCH}"
    found = [mention(0, RECEIVER, text, 0), mention(1, TAX_ID, FRENCH, text.index(FRENCH))]
    choices = choose_tax_numbers(found, TextLines(text), choose_parties(found, TextLines(text)))
    assert list(choices) == [TAX_ID]


@pytest.mark.parametrize(
    ("text", "is_doubtful"),
    [
        ("VAT DE136695976\nVAT DE811569869", True),
        ("VAT DE136695976\nYour VAT no. DE811569869", False),
        ("VAT DE136695976\nVAT FR40303265045", False),
        ("VAT DE136695976\nVAT DE 136 695 976", False),
        ("Our seller VAT DE136695976\nVAT DE123456789\nVAT DE811569869", False),
        ("VAT DE136695976\nTax representative VAT DE811569869", False),
    ],
)
def test_two_numbers_of_one_form_without_owners_are_a_doubt(text: str, is_doubtful: bool) -> None:
    numbers = ("DE136695976", "DE811569869", "FR40303265045", "DE 136 695 976", "DE123456789")
    found = sorted((text.index(each), each) for each in numbers if each in text)
    mentions = [mention(number, TAX_ID, each, at, 0.8) for number, (at, each) in enumerate(found)]
    assert choose_tax_numbers(mentions, TextLines(text), {})[TAX_ID].is_doubtful is is_doubtful
