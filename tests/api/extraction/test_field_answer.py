"""The fields of an answer: entities as they stand in it, by role."""

from __future__ import annotations

import msgspec

from service.api.extraction.result import answer_fields
from service.api.schemas import EntityResult, FieldsResult
from service.core.decoding.entities import Entity
from service.documents.document import Document
from service.text.values.context import DocumentContext
from service.text.values.reading import read_values

INVOICE = "😀 Acme GmbH\nInvoice INV-1\nMount 2 420.00 840.00\nnet 840.00 tax 159.60 total EUR 999.60"
RESUME = "Maria Delgado\nEngineer, Castell, 2017\nMSc, University\nPython, Spanish"


def fields_of(text: str, *found: tuple[str, str], shift: int = 0) -> FieldsResult | None:
    """Entities in the order of the text; `shift`: what their offsets count more than code points."""
    entities: list[EntityResult] = []
    starts: list[int] = []
    for label, part in found:
        starts.append(text.index(part, starts[-1] + 1 if starts else 0))
        start = starts[-1] + shift
        entities.append(EntityResult(label, part, start, start + len(part), 0.9, part.lower(), 1, []))
    named = [Entity(label, part, at, at + len(part), 0.9) for (label, part), at in zip(found, starts, strict=True)]
    return answer_fields(Document(text), named, read_values(DocumentContext(text), named), entities)


def invoice(shift: int = 0) -> FieldsResult:
    found = fields_of(
        INVOICE,
        *(("SUPPLIER_NAME", "Acme GmbH"), ("INVOICE_ID", "INV-1"), ("LINE_ITEM", "Mount"), ("QUANTITY", "2")),
        *(("MONEY", "420.00"), ("MONEY", "840.00"), ("NET_AMOUNT", "840.00"), ("TAX_AMOUNT", "159.60")),
        ("TOTAL_AMOUNT", "EUR 999.60"),
        shift=shift,
    )
    assert found is not None
    return found


def test_a_role_is_the_entity_with_its_reason_and_alternatives() -> None:
    total = invoice(shift=1).roles["total_amount"]
    assert (total.label, total.text, total.value, total.page) == ("TOTAL_AMOUNT", "EUR 999.60", "eur 999.60", 1)
    assert total.start == INVOICE.index("EUR") + 1, "offsets are those of the answer, in its unit"
    assert (total.reason, total.score) == ("label", 0.9)


def test_a_bill_has_rows_checks_and_a_currency_and_no_list_of_a_resume() -> None:
    answer = msgspec.to_builtins(invoice())
    assert set(answer) == {"kind", "evidence", "roles", "currency", "line_items", "checks"}
    assert answer["kind"] == "receipt"
    assert answer["checks"] == [{"rule": "net_amount + tax_amount = total_amount", "holds": True, "difference": "0.00"}]
    (row,) = answer["line_items"]
    assert [row[part]["text"] for part in ("description", "quantity", "unit_price", "amount")] == [
        *("Mount", "2", "420.00", "840.00")
    ]


def test_a_resume_has_jobs_educations_skills_and_languages() -> None:
    found = fields_of(
        RESUME,
        *(("PERSON", "Maria Delgado"), ("JOB_TITLE", "Engineer"), ("EMPLOYER", "Castell"), ("DATE", "2017")),
        *(("DEGREE", "MSc"), ("SCHOOL", "University"), ("SKILL", "Python"), ("LANGUAGE", "Spanish")),
    )
    answer = msgspec.to_builtins(found)
    assert set(answer) == {"kind", "evidence", "roles", "jobs", "educations", "skills", "languages"}
    assert answer["jobs"][0]["title"]["text"] == "Engineer"
    assert [date["text"] for date in answer["jobs"][0]["dates"]] == ["2017"]
    assert answer["educations"][0]["school"]["text"] == "University"
    assert [each[0]["text"] for each in (answer["skills"], answer["languages"])] == ["Python", "Spanish"]


def test_a_document_of_no_kind_has_none() -> None:
    assert fields_of("Anna Smith", ("PERSON", "Anna Smith")) is None
