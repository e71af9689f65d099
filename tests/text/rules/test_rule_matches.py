"""A proven finding comes before the model, the model before a likely one; borders are the rule's where both agree."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from service.core.decoding.entities import Entity, Source
from service.text.rules.rule_matches import RuleMatch, Strength, merge

TEXT = "Jane Doe, 12 Main St, jane@acme.example"


def entity(label: str, part: str, score: float = 0.8) -> Entity:
    start = TEXT.index(part)
    return Entity(label, part, start, start + len(part), score)


def finding(label: str, part: str, strength: Strength) -> RuleMatch:
    start = TEXT.index(part)
    return RuleMatch(label, start, start + len(part), strength, 0.9)


def merged(entities: list[Entity], *findings: RuleMatch) -> list[tuple[str, str, float, Source]]:
    return [(each.label, each.text, each.score, each.source) for each in merge(TEXT, entities, findings)]


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
        stop = min(len(TEXT), start + length)
        if start < stop and (not entities or entities[-1].end <= start):
            entities.append(Entity("AB"[start % 2], TEXT[start:stop], start, stop, 0.5))
    findings = [
        RuleMatch("AB"[length % 2], start, min(len(TEXT), start + length), strength, 0.9)
        for (start, length), strength in zip(rules, strengths, strict=False)
    ]
    found = merge(TEXT, entities, findings)
    assert all(each.text == TEXT[each.start : each.end] and each.text for each in found)
    assert all(left.end <= right.start for left, right in pairwise(found))
