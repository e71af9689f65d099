"""Puts together what the model and the rules have found. The precedence, from the top:

1. A finding that is proven: what the model has there under another label is cut off it, or dropped.
2. The model. Where a finding of any strength has the same label, the entity stays the model's, label and score, and
   takes the rule's borders.
3. A finding that is likely, where nothing else is.

Among findings the stronger comes first, then the longer, then the one further left. No two entities overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from service.core.decoding.entities import Entity, Source
from service.text.rules.finding import Finding, Strength

_FEWEST_CHARACTERS = 2
"""Letters and digits that what is left of the model's entity must have."""


def merge(text: str, entities: Sequence[Entity], findings: Iterable[Finding]) -> list[Entity]:
    """The entities of a text, in order; those given are in order and do not overlap."""
    chosen = _choose(findings)
    if not chosen:
        return list(entities)
    result: list[Entity] = []
    rest = list(reversed(entities))
    for finding in chosen:
        while rest and rest[-1].end <= finding.start:
            result.append(rest.pop())
        under: list[Entity] = []
        while rest and rest[-1].start < finding.end:
            under.append(rest.pop())
        before, entity, after = _settle(text, finding, under)
        result += before
        if entity is not None:
            result.append(entity)
        rest += reversed(after)
    return [*result, *reversed(rest)]


def _choose(findings: Iterable[Finding]) -> list[Finding]:
    """Findings of which no two overlap, in order."""
    ranked = sorted(findings, key=lambda each: (-each.strength, each.start - each.end, each.start))
    taken: list[Finding] = []
    covered: set[int] = set()
    for finding in ranked:
        places = range(finding.start, finding.end)
        if covered.isdisjoint(places):
            taken.append(finding)
            covered.update(places)
    return sorted(taken, key=lambda each: each.start)


def _settle(text: str, finding: Finding, under: list[Entity]) -> tuple[list[Entity], Entity | None, list[Entity]]:
    """What stands before, at and after a finding, of the model's entities that it overlaps."""
    same = [each for each in under if each.label == finding.label]
    others = [each for each in under if each.label != finding.label]
    if finding.strength is not Strength.PROVEN and others:
        return [], None, under
    if finding.strength is Strength.BORDERS and not same:
        return [], None, under
    score = max((each.score for each in same), default=finding.score)
    source = Source.MODEL if same else Source.RULE
    entity = Entity(finding.label, text[finding.start : finding.end], finding.start, finding.end, score, source)
    before = [left for each in others if (left := _part(text, each, each.start, finding.start)) is not None]
    after = [left for each in others if (left := _part(text, each, finding.end, each.end)) is not None]
    return before, entity, after


def _part(text: str, entity: Entity, start: int, end: int) -> Entity | None:
    """What is left of an entity between two places, without marks at its borders; None if that is next to nothing."""
    part = text[start:end] if start < end else ""
    if sum(map(str.isalnum, part)) < _FEWEST_CHARACTERS:
        return None
    bare = part.strip(" \t\n\r,;:.-–|/<>()[]")
    start += part.index(bare)
    return entity._replace(text=bare, start=start, end=start + len(bare))
