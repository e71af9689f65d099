"""Span extension moves the borders of the model's entities to whole dates and identifiers.

It finds no entities of its own, but for dates of eras.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import pairwise, takewhile

from service.core.decoding.entities import Entity
from service.core.decoding.value import ValueKind
from service.core.fields import roles
from service.core.fields.named_roles import BILL_DATES
from service.core.fields.roles import AMOUNTS, IDENTIFIERS
from service.text.rules.rule_matches import RuleMatch, Strength, scan
from service.text.values import names
from service.text.values.context import DocumentContext
from service.text.values.dates import ISO_TIME
from service.text.values.normalization import NOTES, RAISED, WORD, WORD_MARKS, key
from service.text.values.periods import BETWEEN_WORDS, FROM_WORDS
from service.text.values.reading import read_value

DATES = roles.DATES | {"EFFECTIVE_DATE"}
_AROUND_CHARACTERS = 30
"""Characters around an entity that are searched for the rest of it: no date or identifier is longer on either side."""
_MONTH = rf"(?:{WORD.pattern})"
_ORDINAL = r"(?:st|nd|rd|th|ère|er|ème|º|ª|\.)?"
_ERA_DATE = (
    r"(?:令和|平成|昭和|大正|明治|中華民國|民國|民国) ?(?:[0-9]{1,3}|元) ?年 ?[0-9]{1,2} ?月(?: ?[0-9]{1,2} ?日)?"
    r"|(?<![\w./-])[RHS令平昭] ?(?:[0-9]{1,2}|元)"
    r"(?: ?年 ?[0-9]{1,2} ?月 ?[0-9]{1,2} ?日|(?P<era>[./-])[01]?[0-9](?P=era)[0-3]?[0-9])"
    r"(?![\w/.-])"
)
"""A date with a year of an era; behind an era's mere letter only a whole date."""
_DATE = re.compile(
    rf"(?:(?<![\w{WORD_MARKS}./-])(?:(?=[0-9])(?:"
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{ISO_TIME}|[0-9]{{8}}{ISO_TIME}"
    r"|[0-9]{4}(?P<mark>[./-])[0-9]{1,2}(?P=mark)[0-9]{1,2}"
    r"|[0-9]{1,2}(?P<dot>[./-])[0-9]{1,2}(?P=dot)(?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,2}\. ?[0-9]{1,2}\. ?[0-9]{4}"
    rf"|[0-9]{{1,2}}{_ORDINAL}[ /-]{{0,2}}(?:de |of )?{_MONTH}\.?,?[ /-]{{0,2}}(?:de |del )?"
    r"(?:[0-9]{4}|['’]?[0-9]{2}(?![.,:]))"
    r"|[0-9]{1,2}/[0-9]{4}"
    r"|[0-9]{2,4} ?年 ?[0-9]{1,2} ?月(?: ?[0-9]{1,2} ?日)?"
    r"|[0-9]{4}년 ?[0-9]{1,2}월(?: ?[0-9]{1,2}일)?"
    rf")|{_MONTH}\.? (?:[0-9]{{1,2}}{_ORDINAL},? [0-9]{{4}}|(?:de )?[0-9]{{4}})"
    rf")(?![^\W{NOTES}]|[/-]|[.,][0-9])|{_ERA_DATE})"
)
_DAY = rf"[0-9]{{1,2}}{_ORDINAL}"
_TO = rf"(?:\s?[-‐‑–—~～]\s?|\s{BETWEEN_WORDS}\s)"
_PERIOD = re.compile(
    rf"(?<![\w{WORD_MARKS}./:#№-])(?:{_DAY}|{_DAY}[ .]?(?:de |of )?{_MONTH}\.?|{_MONTH}\.? {_DAY}"
    rf"|[0-9]{{1,2}}\.[0-9]{{1,2}}\.|[0-3][0-9]\.[01][0-9]|[0-9]{{1,2}}/[0-9]{{1,2}}/?|{_MONTH}\.?){_TO}"
    r"(?:[0-9]{1,2}(?P<point>[./-])[0-9]{1,2}(?P=point)(?:[0-9]{4}|[0-9]{2})"
    rf"|(?:{_DAY}[ /-]{{0,2}}(?:de |of )?)?{_MONTH}\.?,? (?:de |del )?[0-9]{{4}}|(?:{_MONTH}\.? )?{_DAY},? [0-9]{{4}})"
    rf"(?: (?:г\.|года|г|р\.|року|r\.|roku))?(?![^\W{NOTES}]|[/-]|[.,][0-9])"
    rf"|(?<![\w./-])[0-9]{{4}}(?:(?P<mark>[./-]) ?[0-9]{{1,2}}(?P=mark) ?[0-9]{{1,2}}|\. {_MONTH} [0-9]{{1,2}}"
    r"|年 ?[0-9]{1,2} ?月 ?[0-9]{1,2} ?日)\.? ?(?:[–~～〜]|から|至| - ) ?"
    r"(?:[0-9]{1,2} ?[月./-] ?)?[0-9]{1,2}(?: ?日|\.)?(?![\w/-])"
)
"""A period whose dates share parts."""
_NEAR_PERIOD = re.compile(rf"{_TO}|から|至")
_LONE_DAY = re.compile(
    rf"{_DAY}(?:\s[-‐‑–—]|[-‐‑–—]\s)|[0-9]{{1,2}}(?:\s{BETWEEN_WORDS}\s|[-‐‑–—][0-9]{{1,2}}[./-][0-9])"
)
_NEAR = r"[\s:(]{0,3}\Z"
_BEFORE_PERIOD = re.compile(
    rf"(?<!\w)(?:(?:{FROM_WORDS})\s|(?:[^\W\d_]{{0,12}}zeitraum|per[ií]od[oe]?|période|okres|дати)[\s:(]){_NEAR}", re.I
)
"""What stands before a mere day that is one of a period; others are other numbers: `Page 5 - 12 March 2026`."""
_CELL_START = re.compile(r"[:(\t]\s{0,3}\Z")
"""What may stand there too, unless the period's end is a bill's date: `Invoice: 5 - 12 March 2026`."""
_ERA_ONLY = re.compile(_ERA_DATE)
_ERA_SIGN = re.compile("[RHS令平昭大明民中][0-9元 和成正治國国華]")
_YEAR_CHARACTERS = 4
"""Characters of a mere year, which is no date by its form alone."""
_LONGEST_IDENTIFIER = 60


def whole_dates(text: str, entities: list[Entity], context: DocumentContext) -> list[Entity]:
    """Extend dates to the whole dates that they are parts of; parts of one date are joined."""
    result: list[Entity] = []
    for entity in entities:
        if entity.label in AMOUNTS and _ERA_ONLY.fullmatch(entity.text):
            entity = entity._replace(label="DATE")
        if entity.label not in DATES:
            result.append(entity)
            continue
        last = result[-1] if result and result[-1].label in DATES else None
        if last is not None and entity.end <= last.end:
            result[-1] = _stronger(last, entity)
            continue
        start, end = _date_around(text, entity, last, context)
        found = entity._replace(text=text[start:end], start=start, end=end)
        if last is not None and start < last.end:
            if start > last.start or end < last.end:
                result.append(entity)
                continue
            found = _stronger(found, last)
            result.pop()
        result.append(found)
    return _without_overlap(result, entities)


def whole_periods(text: str, entities: list[Entity], context: DocumentContext) -> list[Entity]:
    """Join the pieces of periods whose dates share parts: `01.09. - 30.09.2025`, `1 al 15 de marzo de 2025`.

    A period is no invoice date and no due date.
    """
    result: list[Entity] = []
    rest = entities[::-1]
    while rest:
        entity = rest.pop()
        start, end = _period_around(text, entity, context) if entity.label in DATES else (entity.start, entity.end)
        before, behind = _overlapping(reversed(result), start, end), _overlapping(reversed(rest), start, end)
        if (start, end) != (entity.start, entity.end) and all(
            start <= each.start and each.end <= end and each.label in DATES | AMOUNTS | {"QUANTITY"}
            for each in (*before, *behind)
        ):
            del result[len(result) - len(before) :], rest[len(rest) - len(behind) :]
            entity = reduce(_stronger, (each for each in (*before, *behind) if each.label in DATES), entity)
            label = "DATE" if entity.label in BILL_DATES else entity.label
            entity = entity._replace(label=label, text=text[start:end], start=start, end=end)
        result.append(entity)
    return result


def _overlapping(entities: Iterable[Entity], start: int, end: int) -> list[Entity]:
    """Take the first entities that overlap a span."""
    return list(takewhile(lambda each: each.start < end and start < each.end, entities))


def whole_identifiers(text: str, entities: list[Entity]) -> list[Entity]:
    """Extend identifiers to the white space and brackets around them, but not into another entity."""
    result: list[Entity] = []
    for index, entity in enumerate(entities):
        if entity.label in IDENTIFIERS and entity.end - entity.start < _LONGEST_IDENTIFIER:
            floor = max(result[-1].end if result else 0, entity.start - _AROUND_CHARACTERS)
            ceiling = entities[index + 1].start if index + 1 < len(entities) else len(text)
            start, end = _identifier_around(text, entity, floor, min(ceiling, entity.end + _AROUND_CHARACTERS))
            entity = entity._replace(text=text[start:end], start=start, end=end)
        result.append(entity)
    return result


def era_dates(text: str, context: DocumentContext) -> Iterator[RuleMatch]:
    """Yield dates with a year of an era, in East Asian texts: in others such letters and numbers are versions."""
    if text.isascii() or not any(sign in text for sign in "年月日円"):
        return
    for match in scan(_ERA_ONLY, text, _ERA_SIGN):
        if read_value("DATE", match.group(), context).kind is ValueKind.DATE:
            yield RuleMatch("DATE", match.start(), match.end(), Strength.LIKELY, 0.9)


def date_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans with the form of a date, trimmed as the model's dates are."""
    for match in scan(_DATE, text):
        start, end = _trimmed(match, text)
        if end - start > _YEAR_CHARACTERS:
            yield start, end
        word = WORD.search(text, start, end)
        if word and key(word.group()) not in names.months():  # `7 DEL 15`, which hides the date behind
            behind = _DATE.match(text, word.end() + 1, min(len(text), end + _AROUND_CHARACTERS))
            yield from (behind.span(),) if behind else ()


def _date_around(text: str, entity: Entity, last: Entity | None, context: DocumentContext) -> tuple[int, int]:
    """Find the borders of the date that an entity is a part of; its own if there is none."""
    if len(entity.text) > 2 * _AROUND_CHARACTERS:
        return entity.start, entity.end
    begin = max(0, entity.start - _AROUND_CHARACTERS)
    if last is not None and "\n" in text[last.end : entity.start]:
        begin = max(begin, last.end)
    piece_end = min(len(text), entity.end + _AROUND_CHARACTERS)
    while match := _DATE.search(text, begin, piece_end):
        start, end = _trimmed(match, text)
        holds = start <= entity.start and entity.end <= end and end - start > _YEAR_CHARACTERS
        found = read_value(entity.label, text[start:end], context) if holds else None
        if found is not None and found.kind is ValueKind.DATE:
            return start, end
        begin = match.start() + 1
    return entity.start, entity.end


def _period_around(text: str, entity: Entity, context: DocumentContext) -> tuple[int, int]:
    """Find the borders of the period that an entity is a piece of; its own if there is none."""
    begin, piece_end = max(0, entity.start - _AROUND_CHARACTERS), min(len(text), entity.end + 2 * _AROUND_CHARACTERS)
    is_year = len(entity.text) == _YEAR_CHARACTERS and entity.text.isdecimal()
    if is_year or _NEAR_PERIOD.search(text, begin, piece_end) is None:
        return entity.start, entity.end
    while match := _PERIOD.search(text, begin, piece_end):
        start, end = _trimmed(match, text)
        is_longer = start <= entity.start and entity.end <= end and end - start > len(entity.text)
        if is_longer and (start == entity.start or _may_begin_period(text, entity, start)):
            found = read_value("DATE", text[start:end], context)
            if found.kind is ValueKind.DATE and "/" in (found.ambiguous or (found.text,))[0]:
                return start, end
        begin = match.start() + 1
    return entity.start, entity.end


def _may_begin_period(text: str, entity: Entity, start: int) -> bool:
    """True unless a mere day before an entity's date is another number."""
    if _LONE_DAY.match(text, start) is None:
        return True
    first = max(0, start - _AROUND_CHARACTERS)
    is_named = _BEFORE_PERIOD.search(text, first, start) is not None
    return is_named or (entity.label not in BILL_DATES and _CELL_START.search(text, first, start) is not None)


def _trimmed(match: re.Match[str], text: str) -> tuple[int, int]:
    """Trim words that are no month from a match's beginning: `vom März 2026` → `März 2026`."""
    start, end = match.span()
    if _ERA_ONLY.match(text, start):
        return start, end
    while (word := WORD.match(text, start, end)) and key(word.group()) not in names.months():
        start = word.end()
        start += len(text[start:end]) - len(text[start:end].lstrip(" .,"))
    return start, end


def _identifier_around(text: str, entity: Entity, floor: int, ceiling: int) -> tuple[int, int]:
    start, end = entity.start, entity.end
    while start > floor and _continues(text[start - 1]):
        start -= 1
    while end - start > 1 and text[end - 1] in RAISED:
        end -= 1
    while end < ceiling and _continues(text[end]):
        end += 1
    while end > entity.end and text[end - 1] in "./-_#+":
        end -= 1
    while start < entity.start and text[start] in "./-_#+@":
        start += 1
    if start == floor and start > 0 and _continues(text[start - 1]):
        start = entity.start
    if end == ceiling and end < len(text) and _continues(text[end]):
        end = entity.end
    return start, end


def _continues(character: str) -> bool:
    return (character.isalnum() and character not in RAISED) or character in "./-_#+@"


def _stronger(first: Entity, second: Entity) -> Entity:
    """Keep the first entity's borders, with the label and score of the one that the model is surer of."""
    if second.score <= first.score:
        return first
    return first._replace(label=second.label, score=second.score)


def _without_overlap(found: list[Entity], entities: list[Entity]) -> list[Entity]:
    """Return the extended entities if none reaches into another; else the model's."""
    ordered = all(left.end <= right.start for left, right in pairwise(found))
    return found if ordered else entities
