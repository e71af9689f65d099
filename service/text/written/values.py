"""The values of a bill that the model has not found: those that words name, and those of its rows.

The rules:
- An amount, a date or a number is kept where its key names a role of it (`core/fields`).
- In a row of goods, which is what stands behind a description, amounts and counts are kept; the fields' rule for rows
  says which of them are the price, the quantity and the amount.
- What the model has found stands: a value of the same kind that overlaps it is left out.

These values serve a document's fields. They are no entities of its text, for no model vouches for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from service.core.decoding.entities import Entity, Source
from service.core.fields.amount_words import AMOUNTS, word_for_amount
from service.core.fields.lines import TextLines
from service.core.fields.named_roles import ANOTHER, DATES, date_role, number_role
from service.text.values.context import PAGE_CHARACTERS, DocumentContext
from service.text.written.grammar import Span, amounts, counts, days, identifiers
from service.text.written.places import Places

SCORES = {"MONEY": 0.9, "DATE": 0.9, "ID_NUMBER": 0.7, "QUANTITY": 0.9}
"""What such a value counts for beside the model's scores: judged by a few dozen bills, not fitted."""
ITEM = "LINE_ITEM"
MOST_VALUES = 500
"""Of one document."""

_WORD = re.compile(r"[^\W\d_]{4}")
_KEY_END = re.compile(r"[^\W\d_:#.°º)][\s:#.°º)]{0,3}$|[:#.°º)]\s{0,3}$")
_KEY_CHARACTERS = 4


def written_values(context: DocumentContext, entities: Sequence[Entity]) -> list[Entity]:
    """The values that are not among a bill's entities, in order of their places."""
    text = context.text[:PAGE_CHARACTERS]
    lines, taken = TextLines(text), _places(entities)
    rows = list(_rows(lines, entities, len(text)))
    sums, dates = list(amounts(context, text)), list(days(context, text))
    found = [
        *(("MONEY", each) for each in _sums(lines, sums, Places(rows), entities)),
        *(("DATE", each) for each in _days(lines, dates, entities)),
        *(("ID_NUMBER", each) for each in _numbers(lines, text, Places([*sums, *dates]), taken)),
        *(("QUANTITY", each) for row in rows for each in _counts(context, text, row, Places(sums), taken)),
    ]
    return [
        Entity(label, text[start:end], start, end, SCORES[label], Source.RULE)
        for label, (start, end) in sorted(found, key=lambda value: value[1])[:MOST_VALUES]
    ]


def _sums(lines: TextLines, sums: Iterable[Span], rows: Places, entities: Sequence[Entity]) -> Iterator[Span]:
    """Amounts in rows, and those that words speak of."""
    taken = _places(entities, AMOUNTS)
    for each in sums:
        if not taken.touch(each) and (rows.touch(each) or word_for_amount(lines, *each) is not None):
            yield each


def _days(lines: TextLines, dates: Iterable[Span], entities: Sequence[Entity]) -> Iterator[Span]:
    """Dates with words for a role before them."""
    taken = _places(entities, DATES)
    return (each for each in dates if not taken.touch(each) and date_role(lines, each[0]) not in (None, ANOTHER))


def _numbers(lines: TextLines, text: str, others: Places, taken: Places) -> Iterator[Span]:
    """Identifiers right after the words for a bill or an order."""
    for start, end in identifiers(text):
        if _KEY_END.search(text, max(0, start - _KEY_CHARACTERS), start) is None:
            continue
        if others.touch((start, end)) or taken.touch((start, end)):
            continue
        if number_role(lines, start) not in (None, ANOTHER):
            yield start, end


def _rows(lines: TextLines, entities: Sequence[Entity], end: int) -> Iterator[Span]:
    """What stands behind each description on its line, and the next line if it has no words."""
    items = [each for each in entities if each.label == ITEM and each.end <= end]
    for item, border in zip(items, [*(each.start for each in items[1:]), end], strict=False):
        line = lines.at(item.end - 1)
        following = lines.between(lines.start(line + 1), lines.end(line + 1))
        stop = lines.end(line) if _WORD.search(following) else lines.end(line + 1)
        if item.end < min(stop, border):
            yield item.end, min(stop, border)


def _counts(context: DocumentContext, text: str, row: Span, sums: Places, taken: Places) -> Iterator[Span]:
    """Counts in a row that are no amount, and nothing that the model has found."""
    return (each for each in counts(context, text, row) if not taken.touch(each) and not sums.touch(each))


def _places(entities: Iterable[Entity], labels: Collection[str] | None = None) -> Places:
    """Where entities stand, with these labels or with any."""
    return Places((each.start, each.end) for each in entities if labels is None or each.label in labels)
