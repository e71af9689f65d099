"""Key-value fallback of a bill: finds values that the model missed, by keywords before them and by rows of goods.

The rules:
- An amount, a date or a number is kept where its key names a role (`amount_keywords`, `named_roles`).
- The names of the two parties are kept where their places mark them (`party_names`), beside those of the model.
- In a row of goods, the rest of a description's line, amounts and counts are kept, and counts before the description;
  `line_items` decides which of them are the price, the quantity and the amount.
- A value of the model is never replaced: a value of the same kind that overlaps it is left out. Only periods and
  references of a payment, which a model has in pieces, stand beside its dates and numbers, and dates and numbers beside
  a date that is not read as one.
- Every pattern begins where a run of its characters begins and has bounded repetitions.

These values fill a document's fields only; they are not among its entities.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from service.core.decoding.entities import Entity, Source
from service.core.decoding.value import Value, ValueKind
from service.core.fields.amount_keywords import keyword_of_amount
from service.core.fields.cells import Span
from service.core.fields.descriptions import ITEM, description_spans
from service.core.fields.key_roles import ANOTHER, date_role, number_role
from service.core.fields.lines import TextLines, has_words
from service.core.fields.party_names import party_names
from service.core.fields.payment_references import reference_spans, whole_reference
from service.core.fields.roles import AMOUNTS, DATES, RECEIVER, REFERENCE, SUPPLIER, SUPPLY_DATE
from service.core.fields.tax_rows import has_rate_caption, states_tax


class SpanSet:
    """Spans of a text that do not overlap."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._spans = sorted(spans)

    def touch(self, span: tuple[int, int]) -> bool:
        """True if one of the spans overlaps this one."""
        place = bisect_left(self._spans, span[1], key=lambda each: each[0]) - 1
        return place >= 0 and self._spans[place][1] > span[0]


ReadValue = Callable[[str, str], Value]
"""Reads the value of a label's text as its document writes values."""

_CURRENCY = r"(?<![^\W\d_])(?:[A-Z]{3}|RM|Rp|R\$|US\$|[€$£¥￥₹₽₺₩₪₫₴฿₱])"
_SPACE = "[ \u00a0\u202f]"
_DIGITS = (
    r"(?:[0-9]{1,2}(?:,[0-9]{2}){1,4},[0-9]{3}(?:\.[0-9]{2})?"
    r"|[0-9]{1,3}(?:[.,'’][0-9]{3}){1,4}(?:[.,][0-9]{2})?"
    r"|[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3}){1,4},[0-9]{2}"
    r"|[0-9]{1,9}[.,](?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{1,9})"
)
_AMOUNT = re.compile(
    rf"(?<![0-9.,/-])(?<![0-9]:)(?P<before>{_CURRENCY}{_SPACE}?)?"
    rf"(?P<number>(?:(?<![\w.-])[-−(]{_SPACE}?)?(?:{_CURRENCY}{_SPACE}?)?{_DIGITS}"
    r"(?![0-9]|[.,/:-][0-9]|\s?[%％])(?:(?<=[.,][0-9]{2})-(?![\w-])|\))?)"
    rf"(?P<after>{_SPACE}?(?:[€£$¥₹₽₺₩]|[A-Z]{3}(?![A-Za-z])|(?:kr|TL|Ft)(?!\w)|zł|Kč|円|元|원|руб|лв))?"
)
_WHOLE = re.compile(r"[^.,'’]*")
"""A number without decimals and groups."""
_IDENTIFIER = re.compile(r"(?<![\w.,/-])(?=[\w/.-]{0,29}[0-9])[^\W_][\w/.-]{1,28}[^\W_](?![\w/-])")
_COUNT = re.compile(r"(?<![\w.,/-])[0-9]{1,5}(?:[.,][0-9]{1,3})?(?![\w%]|[.,/:-][0-9]|\s?[%％])")
_UNIT = re.compile(r"\s?[^\W\d_]{1,8}(?:\(s\))?\.?")
_DAY_CHARACTERS = len("2026-03-12")


def amount_spans(read: ReadValue, text: str) -> Iterator[Span]:
    """Yield amounts with decimals, digit groups or a currency; the currency is part of the span."""
    for match in _AMOUNT.finditer(text):
        is_whole = _WHOLE.fullmatch(match["number"]) is not None
        start, end = match.span("number")
        if text[start] == "(" and text[end - 1] != ")":
            start += 1
        elif text[end - 1] == ")" and text[start] != "(":
            end -= 1
        has_currency = match["before"] is not None or match["after"] is not None
        for span in (match.span(), (match.start(), end), (start, end)) if has_currency else ((start, end),):
            value = read("MONEY", text[slice(*span)])
            if value.kind is ValueKind.MONEY and (value.unit or not is_whole):
                yield span
                break


def day_spans(read: ReadValue, text: str, dates: Iterable[Span]) -> Iterator[Span]:
    """Yield the dates that have a day."""
    for start, end in dates:
        value = read("DATE", text[start:end])
        readings = value.ambiguous or (value.text,)
        if value.kind is ValueKind.DATE and all(len(reading) == _DAY_CHARACTERS for reading in readings):
            yield start, end


def identifier_spans(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[Span]:
    """Return runs of letters, digits and marks with at least one digit."""
    return (match.span() for match in _IDENTIFIER.finditer(text, start, end))


def count_spans(read: ReadValue, text: str, within: Span) -> Iterator[Span]:
    """Yield numbers with their unit, if it is known."""
    for match in _COUNT.finditer(text, *within):
        start, end = match.span()
        unit = _UNIT.match(text, end, within[1])
        if unit is not None and read("QUANTITY", text[start : unit.end()]).unit is not None:
            end = unit.end()
        yield start, end


SCORES = {
    "MONEY": 0.9,
    "DATE": 0.9,
    "ID_NUMBER": 0.7,
    SUPPLY_DATE: 0.9,
    REFERENCE: 0.9,
    "QUANTITY": 0.9,
    ITEM: 0.7,
    SUPPLIER: 0.5,
    RECEIVER: 0.5,
    "ORGANIZATION": 0.5,
}
"""Scores of the values by label, comparable with the model's: estimated on a few dozen bills, not fitted."""
MOST_BETWEEN_DAYS = 12
"""Most characters between the two days of a period."""
MOST_VALUES = 500
"""Most values of one document."""

_COUNT_TIMES = re.compile(r"(?<![\w.,])([0-9]{1,4}(?:[.,][0-9]{1,3})?)\s?[x×*]\s?$")
COUNT_CHARACTERS = 14
"""Characters before a price that are searched for a count and a sign of multiplication."""
_KEY_END = re.compile(r"[^\W\d_:：#.°º)][\s:：#.°º)]{0,3}$|[:：#.°º)]\s{0,3}$")
_SHORT_NUMBER = re.compile(r"(?<![\w.,/-])[0-9]{1,2}(?![\w/-]|[.,][0-9])")
"""Number of the first bills of a year, behind a word for a number."""
_NUMBER_SIGN = re.compile(r"(?:[nN][°ºo.rR]{1,2}|#|[°º№])[\s:.]{0,2}$")
_KEY_CHARACTERS = 4


def keyword_values(
    lines: TextLines, entities: Sequence[Entity], dates: Iterable[Span], read: ReadValue
) -> list[Entity]:
    """Find values that are not among a bill's entities; returns them in order of their places.

    Args:
        lines: the document's text, or its beginning.
        entities: the model's entities in the document.
        dates: spans of the text in the form of a date.
        read: reader of values in the document's context.
    """
    text, taken, dates = lines.text, _spans_of(entities), [*dates]
    sums, days = list(amount_spans(read, text)), list(day_spans(read, text, dates))
    items = description_spans(lines, [entity for entity in entities if entity.end <= len(text)], sums)
    whole = [each for each in entities if each.label not in DATES or read("DATE", each.text).kind is ValueKind.DATE]
    rows = list(_rows(lines, items, len(text)))
    found = [
        *((ITEM, span) for span in _new_items(lines, items, entities)),
        *_counted_prices(text, sums, entities),
        *(("MONEY", span) for span in _named_sums(lines, sums, SpanSet(rows), entities)),
        *(("DATE", span) for span in _named_days(lines, days, whole)),
        *((SUPPLY_DATE, span) for span in _supply_periods(read, lines, dates)),
        *_named_numbers(lines, text, SpanSet([*sums, *days]), taken),
        *(("ID_NUMBER", span) for span in _short_numbers(lines, text, _spans_of(whole))),
        *((REFERENCE, span) for span in reference_spans(text)),
        *party_names(lines, entities),
        *(
            ("QUANTITY", span)
            for place in sorted({*rows, *_before_items(lines, items)})
            for span in _row_counts(read, text, place, SpanSet(sums), taken)
        ),
    ]
    return [
        Entity(label, text[start:end], start, end, SCORES[label], Source.RULE)
        for label, (start, end) in sorted(found, key=lambda value: value[1])[:MOST_VALUES]
    ]


def _new_items(lines: TextLines, items: Iterable[Span], entities: Sequence[Entity]) -> Iterator[Span]:
    """Yield descriptions on lines where they are others than the model's items."""
    found = {line: set(some) for line, some in groupby(items, lambda span: lines.at(span[0]))}
    of_model: dict[int, set[Span]] = {}
    for entity in entities:
        if entity.label == ITEM:
            of_model.setdefault(lines.at(entity.start), set()).add((entity.start, entity.end))
    return (span for line in found if found[line] != of_model.get(line) for span in sorted(found[line]))


def _named_sums(lines: TextLines, sums: Iterable[Span], rows: SpanSet, entities: Sequence[Entity]) -> Iterator[Span]:
    """Yield amounts in rows of goods, on lines of taxes, and those with a keyword."""
    taken = _spans_of(entities, AMOUNTS)
    for span in sums:
        if taken.touch(span):
            continue
        is_of_tax = states_tax(lines.around(span[0])) or has_rate_caption(lines, span[0])
        if is_of_tax or rows.touch(span) or keyword_of_amount(lines, *span) is not None:
            yield span


def _counted_prices(text: str, sums: Iterable[Span], entities: Sequence[Entity]) -> Iterator[tuple[str, Span]]:
    """Yield count and price of "2x21,50" where the model took them for one value."""
    of_model = SpanSet((each.start, each.end) for each in entities if each.label in AMOUNTS | {"QUANTITY"})
    for start, end in sums:
        count = _COUNT_TIMES.search(text, max(0, start - COUNT_CHARACTERS), start)
        if count and of_model.touch((count.end(1), start)):
            yield "QUANTITY", count.span(1)
            yield "MONEY", (start, end)


def _named_days(lines: TextLines, days: Iterable[Span], entities: Sequence[Entity]) -> Iterator[Span]:
    """Return dates with words for a role before them."""
    taken = _spans_of(entities, DATES)
    return (span for span in days if not taken.touch(span) and date_role(lines, span[0]) not in (None, ANOTHER))


def _supply_periods(read: ReadValue, lines: TextLines, dates: Sequence[Span]) -> Iterator[Span]:
    """Yield months, and periods of two days, behind words for a supply."""
    for (start, end), (following, last) in pairwise([*dates, (sys.maxsize, sys.maxsize)]):
        span = (start, last) if following - end <= MOST_BETWEEN_DAYS else (start, end)
        text = lines.between(*span)
        value = None if "\n" in text else read("DATE", text)
        if value is None or value.kind is not ValueKind.DATE or len(value.text) == _DAY_CHARACTERS:
            continue
        if date_role(lines, start) == SUPPLY_DATE:
            yield span


def _named_numbers(lines: TextLines, text: str, others: SpanSet, taken: SpanSet) -> Iterator[tuple[str, Span]]:
    """Yield identifiers right after words for a role; a payment's reference with all its groups."""
    for start, end in identifier_spans(text):
        if _KEY_END.search(text, max(0, start - _KEY_CHARACTERS), start) is None:
            continue
        if others.touch((start, end)) or (role := number_role(lines, start)) in (None, ANOTHER):
            continue
        if role == REFERENCE:
            yield REFERENCE, whole_reference(text, start, end)
        elif not taken.touch((start, end)):
            yield "ID_NUMBER", (start, end)


def _short_numbers(lines: TextLines, text: str, taken: SpanSet) -> Iterator[Span]:
    """Yield numbers of one or two digits behind "invoice no."."""
    for match in _SHORT_NUMBER.finditer(text):
        if _NUMBER_SIGN.search(text, max(0, match.start() - _KEY_CHARACTERS), match.start()) is None:
            continue
        if number_role(lines, match.start()) == "INVOICE_ID" and not taken.touch(match.span()):
            yield match.span()


def _rows(lines: TextLines, items: Sequence[Span], end: int) -> Iterator[Span]:
    """Yield the rest of each description's line, with the next line if that has no words."""
    for (_, stop), border in zip(items, [*(start for start, _ in items[1:]), end], strict=False):
        line = lines.at(stop - 1)
        following = lines.between(lines.start(line + 1), lines.end(line + 1))
        last = lines.end(line) if has_words(following) else lines.end(line + 1)
        if stop < min(last, border):
            yield stop, min(last, border)


def _before_items(lines: TextLines, items: Sequence[Span]) -> Iterator[Span]:
    """Yield the beginning of each description's line, where the row's number or quantity may stand."""
    last_end = 0
    for start, end in items:
        first = max(last_end, lines.start(lines.at(start)))
        if first < start:
            yield first, start
        last_end = end


def _row_counts(read: ReadValue, text: str, row: Span, sums: SpanSet, taken: SpanSet) -> Iterator[Span]:
    """Return counts in a row that overlap no amount and no entity of the model."""
    return (span for span in count_spans(read, text, row) if not taken.touch(span) and not sums.touch(span))


def _spans_of(entities: Iterable[Entity], labels: Collection[str] | None = None) -> SpanSet:
    return SpanSet((entity.start, entity.end) for entity in entities if labels is None or entity.label in labels)
