"""A document's result: which entities are listed, and what its fields are chosen from."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.result import build_result
from service.api.schemas import DocumentResult, FieldsResult, read_options
from service.core.decoding.entities import Entity
from service.documents.document import Document
from service.text.pipeline import Prepared
from service.text.tokenizer import Tokens
from service.wire import ModelStatus

TEXT = "😀 Acme GmbH, invoice INV-1, total EUR 9.00"
Found = tuple[tuple[str, str, float], ...]
FOUND: Found = (("SUPPLIER_NAME", "Acme GmbH", 0.9), ("INVOICE_ID", "INV-1", 0.4), ("TOTAL_AMOUNT", "EUR 9.00", 0.9))


def result(text: str = TEXT, found: Found = FOUND, **options: Any) -> DocumentResult:
    entities = [
        Entity(label, part, text.index(part), text.index(part) + len(part), score) for label, part, score in found
    ]
    tokens = Tokens(np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    model = ModelStatus("m", "stable", "sha256:0", "", ("O",), 512, True, 1)
    request = ExtractRequest(model, read_options(options), "client", 1.0)
    return build_result(
        DocumentInput("0", text=text), Document(text), request, Prepared(text, tokens, (), []), entities
    )


def fields(**options: Any) -> FieldsResult:
    found = result(fields=True, **options).fields
    assert isinstance(found, FieldsResult)
    return found


def test_fields_are_absent_unless_asked_for() -> None:
    assert result().fields is msgspec.UNSET
    assert b"fields" not in msgspec.json.encode(result())
    assert set(fields().roles) == {"invoice_id", "supplier_name", "total_amount"}


def test_labels_say_which_entities_are_listed_and_not_what_a_document_is() -> None:
    assert [each.label for each in result(labels=["INVOICE_ID"], fields=True).entities] == ["INVOICE_ID"]
    assert fields(labels=["INVOICE_ID"]) == fields()


def test_an_entity_under_the_least_score_is_no_field() -> None:
    assert set(fields(min_score=0.5).roles) == {"supplier_name", "total_amount"}


def test_offsets_of_fields_have_the_unit_of_the_answer() -> None:
    total = fields(offsets="utf16").roles["total_amount"]
    assert (total.start, total.value) == (TEXT.index("EUR") + 1, "9.00 EUR")


def test_a_field_may_be_written_where_the_model_has_found_nothing() -> None:
    found = result("Acme GmbH, invoice INV-1\nTotal: EUR 9.00", FOUND[:2], fields=True)
    assert [each.label for each in found.entities] == ["SUPPLIER_NAME", "INVOICE_ID"]
    assert isinstance(found.fields, FieldsResult)
    total = found.fields.roles["total_amount"]
    assert (total.label, total.text, total.value, total.kind) == ("MONEY", "EUR 9.00", "9.00 EUR", "money")
    assert (total.source, total.reason, total.alternatives) == ("rule", "context", [])
    below = result("Acme GmbH, invoice INV-1\nTotal: EUR 9.00", FOUND[:2], fields=True, min_score="MONEY:0.99")
    assert isinstance(below.fields, FieldsResult)
    assert "total_amount" not in below.fields.roles


def test_in_what_is_no_bill_nothing_is_looked_for() -> None:
    assert result("Maria Delgado, total 9.00", (("PERSON", "Maria Delgado", 0.9),), fields=True).fields is None
