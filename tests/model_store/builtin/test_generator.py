"""The generator: offsets, labels, checksums, sums, and the same documents for the same seed."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import pytest
from stdnum import iban as stdnum_iban
from stdnum.de import vat as german_vat
from stdnum.fr import tva as french_vat
from stdnum.it import iva as italian_vat
from stdnum.nl import btw as dutch_vat

from model_store.builtin.training.examples import Example
from model_store.builtin.training.generator import generate, generate_many
from model_store.builtin.training.generator.canvas import Piece, beside, render, row, text_of
from model_store.builtin.training.generator.documents import KINDS
from model_store.builtin.training.generator.identifiers import iban, tax_id
from model_store.builtin.training.generator.invoice_facts import new_invoice
from model_store.builtin.training.generator.kinds.invoices import invoice_rows
from model_store.builtin.training.generator.locales import ELSEWHERE, LOCALES, Locale
from model_store.builtin.training.labels import LABELS


@pytest.fixture(scope="module")
def documents() -> list[Example]:
    return list(generate_many(7, 150))


def locale_of(country: str) -> Locale:
    return next(locale for locale in LOCALES if locale.country == country)


def test_every_span_is_trimmed_text_within_its_document(documents: list[Example]) -> None:
    for document in documents:
        position = 0
        for start, end, label in document.spans:
            text = document.text[start:end]
            assert position <= start < end <= len(document.text)
            assert text == text.strip()
            assert label in LABELS
            position = end


def test_all_labels_of_the_scheme_occur() -> None:
    seen = {span.label for document in generate_many(3, 500) for span in document.spans}
    assert set(LABELS) == seen


def test_a_seed_gives_the_same_documents_each_time(documents: list[Example]) -> None:
    assert list(generate_many(7, 20)) == documents[:20]
    assert list(generate_many(8, 20)) != documents[:20]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_asked_for(kind: str) -> None:
    document = generate(Random(1), kind)
    assert document.source == f"generated_{kind}"
    assert document.text.strip()


@pytest.mark.parametrize("locale", [*LOCALES, *ELSEWHERE], ids=lambda locale: locale.faker)
def test_ibans_pass_their_checksum(locale: Locale) -> None:
    for seed in range(20):
        assert stdnum_iban.is_valid(iban(Random(seed), locale), check_country=False)


@pytest.mark.parametrize(
    ("country", "check"), [("FR", french_vat), ("IT", italian_vat), ("NL", dutch_vat)], ids=["FR", "IT", "NL"]
)
def test_tax_numbers_pass_their_checksum(country: str, check: object) -> None:
    for seed in range(20):
        assert check.is_valid(tax_id(Random(seed), locale_of(country)))  # type: ignore[attr-defined]


def test_german_tax_numbers_are_valid_or_of_the_kind_with_slashes() -> None:
    numbers = [tax_id(Random(seed), locale_of("DE")) for seed in range(30)]
    assert all("/" in number or german_vat.is_valid(number) for number in numbers)
    assert any("/" not in number for number in numbers)


def test_the_amounts_of_an_invoice_add_up() -> None:
    for seed in range(60):
        invoice = new_invoice(Random(seed))
        assert sum((line.amount for line in invoice.lines), Decimal(0)) == invoice.net
        assert invoice.net + invoice.tax == invoice.total
        assert abs(invoice.net * invoice.rate / 100 - invoice.tax) <= Decimal("0.005")


def test_invoices_have_many_templates() -> None:
    assert len({invoice_rows(Random(seed))[0] for seed in range(80)}) > 60


def test_rendering_counts_offsets_over_rows_and_trims_entities() -> None:
    text, spans = render([row("Total: ", Piece(" 5 € ", "TOTAL_AMOUNT")), row(Piece("Acme\nGmbH", "PARTY"))])
    assert text == "Total:  5 € \nAcme\nGmbH"
    assert [(text[start:end], label) for start, end, label in spans] == [
        ("5 €", "TOTAL_AMOUNT"),
        ("Acme\nGmbH", "PARTY"),
    ]


def test_columns_are_printed_row_by_row_and_part_an_address() -> None:
    address = [row(Piece("1 Road\n10 Town", "ADDRESS"))]
    block = beside(address, [row("Date"), row("today"), row("more")], gap="  ")
    assert [text_of(line) for line in block] == ["1 Road  Date", "10 Town  today", "more"]
    assert [span.label for span in render(block)[1]] == ["ADDRESS", "ADDRESS"]
