"""Signs of pages: what a page, or a part of one, shows of the paper that it belongs to.

The rules:
- A page's heading is the heaviest at its top. A paper that bills refer to ("Delivery note 7") has a title or a
  letterhead: otherwise it is a section of a bill.
- A number of the page is called a bill's, or stands on the line of a heading of its kind. One in prose is another
  paper's, and so is one on a line with an amount or with words for a deposit: that line is a row, or takes off a part
  that was paid before.
- Within a page, another paper may begin between two amounts or accounts, where lines have a heading, and a party or a
  date: at the first heading or party of these lines. A line that repeats the page's first one may be a letterhead too:
  of a bill in a language without known headings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from service.core.decoding.entities import Entity
from service.core.fields.amount_keywords import AmountKeyword, keyword_of_amount
from service.core.fields.cells import Span
from service.core.fields.headings import REFERRED, Heading, HeadingForm, find_headings
from service.core.fields.key_roles import number_role
from service.core.fields.keyword_values import identifier_spans
from service.core.fields.kinds import BILL_KINDS, PaperKind, is_letter
from service.core.fields.lines import TextLines, has_sum
from service.core.fields.paper_kind import heading_weight
from service.core.fields.roles import AMOUNTS, DATES, TOTAL, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import any_of, folded, letters_of

TOP_CHARACTERS = 500
"""Characters of a page's beginning that are searched for its heading."""
HEAD_CHARACTERS = 1_500
"""Characters of a page's beginning that are searched for its numbers and dates."""
PARTY_CHARACTERS = 400
"""Characters of a page's beginning that are searched for its parties."""
MARGIN_CHARACTERS = 200
"""Characters of a page's beginning and end that are searched for its printed number."""
SHORTEST_LETTERHEAD = 8
"""Fewest characters of a page's first line that may be repeated as a letterhead."""
LAST_AMOUNTS = 12
"""Amounts at the end of a page whose keys are read."""
LONGEST_CELL = 48
"""Most characters of a cell with a number of this paper; a longer one is prose."""
CLEAR_TOTALS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.TO_PAY, AmountKeyword.ROUNDED))
"""Classes of an amount that only a bill's total has; a net total is none."""

_PARTIES = frozenset(labels_of(RoleGroup.PARTY)) | {"ORGANIZATION"}
_HEADS = _PARTIES | DATES
"""Labels of what stands in the head of any paper."""
_GOODS = AMOUNTS | {"LINE_ITEM", "QUANTITY"}
_ENDS = _GOODS | frozenset(labels_of(RoleGroup.ACCOUNT))
"""Labels of what stands in a bill and below it, but not in its letterhead."""
_NUMBERED_AS_BILLS = BILL_KINDS | {PaperKind.REMITTANCE_ADVICE}
_DAY_OR_YEAR = re.compile(r"(?:19|20)[0-9]{2}|[0-9]{1,4}([./-])[0-9]{1,2}\1[0-9]{1,4}")
_CELL_BORDER = re.compile(r"[\t·|]|  ")
_PRINTED_PAGE = re.compile(
    r"(?<![^\W_])(?:page|seite|blatt|p[aá]g(?:ina)?|strona|str(?:ana)?|stránka|sid[ae]|sivu|sayfa|стр(?:аница)?|hal(?:aman)?)"
    r"\.?[\s:]{0,3}(?P<page>[0-9]{1,3})(?![0-9])"
    r"|(?:^|(?<=\f))[ \t-]{0,8}(?P<alone>[0-9]{1,3}) ?(?:/|of|von|de|di|van|z|av|af) ?[0-9]{1,3}[ \t-]{0,8}$"
    r"|第?\s?(?P<other>[0-9]{1,3})\s?(?:/\s?[0-9]{1,3}\s?)?(?:ページ|頁|页|쪽)",
    re.IGNORECASE | re.MULTILINE,
)
_CARRIED = re.compile(any_of("carried"))
_DEPOSIT = re.compile(any_of("deposit"))


@dataclass(frozen=True, slots=True)
class PageSigns:
    """Signs by which a page, or a part of one, belongs to a paper.

    Attributes:
        kind: of its heading; None without one.
        numbers: those under names of its kind, or else those called a bill's.
        parties: names at its top, in letters alone.
        totals: digits of the amounts called a total.
        printed: page number as printed, or else one more than that of the page before.
        is_carried: whether it begins with a sum carried over.
        is_letter: whether it is a letter from its salutation to its closing line, and nothing else.
    """

    kind: PaperKind | None
    numbers: frozenset[str]
    parties: frozenset[str]
    totals: frozenset[str]
    printed: int | None
    is_carried: bool
    has_date: bool
    is_letter: bool

    def joined(self, following: PageSigns) -> PageSigns:
        """Join the signs of a paper with those of the part behind it."""
        return PageSigns(
            self.kind or following.kind,
            self.numbers | following.numbers,
            self.parties | following.parties,
            self.totals | following.totals,
            following.printed or (self.printed or 1) + 1,
            self.is_carried,
            self.has_date or following.has_date,
            self.is_letter,
        )


class Pages:
    """The pages of one text with the entities on them, which are in order."""

    def __init__(self, text: str, entities: Sequence[Entity]) -> None:
        self._text = text
        self._lines = TextLines(text)
        self._entities = entities
        self._starts = [entity.start for entity in entities]

    def signs(self, start: int, end: int) -> PageSigns:
        """Collect the signs of a page or a part of one."""
        top, head = min(end, start + TOP_CHARACTERS), min(end, start + HEAD_CHARACTERS)
        parties = self._of(_PARTIES, start, start + PARTY_CHARACTERS, end)
        names = frozenset(letters_of(each.text) for each in parties)
        headings = [each for each in find_headings(self._text, start, top) if self._is_own(each.start)]
        kind = _kind(headings, has_party=bool(names))
        return PageSigns(
            kind,
            self._numbers(kind, headings, start, head),
            names,
            frozenset(self._totals(start, end)),
            self._printed_page(start, end),
            _CARRIED.search(folded(self._text[start:top])) is not None,
            next(self._of(DATES, start, head), None) is not None,
            is_letter(self._text[start:end]),
        )

    def starts_within(self, start: int, end: int) -> Iterator[int]:
        """Yield the places behind a page's first amount or count at which another paper may begin, in order."""
        first = next(self._of(_GOODS, start, end), None)
        ends = [] if first is None else list(self._of(_ENDS, first.start, end))
        borders = [*(self._lines.start(self._lines.at(each.start)) for each in ends), end]
        letterhead = self._first_line(start)
        for last, border in zip(ends, borders[1:], strict=True):
            begin = self._lines.start(self._lines.at(last.end - 1) + 1)
            if next(self._of(_HEADS, begin, border), None) is not None:
                yield from self._start_between(begin, border, letterhead)

    def _start_between(self, begin: int, border: int, letterhead: str) -> Iterator[int]:
        """Yield the beginning of another paper in lines without amounts, if they have one."""
        repeated = self._text.find(letterhead, begin, border) if letterhead else -1
        if repeated >= 0 and self._begins_line(repeated):
            yield repeated
            return
        headings = (each for each in find_headings(self._text, begin, border) if self._may_begin(each))
        if (heading := next(headings, None)) is not None:
            party = next(self._of(_PARTIES, begin, heading.start), None)
            yield heading.start if party is None else self._lines.start(self._lines.at(party.start))

    def _may_begin(self, heading: Heading) -> bool:
        """True if a heading within a page begins its line and is a title, or has its number there: no key of a day."""
        if not self._begins_line(heading.start) or not self._is_own(heading.start):
            return False
        numbers = identifier_spans(self._text, heading.start, self._lines.end(self._lines.at(heading.start)))
        is_called = self._is_bills if heading.kind in _NUMBERED_AS_BILLS else lambda place: self._is_short(*place)
        return heading.form is HeadingForm.TITLE or any(map(is_called, numbers))

    def _first_line(self, start: int) -> str:
        """Return the first line of a page, if it is long enough for a letterhead."""
        lines = map(str.strip, self._text[start : start + PARTY_CHARACTERS].split("\n"))
        line = next(filter(None, lines), "")
        return line if len(line) >= SHORTEST_LETTERHEAD else ""

    def _begins_line(self, place: int) -> bool:
        return not self._lines.before(place, LONGEST_CELL).strip()

    def _is_own(self, place: int) -> bool:
        """True if a heading or number stands on a line without an amount and without words for a deposit."""
        line = self._lines.line(place)
        return not has_sum(line) and _DEPOSIT.search(folded(line)) is None

    def _cell_length(self, start: int, end: int) -> int:
        """Count the characters of the cell around a part of a line, up to `LONGEST_CELL` on each side."""
        before, after = self._lines.before(start, LONGEST_CELL), self._lines.after(end, LONGEST_CELL)
        return len(_CELL_BORDER.split(before)[-1]) + end - start + len(_CELL_BORDER.split(after)[0])

    def _numbers(self, kind: PaperKind | None, headings: Iterable[Heading], start: int, end: int) -> frozenset[str]:
        """Find the numbers on the lines of headings of a kind; if they have none, of a bill and its slip all others."""
        places = [each.start for each in headings if each.kind is kind]
        lines = [identifier_spans(self._text, place, self._lines.end(self._lines.at(place))) for place in places]
        if kind is not None and kind not in _NUMBERED_AS_BILLS:
            return self._own(place for line in lines for place in islice(line, 1))
        return self._own(filter(self._is_bills, chain.from_iterable(lines))) or self._own(
            filter(self._is_bills, identifier_spans(self._text, start, end))
        )

    def _is_bills(self, place: Span) -> bool:
        """True if a number is called a bill's."""
        return self._is_short(*place) and number_role(self._lines, place[0]) == "INVOICE_ID"

    def _own(self, places: Iterable[Span]) -> frozenset[str]:
        """Return the numbers at some places, but those in prose and those that are another paper's."""
        own = (place for place in places if self._is_short(*place) and self._is_own(place[0]))
        return frozenset(letters_of(self._text[begin:stop]) for begin, stop in own)

    def _is_short(self, start: int, end: int) -> bool:
        """True if a number is no year and no date, and stands in a short cell."""
        is_date = _DAY_OR_YEAR.fullmatch(self._text, start, end) or next(self._of(DATES, start, end), None)
        return not is_date and self._cell_length(start, end) <= LONGEST_CELL

    def _printed_page(self, start: int, end: int) -> int | None:
        margins = (start, min(end, start + MARGIN_CHARACTERS)), (max(start, end - MARGIN_CHARACTERS), end)
        found = (_PRINTED_PAGE.search(self._text, *margin) for margin in margins)
        return next((int(match[match.lastgroup or 0]) for match in found if match), None)

    def _totals(self, start: int, end: int) -> Iterator[str]:
        """Yield the digits of the amounts with a total's label and no other key, and of the last ones with its key."""
        amounts = list(self._of(AMOUNTS, start, end))
        for left, each in zip(range(len(amounts) - 1, -1, -1), amounts, strict=True):
            if each.label == TOTAL or left < LAST_AMOUNTS:
                keyword = keyword_of_amount(self._lines, each.start, each.end)
                if keyword in CLEAR_TOTALS or (each.label == TOTAL and keyword is None):
                    yield "".join(filter(str.isdigit, each.text))

    def _of(self, labels: frozenset[str], start: int, *ends: int) -> Iterator[Entity]:
        """Return the entities of some labels that begin at `start` or behind it, and before each end."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, min(ends))
        return (entity for entity in self._entities[first:last] if entity.label in labels)


def _kind(headings: Iterable[Heading], *, has_party: bool) -> PaperKind | None:
    """Tell a page's kind by its headings; a paper that bills refer to has a title or a letterhead."""
    best = max(headings, key=heading_weight, default=None)
    if best is None or not heading_weight(best):
        return None
    is_section = best.kind in REFERRED and best.form is not HeadingForm.TITLE and not has_party
    return None if is_section else best.kind
