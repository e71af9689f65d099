"""A model's folder says which rules it wants; labels that the model lacks are answered only if they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_store.builtin import model_folder
from service.core.decoding.entities import Entity
from service.core.errors import ModelError
from service.text.rules.rule_set import FINDERS, RuleSet
from service.text.values.context import DocumentContext

TEXT = "Invoice 17 of 12 March 2026: jane@acme.example, 19 %, +49 30 1234567"


def test_a_folder_without_the_file_asks_for_no_rule(tmp_path: Path) -> None:
    entities = [Entity("DATE", "12", 14, 16, 0.9)]
    assert RuleSet.read(tmp_path).apply(DocumentContext(TEXT), entities, ["EMAIL", "DATE"], ["EMAIL"]) is entities


def test_a_label_that_the_model_lacks_is_answered_only_if_asked_for() -> None:
    rules = RuleSet(find=("email", "percent"))
    assert rules.apply(DocumentContext(TEXT), [], ["PERSON"]) == []
    assert [each.label for each in rules.apply(DocumentContext(TEXT), [], ["PERSON"], ["PERCENT"])] == ["PERCENT"]


def test_the_built_in_model_asks_for_all_rules() -> None:
    rules = RuleSet.read(model_folder())
    assert set(rules.find) == set(FINDERS)
    start = TEXT.index("March")
    pieces = [Entity("DATE", "12", start - 3, start - 1, 0.9), Entity("DATE", "March 2026", start, start + 10, 0.8)]
    found = rules.apply(DocumentContext(TEXT), pieces, ["DATE", "EMAIL", "PERCENT", "PHONE"])
    assert [(each.label, each.text, each.source.value) for each in found] == [
        ("DATE", "12 March 2026", "model"),
        ("EMAIL", "jane@acme.example", "rule"),
        ("PERCENT", "19 %", "rule"),
        ("PHONE", "+49 30 1234567", "rule"),
    ]


@pytest.mark.parametrize(
    "content", ["", "[]", '{"find": ["fax"]}', '{"seek": []}', '{"find": 1}', "{" * 70_000, "\xff"]
)
def test_a_file_that_cannot_be_used_is_refused_with_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "rules.json").write_text(content, encoding="latin-1")
    with pytest.raises(ModelError, match=r"rules\.json"):
        RuleSet.read(tmp_path)


def test_dates_are_named_only_for_models_that_ask() -> None:
    text = "due 12 March 2026"
    model = [Entity("INVOICE_DATE", "12 March 2026", 4, 17, 0.4)]
    context = DocumentContext(text)
    assert RuleSet(borders=("date",)).apply(context, model, ["INVOICE_DATE"]) == model
    assert [each.label for each in RuleSet(roles=("date",)).apply(context, model, ["INVOICE_DATE"])] == ["DUE_DATE"]


@pytest.mark.parametrize(
    ("rules", "types", "labels"),
    [
        (RuleSet(roles=("date",)), ["INVOICE_DATE"], {"INVOICE_DATE", "DUE_DATE"}),
        (RuleSet(roles=("date",)), ["PERSON", "DUE_DATE"], {"INVOICE_DATE", "DUE_DATE"}),
        (RuleSet(find=("era_date",), roles=("date",)), ["DUE_DATE"], {"DATE", "INVOICE_DATE", "DUE_DATE"}),
        (RuleSet(roles=("date",)), ["DATE"], set()),
        (RuleSet(find=("email", "card"), borders=("date",)), ["INVOICE_DATE"], {"EMAIL", "ID_NUMBER"}),
        (RuleSet(), ["INVOICE_DATE"], set()),
    ],
)
def test_rules_answer_what_they_find_and_what_they_rename(rules: RuleSet, types: list[str], labels: set[str]) -> None:
    assert rules.labels(types) == labels
