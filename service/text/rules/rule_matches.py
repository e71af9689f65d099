"""Rule matches: what rules find in a text, in bounded time, and how it is merged with the model's entities.

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
from service.text.values.script import INVISIBLE

STEP_CHARACTERS = 8_192
LONGEST_CHARACTERS = 2_100
"""Length of a match with what is looked at after it."""
_BEFORE_CHARACTERS = 28
"""How far before a number the word that says what it is may stand."""
_FEWEST_CHARACTERS = 2
"""Letters and digits that what is left of a cut entity must have."""


class Strength(IntEnum):
    """The rank of a match compared with the model."""

    BOUNDS = 1
    """It moves the start and end of what the model has found there; it is no entity of its own."""
    LIKELY = 2
    """It is an entity where the model says nothing else."""
    PROVEN = 3
    """It is an entity whatever the model says: a checksum holds, or nothing else is written so."""


class RuleMatch(NamedTuple):
    """Code points `[start, end)` that a rule takes for an entity. `score`: the share of such matches that are right."""

    label: str
    start: int
    end: int
    strength: Strength
    score: float


def scan(pattern: re.Pattern[str], text: str, sign: re.Pattern[str] | None = None) -> Iterator[re.Match[str]]:
    """All matches from left to right, none overlapping, as `finditer` gives them, but a step at a time.

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
    """The text without its invisible characters, and how a match in it is placed in the text itself."""
    if text.isascii() or INVISIBLE.search(text) is None:
        return text, lambda match: match
    places = [place for place, each in enumerate(text) if not INVISIBLE.match(each)]
    bare = "".join(map(text.__getitem__, places))
    return bare, lambda match: match._replace(start=places[match.start], end=places[match.end - 1] + 1)


def is_named(pattern: re.Pattern[str], text: str, start: int) -> bool:
    """Whether a word that the pattern has stands shortly before a place, on its line or the one above."""
    return pattern.search(text[max(0, start - _BEFORE_CHARACTERS) : start]) is not None


def merge(text: str, entities: Sequence[Entity], matches: Iterable[RuleMatch]) -> list[Entity]:
    """The entities of a text, in order and not overlapping, as those given are. The precedence, from the top:

    1. A match that is proven: what the model has there under another label is cut off it, or dropped.
    2. The model. Where a match of any strength has the same label, the entity keeps its label and score, and takes the
       match's start and end.
    3. A match that is likely, where nothing else is.

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
    """Matches of which no two overlap, in order."""
    ranked = sorted(matches, key=lambda each: (-each.strength, each.start - each.end, each.start))
    taken: list[RuleMatch] = []
    covered: set[int] = set()
    for match in ranked:
        places = range(match.start, match.end)
        if covered.isdisjoint(places):
            taken.append(match)
            covered.update(places)
    return sorted(taken, key=lambda each: each.start)


def _settle(text: str, match: RuleMatch, under: list[Entity]) -> tuple[list[Entity], Entity | None, list[Entity]]:
    """What stands before, at and after a match, of the model's entities that it overlaps."""
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
    """What is left of an entity between two places, without marks at its borders; None if that is next to nothing."""
    part = text[start:end] if start < end else ""
    if sum(map(str.isalnum, part)) < _FEWEST_CHARACTERS:
        return None
    bare = part.strip(" \t\n\r,;:.-–|/<>()[]")
    start += part.index(bare)
    return entity._replace(text=bare, start=start, end=start + len(bare))
