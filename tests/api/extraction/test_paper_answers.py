"""Papers in an answer: where they stand, what they are, and that each is read alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest

from service.api.extraction.request import DocumentInput
from service.api.extraction.result import build_result
from service.api.options import read_options
from service.api.schemas import DocumentResult, FieldsResult, PaperResult
from service.core.decoding.entities import Entity
from service.core.fields.stated_invoice import ElectronicInvoice
from service.documents.document import Document, Page
from service.families.processor import Findings
from service.text.pipeline import Prepared
from service.text.tokenizer import Tokens
from service.wire import ModelStatus
from tests.support.extractors import request_of

LABELS = ("SUPPLIER_NAME", "RECEIVER_NAME", "INVOICE_ID", "INVOICE_DATE", "TOTAL_AMOUNT", "DATE")
AMERICAN = "INVOICE 😀\nLone Star Inc\nAustin, TX 78701\nInvoice no. A-1\nDate 11/09/2026\nTotal $20.00\n"
DUTCH = "FACTUUR\nDe Vries BV\nFactuurnummer B-2\nFactuurdatum 11/09/2026\nTotaal te betalen € 9,00\nBtw en datum\n"
NOTE = "Delivery note DN-7\nLone Star Inc\nDate 11/10/2026\n2 chairs\n"
FOUND = {
    AMERICAN: {
        "Lone Star Inc": "SUPPLIER_NAME",
        "A-1": "INVOICE_ID",
        "11/09/2026": "INVOICE_DATE",
        "$20.00": "TOTAL_AMOUNT",
    },
    DUTCH: {
        "De Vries BV": "SUPPLIER_NAME",
        "B-2": "INVOICE_ID",
        "11/09/2026": "INVOICE_DATE",
        "€ 9,00": "TOTAL_AMOUNT",
    },
    NOTE: {"Lone Star Inc": "SUPPLIER_NAME", "11/10/2026": "DATE"},
}


def answered(*pages: str, stated: ElectronicInvoice | None = None, **options: Any) -> DocumentResult:
    """The answer to a file with these pages."""
    text, starts, entities = "", [], []
    for page in pages:
        starts.append(len(text))
        places = ((label, part, len(text) + page.index(part)) for part, label in FOUND[page].items())
        entities += [Entity(label, part, start, start + len(part), 0.9) for label, part, start in places]
        text += page
    borders = zip(starts, [*starts[1:], len(text)], strict=True)
    sheets = tuple(Page(number, *border, 600.0, 800.0) for number, border in enumerate(borders, start=1))
    tokens = Tokens(np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    tags = ("O", *(f"B-{label}" for label in LABELS))
    request = request_of(ModelStatus("m", "stable", "sha256:0", "", tags, 512, True, 1), read_options(options))
    document = Document(text, pages=sheets, invoice=stated)
    prepared = Prepared(text, tokens, (), [])
    return build_result(DocumentInput("0"), document, request, prepared, Findings(entities))


def papers(*pages: str, **options: Any) -> list[PaperResult]:
    found = answered(*pages, fields=True, **options).papers
    assert isinstance(found, list)
    return found


def roles(fields: FieldsResult | None) -> dict[str, str]:
    assert fields is not None
    return {name: role.value for name, role in fields.roles.items()}


def test_papers_are_absent_unless_fields_are_asked_for() -> None:
    assert answered(AMERICAN).papers is msgspec.UNSET
    assert [paper.kind for paper in papers(AMERICAN)] == ["invoice"]


def test_each_paper_says_what_it_is_and_where_it_stands() -> None:
    found = papers(AMERICAN, NOTE, DUTCH)
    assert [(each.kind, each.title, each.document_type, each.pages) for each in found] == [
        ("invoice", "INVOICE 😀", "380", (1, 1)),
        ("delivery_note", "Delivery note DN-7", None, (2, 2)),
        ("invoice", "FACTUUR", "380", (3, 3)),
    ]
    borders = [0, len(AMERICAN), len(AMERICAN + NOTE), len(AMERICAN + NOTE + DUTCH)]
    assert [(each.start, each.end) for each in found] == list(pairwise(borders))
    wide = papers(AMERICAN, NOTE, DUTCH, offsets="utf16")
    assert [each.end - own.end for each, own in zip(wide, found, strict=True)] == [1, 1, 1]


def test_each_bill_has_its_own_fields_read_in_its_own_country() -> None:
    first, note, second = papers(AMERICAN, NOTE, DUTCH)
    assert note.fields is None
    assert roles(first.fields)["invoice_date"] == "2026-11-09"
    its_own = {"invoice_id": "B-2", "invoice_date": "2026-09-11", "supplier_name": "De Vries BV"}
    assert roles(second.fields).items() >= (its_own | {"total_amount": "9.00 EUR"}).items()
    assert (first.fields and first.fields.currency, second.fields and second.fields.currency) == ("USD", "EUR")


@pytest.mark.parametrize("pages", [(AMERICAN, NOTE, DUTCH), (DUTCH, NOTE, AMERICAN), (NOTE, DUTCH)])
def test_a_bill_is_read_in_a_stack_as_alone(pages: tuple[str, ...]) -> None:
    for page, paper in zip(pages, papers(*pages), strict=True):
        (alone,) = papers(page)
        assert (alone.kind, alone.title, alone.document_type) == (paper.kind, paper.title, paper.document_type)
        assert paper.fields is None or roles(paper.fields) == roles(alone.fields)


def test_the_fields_of_a_file_are_those_of_its_first_bill() -> None:
    found = answered(NOTE, DUTCH, AMERICAN, fields=True)
    assert isinstance(found.papers, list)
    assert found.fields == found.papers[1].fields
    assert [each.fields and each.fields.bills for each in found.papers] == [None, 2, 2]
    assert answered(NOTE, fields=True).fields is None


def test_entities_have_the_values_of_their_papers() -> None:
    text = AMERICAN + DUTCH
    found = answered(AMERICAN, DUTCH, fields=True)
    assert [each.value for each in found.entities if each.label == "INVOICE_DATE"] == ["2026-11-09", "2026-09-11"]
    assert all(text[each.start : each.end] == each.text for each in found.entities)
    assert [each.page for each in found.entities if each.label == "TOTAL_AMOUNT"] == [1, 2]
    assert isinstance(found.fields, FieldsResult)
    assert isinstance(found.papers, list)
    last = found.papers[1].fields
    assert last is not None
    assert text[last.roles["invoice_id"].start : last.roles["invoice_id"].end] == "B-2"
    kept = answered(AMERICAN, DUTCH, fields=True, labels=["INVOICE_ID"])
    assert [each.text for each in kept.entities] == ["A-1", "B-2"]


def test_an_electronic_invoice_is_one_paper() -> None:
    stated = ElectronicInvoice("CII", "", "factur-x.xml", "381", "EUR", {})
    (paper,) = papers(AMERICAN, NOTE, stated=stated)
    assert (paper.kind, paper.document_type, paper.pages) == ("credit_note", "381", (1, 2))


def test_a_division_that_raises_leaves_one_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError(AMERICAN)

    monkeypatch.setattr("service.api.extraction.paper_answers.divide", broken)
    assert [paper.pages for paper in papers(AMERICAN, DUTCH)] == [(1, 2)]
