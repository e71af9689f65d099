"""Rule matches: scans texts in bounded time, and merges the matches of rules with the model's entities.

The rule: every pattern begins where a run of its characters begins and has bounded repetitions only, so each character
of a text costs a bounded number of steps; and no search runs over more than `STEP_CHARACTERS` and a match, so that
other threads get the GIL in between. Most texts have nothing for most rules: an expensive pattern has a cheap `sign`,
which every match of it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from service.core.decoding.entities import Entity, Source
from service.text.values.normalization import INVISIBLE, NOTES

STEP_CHARACTERS = 8_192
LONGEST_CHARACTERS = 2_100
"""Most characters of a match, with those that it looks ahead at."""
_BEFORE_CHARACTERS = 28
"""Characters before a number within which the word that names it stands."""
_NOTE_BEHIND = re.compile(rf"[{NOTES}](?<=[0-9A-Za-z%€$£)].)[{NOTES}]{{0,2}}(?!\w)")
_FEWEST_CHARACTERS = 2
"""Fewest letters and digits of the rest of a cut entity."""


class Strength(IntEnum):
    """The rank of a match compared with the model."""

    BOUNDS = 1
    """It moves the borders of the model's entity there; it is no entity of its own."""
    LIKELY = 2
    """It is an entity where the model says nothing else."""
    PROVEN = 3
    """It is an entity whatever the model says: a checksum holds, or nothing else is written so."""


class RuleMatch(NamedTuple):
    """Code points `[start, end)` that a rule takes for an entity. `score`: share of such matches that are right."""

    label: str
    start: int
    end: int
    strength: Strength
    score: float


def scan(pattern: re.Pattern[str], text: str, sign: re.Pattern[str] | None = None) -> Iterator[re.Match[str]]:
    """Yield all matches from left to right, none overlapping, as `finditer` does, but a step at a time.

    A text without `sign` is not scanned.
    """
    if sign is not None and sign.search(text) is None:
        return
    start = 0
    while start < len(text):
        stop = start + STEP_CHARACTERS
        for match in pattern.finditer(text, start, min(len(text), stop + LONGEST_CHARACTERS)):
            if match.start() >= stop:
                break
            start = match.end()
            yield match
        start = max(start, stop)


def on_visible_text(text: str) -> tuple[str, Callable[[RuleMatch], RuleMatch]]:
    """Remove a text's invisible characters and marks of notes; returns it with a function that places matches."""
    if text.isascii():
        return text, lambda match: match
    text = _NOTE_BEHIND.sub(lambda match: " " * len(match.group()), text)
    if INVISIBLE.search(text) is None:
        return text, lambda match: match
    places = [place for place, each in enumerate(text) if not INVISIBLE.match(each)]
    bare = "".join(map(text.__getitem__, places))
    return bare, lambda match: match._replace(start=places[match.start], end=places[match.end - 1] + 1)


def is_named(pattern: re.Pattern[str], text: str, start: int) -> bool:
    """True if the pattern matches shortly before a place, on its line or the one above."""
    return pattern.search(text[max(0, start - _BEFORE_CHARACTERS) : start]) is not None


def merge(text: str, entities: Sequence[Entity], matches: Iterable[RuleMatch]) -> list[Entity]:
    """Merge matches into a text's entities; both are in order and do not overlap. The precedence, from the top:

    1. A proven match: entities under other labels lose the part that overlaps it, or are dropped.
    2. The model. Where a match of any strength has the same label, the entity keeps its label and score, and takes the
       match's start and end.
    3. A likely match, where nothing else is.

    Among matches the stronger comes first, then the longer, then the one further left.
    """
    chosen = _choose(matches)
    if not chosen:
        return list(entities)
    result: list[Entity] = []
    rest = list(reversed(entities))
    for match in chosen:
        while rest and rest[-1].end <= match.start:
            result.append(rest.pop())
        under: list[Entity] = []
        while rest and rest[-1].start < match.end:
            under.append(rest.pop())
        before, entity, after = _settle(text, match, under)
        result += before
        if entity is not None:
            result.append(entity)
        rest += reversed(after)
    return [*result, *reversed(rest)]


def _choose(matches: Iterable[RuleMatch]) -> list[RuleMatch]:
    """Choose matches of which no two overlap, in order."""
    ranked = sorted(matches, key=lambda found: (-found.strength, found.start - found.end, found.start))
    taken: list[RuleMatch] = []
    covered: set[int] = set()
    for match in ranked:
        places = range(match.start, match.end)
        if covered.isdisjoint(places):
            taken.append(match)
            covered.update(places)
    return sorted(taken, key=lambda found: found.start)


def _settle(text: str, match: RuleMatch, under: list[Entity]) -> tuple[list[Entity], Entity | None, list[Entity]]:
    """Divide the model's entities that a match overlaps into those before, at and after it."""
    same = [each for each in under if each.label == match.label]
    others = [each for each in under if each.label != match.label]
    if match.strength is not Strength.PROVEN and others:
        return [], None, under
    if match.strength is Strength.BOUNDS and not same:
        return [], None, under
    score = max((each.score for each in same), default=match.score)
    source = Source.MODEL if same else Source.RULE
    entity = Entity(match.label, text[match.start : match.end], match.start, match.end, score, source)
    before = [left for each in others if (left := _part(text, each, each.start, match.start)) is not None]
    after = [left for each in others if (left := _part(text, each, match.end, each.end)) is not None]
    return before, entity, after


def _part(text: str, entity: Entity, start: int, end: int) -> Entity | None:
    """Cut an entity to its part between two places, without marks at its borders; None if next to nothing is left."""
    part = text[start:end] if start < end else ""
    if sum(map(str.isalnum, part)) < _FEWEST_CHARACTERS:
        return None
    bare = part.strip(" \t\n\r,;:.-–|/<>()[]")
    start += part.index(bare)
    return entity._replace(text=bare, start=start, end=start + len(bare))
