"""A document's result: which entities are listed, what its fields are chosen from, and the fields by role."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from service.api.engine.resubmission import InferenceResult
from service.api.extraction.field_answers import FieldAnswers
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.extraction.result import build_result
from service.api.options import ExtractOptions, read_options
from service.api.schemas import DocumentResult, EmbeddedResult, EntityResult, FieldsResult
from service.core.arrays import Logits
from service.core.decoding.entities import Entity, Source
from service.core.decoding.offsets import OffsetMap, OffsetUnit
from service.core.decoding.value import Value, ValueKind
from service.core.fields.paper_kind import paper_kind
from service.core.fields.stated_invoice import ElectronicInvoice, InvoiceRow
from service.documents.document import Document
from service.families.processor import Findings
from service.families.processor import prepare as prepared_document
from service.text.pipeline import Prepared, prepare
from service.text.tokenizer import TextTokenizer, Tokens
from service.text.values.context import DocumentContext
from service.text.values.reading import read_values
from service.wire import ModelStatus
from tests.support.extractors import request_of
from tests.support.tiny_models import BERT_SPECIALS, word_piece

VALUES = "paid 03/04/2025 EUR 1,200.00 by 4111 1111 1111 1112"
LABELS = ("O", "B-DATE", "B-MONEY", "B-IBAN")


def request(folder: Path, **options: object) -> ExtractRequest:
    model = ModelStatus("m", "stable", "sha256:0", str(folder), LABELS, 512, True, 1)
    return request_of(model, ExtractOptions.model_validate(options))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pad, unknown, first, last, mask = BERT_SPECIALS
    word_piece(first, pad, last, unknown, mask).save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def entity(label: str, part: str) -> Entity:
    start = VALUES.index(part)
    return Entity(label, part, start, start + len(part), 0.9)


def test_what_there_is_to_say_of_a_value_stands_beside_it(folder: Path) -> None:
    prepared = prepare(TextTokenizer(folder), VALUES, longest=512, overlap=8)
    found = [
        entity("DATE", "03/04/2025"),
        entity("MONEY", "EUR 1,200.00"),
        entity("ID_NUMBER", "4111 1111 1111 1112")._replace(source=Source.RULE),
        entity("PERSON", "by"),
    ]
    result = build_result(DocumentInput("a"), Document(VALUES), request(folder), prepared, Findings(found))
    extra = [set(msgspec.to_builtins(each)) - {"label", "text", "start", "end", "score"} for each in result.entities]
    always = {"value", "kind", "source", "page", "boxes"}
    assert extra == [always | {"ambiguous"}, always | {"number", "unit"}, always | {"valid"}, always]
    date, money, card, person = result.entities
    assert (date.value, date.kind, date.ambiguous) == ("03/04/2025", "date", ["2025-04-03", "2025-03-04"])
    assert (money.value, money.kind, money.number, money.unit) == ("1200.00 EUR", "money", "1200.00", "EUR")
    assert (card.value, card.kind, card.valid, card.source) == ("4111111111111112", "card", False, "rule")
    assert (person.value, person.kind, person.source) == ("by", "text", "model")


def found_by(folder: Path, text: str, **options: object) -> list[tuple[str, str, str]]:
    """What a model that marks nothing answers: label, text and source."""
    prepared = prepared_document(request(folder, **options).task, Document(text))
    (rows,) = prepared.model_input().kept
    nothing: Logits = np.tile(np.array([1, 0, 0, 0], dtype=np.float32), (rows[1] - rows[0], 1))
    found = prepared.findings("a", InferenceResult(nothing, 0, 0))
    return [(each.label, each.text, each.source) for each in found.entities]


def test_rules_take_part_where_the_models_folder_asks_for_them(folder: Path) -> None:
    text = "mail anna@acme.example, IBAN DE89 3704 0044 0532 0130 00"
    assert found_by(folder, text) == []
    (folder / "rules.json").write_text('{"find": ["email", "iban"]}')
    account = ("IBAN", "DE89 3704 0044 0532 0130 00", "rule")
    assert found_by(folder, text) == [account]
    assert found_by(folder, text, labels=["EMAIL"]) == [("EMAIL", "anna@acme.example", "rule"), account]
    assert found_by(folder, text, aggregation="simple") == []


def test_values_are_of_the_kinds_that_the_models_folder_says(folder: Path) -> None:
    (folder / "rules.json").write_text('{"kinds": {"WHEN": "date", "DATE": "text"}}')
    tags = ("O", "B-WHEN", "I-WHEN", "B-DATE", "I-DATE")
    asked = request_of(ModelStatus("m", "stable", "sha256:0", str(folder), tags, 512, True, 1), ExtractOptions())
    prepared = prepared_document(asked.task, Document("paid 14 March 2026"))
    found = [Entity(label, "14 March 2026", 5, 18, 0.9) for label in ("WHEN", "DATE")]
    result = build_result(DocumentInput("a"), Document(prepared.text), asked, prepared, Findings(found))
    assert [(each.kind, each.value) for each in result.entities] == [("date", "2026-03-14"), ("text", "14 March 2026")]


TEXT = "😀 Acme GmbH, invoice INV-1, total EUR 9.00"
Found = tuple[tuple[str, str, float], ...]
FOUND: Found = (("SUPPLIER_NAME", "Acme GmbH", 0.9), ("INVOICE_ID", "INV-1", 0.4), ("TOTAL_AMOUNT", "EUR 9.00", 0.9))


def result(text: str = TEXT, found: Found = FOUND, **options: Any) -> DocumentResult:
    entities = [
        Entity(label, part, text.index(part), text.index(part) + len(part), score) for label, part, score in found
    ]
    tokens = Tokens(np.zeros(0, np.int32), np.zeros((0, 2), np.int32))
    tags = ("O", *(f"B-{label}" for label, _, _ in FOUND), "B-MONEY")
    model = ModelStatus("m", "stable", "sha256:0", "", tags, 512, True, 1)
    request = request_of(model, read_options(options))
    return build_result(
        DocumentInput("0", text=text), Document(text), request, Prepared(text, tokens, (), []), Findings(entities)
    )


def fields(**options: Any) -> FieldsResult:
    found = result(fields=True, **options).fields
    assert isinstance(found, FieldsResult)
    return found


def test_fields_are_absent_unless_asked_for() -> None:
    assert result().fields is msgspec.UNSET
    assert b"fields" not in msgspec.json.encode(result())
    assert set(fields().roles) == {"invoice_id", "supplier_name", "total_amount"}


def test_a_choice_of_fields_that_raises_costs_the_fields_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Acme GmbH")

    monkeypatch.setattr("service.api.extraction.field_answers.find_fields", broken)
    assert result(fields=True).fields is None
    assert result(fields=True).entities == result().entities


def test_labels_say_which_entities_are_listed_and_not_what_a_document_is() -> None:
    assert [each.label for each in result(labels=["INVOICE_ID"], fields=True).entities] == ["INVOICE_ID"]
    assert fields(labels=["INVOICE_ID"]) == fields()


def test_the_least_score_tells_which_entities_are_listed() -> None:
    found = result(fields=True, min_score=0.5)
    assert [each.label for each in found.entities] == ["SUPPLIER_NAME", "TOTAL_AMOUNT"]
    assert (found.fields, found.papers) == (fields(), result(fields=True).papers)
    assert result(fields=True, min_score=0.95).fields == fields()
    only_total = result(fields=True, min_score="0.95,TOTAL_AMOUNT:0.5")
    assert [each.label for each in only_total.entities] == ["TOTAL_AMOUNT"]


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
    limited = result("Acme GmbH, invoice INV-1\nTotal: EUR 9.00", FOUND[:2], fields=True, min_score="MONEY:0.99")
    assert limited.fields == found.fields


def test_in_what_is_no_bill_nothing_is_looked_for() -> None:
    assert result("Maria Delgado, total 9.00", (("PERSON", "Maria Delgado", 0.9),), fields=True).fields is None


INVOICE = "😀 Acme GmbH\nInvoice INV-1\nMount 2 420.00 840.00\nnet 840.00 tax 159.60 total EUR 999.60"
RESUME = "Maria Delgado\nEngineer, Castell, 2017\nMSc, University\nPython, Spanish"


def fields_of(
    text: str, *found: tuple[str, str], shift: int = 0, stated: ElectronicInvoice | None = None
) -> FieldsResult | None:
    """Entities in the order of the text; `shift`: what their offsets count more than code points; `stated`: by XML."""
    entities: list[EntityResult] = []
    starts: list[int] = []
    for label, part in found:
        starts.append(text.index(part, starts[-1] + 1 if starts else 0))
        start = starts[-1] + shift
        entities.append(EntityResult(label, part, start, start + len(part), 0.9, part.lower(), 1, []))
    named = [Entity(label, part, at, at + len(part), 0.9) for (label, part), at in zip(found, starts, strict=True)]
    context = DocumentContext(text)
    answers = FieldAnswers(Document(text, invoice=stated), context, OffsetMap(text, OffsetUnit.CODEPOINT))
    return answers.fields(paper_kind(text, named), named, read_values(context, named), entities)[0]


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
    assert (total.reason, [each.score for each in total.alternatives]) == ("label", [])
    assert total.score > 0.95, "the score is the role's: the entity has 0.9, and the amounts add up"


def test_a_bill_has_rows_checks_and_a_currency_and_no_list_of_a_resume() -> None:
    answer = msgspec.to_builtins(invoice())
    assert set(answer) == {
        *("kind", "evidence", "roles", "currency", "line_items", "taxes", "checks", "bills", "document_type")
    }
    assert (answer["kind"], answer["document_type"]) == ("invoice", "380")
    assert answer["checks"] == [
        {"rule": "net_amount + tax_amount = total_amount", "holds": True, "difference": "0.00", "lines": []},
        {"rule": "sum of line_items = net_amount", "holds": True, "difference": "0.00", "lines": []},
    ]
    assert [(tax["rate"], tax["amount"]["text"]) for tax in answer["taxes"]] == [(None, "159.60")]
    (row,) = answer["line_items"]
    assert [row[part]["text"] for part in ("description", "quantity", "unit_price", "amount")] == [
        *("Mount", "2", "420.00", "840.00")
    ]


def test_the_lines_of_a_check_have_their_amounts() -> None:
    found = result("Acme GmbH\nInvoice INV-1\nNet 10.00\nTax 2.00\nTip 3.00\nTotal EUR 15.00", FOUND[:2], fields=True)
    assert isinstance(found.fields, FieldsResult)
    (check,) = msgspec.to_builtins(found.fields.checks)
    assert check["rule"] == "net_amount + tax_amount + tip = total_amount"
    assert check["lines"] == [{"name": "tip", "amount": "3.00"}]


def test_an_amount_that_names_no_currency_has_that_of_its_paper() -> None:
    text = "Acme GmbH\nInvoice INV-1\nMount 2 210.00 420.00\nnet 840.00 tax 159.60 total EUR 999.60"
    parts = (
        ("INVOICE_ID", "INV-1"),
        ("LINE_ITEM", "Mount"),
        ("QUANTITY", "2"),
        ("MONEY", "210.00"),
        ("MONEY", "420.00"),
    )
    sums = (("NET_AMOUNT", "840.00"), ("TAX_AMOUNT", "159.60"), ("TOTAL_AMOUNT", "EUR 999.60"))
    answer = result(text, tuple((*each, 0.9) for each in (*parts, *sums)), fields=True)
    assert [each.value for each in answer.entities][-3:] == ["840.00", "159.60", "999.60 EUR"]
    fields = msgspec.to_builtins(answer.fields)
    shown = [fields["roles"]["net_amount"], fields["taxes"][0]["amount"], fields["line_items"][0]["amount"]]
    assert [(each["value"], each["unit"]) for each in shown] == [
        *(("840.00 EUR", "EUR"), ("159.60 EUR", "EUR"), ("420.00 EUR", "EUR"))
    ]


def test_an_amount_in_an_unknown_currency_is_a_number() -> None:
    answer = result("Acme GmbH, invoice INV-1\nTotal: 9.00", (*FOUND[:2], ("TOTAL_AMOUNT", "9.00", 0.9)), fields=True)
    assert isinstance(answer.fields, FieldsResult)
    total = answer.fields.roles["total_amount"]
    assert (answer.fields.currency, total.value, total.unit) == (None, "9.00", msgspec.UNSET)


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


def stated_invoice(**texts: str) -> ElectronicInvoice:
    total = Value(ValueKind.MONEY, "999.60 EUR", number=Decimal("999.60"), unit="EUR")
    roles = {"TOTAL_AMOUNT": total, "IBAN": Value(ValueKind.IBAN, "DE89370400440532013000")}
    roles.update((label, Value(ValueKind.TEXT, text)) for label, text in texts.items())
    return ElectronicInvoice("UBL", "urn:x", "a.xml", "380", "EUR", roles, (InvoiceRow("Mount", amount=total),))


@pytest.mark.parametrize(
    ("code", "kind"), [("380", "invoice"), ("381", "credit_note"), ("384", "invoice"), ("261", "credit_note")]
)
def test_the_xml_says_whether_it_is_a_credit_note(code: str, kind: str) -> None:
    parts = (("SUPPLIER_NAME", "Acme GmbH"), ("INVOICE_ID", "INV-1"), ("TOTAL_AMOUNT", "EUR 999.60"))
    found = fields_of(INVOICE, *parts, stated=replace(stated_invoice(), type_code=code))
    assert found is not None
    assert (found.kind, found.document_type) == (kind, code)


def test_an_invoice_is_answered_with_what_its_xml_states_alone() -> None:
    found = fields_of(
        INVOICE,
        *(("SUPPLIER_NAME", "Acme GmbH"), ("INVOICE_ID", "INV-1"), ("TOTAL_AMOUNT", "EUR 999.60")),
        stated=stated_invoice(INVOICE_ID="INV-2"),
    )
    assert found is not None
    shown = {name: (role.text, role.value, role.source, role.reason) for name, role in found.roles.items()}
    assert shown == {
        "invoice_id": ("", "INV-2", "embedded", "embedded"),
        "total_amount": ("EUR 999.60", "999.60 EUR", "embedded", "embedded"),
        "iban": ("", "DE89370400440532013000", "embedded", "embedded"),
    }
    assert (found.roles["iban"].valid, found.roles["iban"].page, found.roles["iban"].end) == (True, None, 0)
    assert isinstance(found.embedded, EmbeddedResult)
    (different,) = found.embedded.contradictions
    assert (different.role, different.embedded, different.page.text) == ("invoice_id", "INV-2", "INV-1")
    assert isinstance(found.line_items, list)
    assert [(row.description.text, row.amount and row.amount.value) for row in found.line_items] == [
        ("Mount", "999.60 EUR")
    ]


def test_a_number_whose_checksum_fails_is_doubted_in_an_xml_as_well() -> None:
    good, bad = "DE89370400440532013000", "DE89370400440532013001"
    for number, score in ((good, 1.0), (bad, 0.4)):
        stated = stated_invoice()
        stated = replace(stated, roles={**stated.roles, "IBAN": Value(ValueKind.IBAN, number)})
        found = fields_of("nothing here", stated=stated)
        assert found is not None
        assert (found.roles["iban"].valid, found.roles["iban"].score) == (number == good, score)


def test_an_invoice_whose_page_says_nothing_has_the_fields_of_its_xml() -> None:
    found = fields_of("nothing here", stated=stated_invoice())
    assert found is not None
    assert (found.kind, found.currency, list(found.roles)) == ("invoice", "EUR", ["total_amount", "iban"])


def test_a_document_of_no_kind_has_none() -> None:
    assert fields_of("Anna Smith", ("PERSON", "Anna Smith")) is None
