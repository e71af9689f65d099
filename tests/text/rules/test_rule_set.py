"""Rules of a model's folder, and how their matches merge with the model's entities: proven, the model, likely."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_store.builtin import model_folder
from service.core.decoding.entities import Entity, Source
from service.core.errors import ModelError
from service.text.rules.rule_matches import RuleMatch, Strength, merge
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


def test_a_number_ends_before_the_mark_of_a_note() -> None:
    text = "jane@acme.com¹, +49 30 1234567², IBAN DE89 3704 0044 0532 0130 00†, VAT ID DE136695976③ 19 %¹"
    labels = ["EMAIL", "PHONE", "IBAN", "TAX_ID", "PERCENT"]
    found = RuleSet(find=("email", "phone", "iban", "tax_id", "percent")).apply(DocumentContext(text), [], labels)
    numbers = ["jane@acme.com", "+49 30 1234567", "DE89 3704 0044 0532 0130 00", "DE136695976", "19 %"]
    assert [each.text for each in found] == numbers
    assert all(text[each.start : each.end] == each.text for each in found)


def broken(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    yield RuleMatch("EMAIL", 0, int("²"), Strength.PROVEN, 1.0)


def test_a_rule_that_raises_costs_its_own_matches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FINDERS, "email", ("EMAIL", broken))
    context = DocumentContext(TEXT)
    found = RuleSet(find=("email", "percent")).apply(context, [], ["EMAIL", "PERCENT"])
    assert [each.label for each in found] == ["PERCENT"]
    assert {each.reader for each in context.failures} == {"email"}


def test_rules_find_the_same_however_accents_are_written() -> None:
    rules, types = RuleSet.read(model_folder()), ["DATE", "URL"]
    for text, date in (("1ère échéance: 2 février 2026 café.fr", "février"), ("기한 2026년 3월 12일, 가.fr", "3월")):
        found = []
        for form in ("NFC", "NFD"):
            written, part = unicodedata.normalize(form, text), unicodedata.normalize(form, date)
            start = written.index(part)
            entities = [Entity("DATE", part, start, start + len(part), 0.9)]
            answer = rules.apply(DocumentContext(written), entities, types)
            assert all(each.text == written[each.start : each.end] for each in answer)
            found.append([(each.label, unicodedata.normalize("NFC", each.text)) for each in answer])
        assert found[0] == found[1]
        assert len(found[0][0][1]) > len(date)


@pytest.mark.parametrize("blank", ["\u200d", "\u2003", "\ufeff", "\u2060", "\x1f", "\u180e"])
def test_no_entity_of_the_rules_ends_with_a_blank_or_before_a_mark(blank: str) -> None:
    text = f"{blank}https://acme.example/x{blank}\n12{blank}\n7 %\u0301 {blank}"
    start = text.index("12")
    entities = [Entity("DATE", "12", start, start + 2 + len(blank), 0.9), Entity("DATE", blank, 0, 1, 0.9)]
    found = RuleSet.read(model_folder()).apply(DocumentContext(text), entities, ["DATE", "URL", "PERCENT"])
    assert [each.text for each in found] == ["https://acme.example/x", "12", "7 %\u0301"]


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", '{"find": ["fax"]}', '{"seek": []}', '{"find": 1}', "{" * 70_000, "\xff"),
        *('{"kinds": {"WHEN": "dat"}}', '{"kinds": ["WHEN"]}', '{"kinds": {"WHEN": null}}'),
    ],
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


CONTACT = "Jane Doe, 12 Main St, jane@acme.example"


def entity(label: str, part: str, score: float = 0.8) -> Entity:
    start = CONTACT.index(part)
    return Entity(label, part, start, start + len(part), score)


def finding(label: str, part: str, strength: Strength) -> RuleMatch:
    start = CONTACT.index(part)
    return RuleMatch(label, start, start + len(part), strength, 0.9)


def merged(entities: list[Entity], *findings: RuleMatch) -> list[tuple[str, str, float, Source]]:
    return [(each.label, each.text, each.score, each.source) for each in merge(CONTACT, entities, findings)]


def test_a_rule_alone_has_its_own_score() -> None:
    found = merged([], finding("EMAIL", "jane@acme.example", Strength.LIKELY))
    assert found == [("EMAIL", "jane@acme.example", 0.9, Source.RULE)]


def test_where_both_agree_the_entity_is_the_models_with_the_rules_borders() -> None:
    for strength in Strength:
        pieces = [entity("EMAIL", "jane@acme", 0.6), entity("EMAIL", "example", 0.7)]
        found = merged(pieces, finding("EMAIL", "jane@acme.example", strength))
        assert found == [("EMAIL", "jane@acme.example", 0.7, Source.MODEL)]


def test_a_proven_finding_is_cut_off_what_the_model_has_there() -> None:
    found = merged([entity("ADDRESS", "12 Main St, jane@acme")], finding("EMAIL", "jane@acme.example", Strength.PROVEN))
    assert found == [("ADDRESS", "12 Main St", 0.8, Source.MODEL), ("EMAIL", "jane@acme.example", 0.9, Source.RULE)]


def test_a_proven_finding_takes_the_place_of_what_it_covers() -> None:
    found = merged([entity("PERSON", "jane")], finding("EMAIL", "jane@acme.example", Strength.PROVEN))
    assert [label for label, *_ in found] == ["EMAIL"]


def test_a_likely_finding_yields_to_another_label_of_the_model() -> None:
    for strength in (Strength.LIKELY, Strength.BOUNDS):
        found = merged([entity("ADDRESS", "12 Main St")], finding("PHONE", "12", strength))
        assert found == [("ADDRESS", "12 Main St", 0.8, Source.MODEL)]


def test_borders_alone_are_no_entity() -> None:
    assert merged([], finding("PHONE", "12", Strength.BOUNDS)) == []


def test_among_findings_the_stronger_and_then_the_longer_comes_first() -> None:
    longer, shorter = "jane@acme.example", "acme.example"
    found = merged([], finding("URL", shorter, Strength.PROVEN), finding("EMAIL", longer, Strength.LIKELY))
    assert [label for label, *_ in found] == ["URL"]
    found = merged([], finding("URL", shorter, Strength.PROVEN), finding("EMAIL", longer, Strength.PROVEN))
    assert [label for label, *_ in found] == ["EMAIL"]


SPANS = st.lists(st.tuples(st.integers(0, 38), st.integers(1, 12)), max_size=8)


@given(SPANS, SPANS, st.lists(st.sampled_from(list(Strength)), min_size=8, max_size=8))
def test_entities_are_in_order_and_never_overlap(
    model: list[tuple[int, int]], rules: list[tuple[int, int]], strengths: list[Strength]
) -> None:
    entities: list[Entity] = []
    for start, length in sorted(model):
        stop = min(len(CONTACT), start + length)
        if start < stop and (not entities or entities[-1].end <= start):
            entities.append(Entity("AB"[start % 2], CONTACT[start:stop], start, stop, 0.5))
    findings = [
        RuleMatch("AB"[length % 2], start, min(len(CONTACT), start + length), strength, 0.9)
        for (start, length), strength in zip(rules, strengths, strict=False)
    ]
    found = merge(CONTACT, entities, findings)
    assert all(each.text == CONTACT[each.start : each.end] and each.text for each in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
