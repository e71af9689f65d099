"""Papers: divides a text into its bills, orders, delivery notes and other papers, before anything is chosen from it.

The rules:
- A page begins a paper or continues the one before it. Its face tells which: heading, numbers, parties, page number.
- Under a heading, a number that the paper before has not begins a paper; one that both have continues it.
- A heading of another kind begins a paper if the page has a number or a date.
- Without numbers, a heading or another letterhead begins a paper if both sides have a total.
- "Page 2 of 3" and a sum carried over continue a paper, unless a heading with another number stands there.
- Within a page, a paper begins behind the total of the one before: with a heading, a total of its own, and a party, or
  a number and a date. It begins at its letterhead: the first heading or party behind the last amount or account.
- A number on a line with an amount, or behind words for a deposit, is another bill's and divides nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from service.core.decoding.entities import Entity
from service.core.fields.amount_keywords import AmountKeyword, keyword_of_amount
from service.core.fields.headings import find_headings
from service.core.fields.key_roles import number_role
from service.core.fields.keyword_values import identifier_spans
from service.core.fields.lines import TextLines, has_sum
from service.core.fields.roles import AMOUNTS, DATES, TOTAL, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import any_of, folded

Span = tuple[int, int]
"""Code points `[start, end)`."""
TOP_CHARACTERS = 500
"""Characters of a page's beginning that are searched for its heading."""
FACE_CHARACTERS = 1_500
"""Characters of a page's beginning that are searched for its numbers and dates."""
LETTERHEAD_CHARACTERS = 400
"""Characters of a page's beginning that are searched for its parties."""
MARGIN_CHARACTERS = 200
"""Characters of a page's beginning and end that are searched for its printed number."""
LONGEST_CELL = 48
"""Most characters of a cell with a number of this paper; a longer one is prose."""
MOST_PAGES, MOST_PAPERS = 5_000, 1_000
"""Most pages of a text that form feeds divide, and most papers; the last one has all the rest."""
TOTALS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.TO_PAY, AmountKeyword.ROUNDED))
"""Classes of a bill's last sum."""

_PARTIES = frozenset(labels_of(RoleGroup.PARTY)) | {"ORGANIZATION"}
_ENDS = AMOUNTS | frozenset(labels_of(RoleGroup.ACCOUNT)) | {"LINE_ITEM"}
"""Labels of what stands in a bill and below it, but not in its letterhead."""
_CELL_BORDER = re.compile(r"[\t·|]|  ")
_FORM_FEED = re.compile(r"\f\s*")
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
class Face:
    """Signs by which a page, or a part of one, belongs to a paper.

    Attributes:
        kind: of its first heading; None without one.
        numbers: those called its own.
        parties: names at its top, in letters alone.
        printed: page number as printed, or else one more than that of the page before.
        is_carried: whether it begins with a sum carried over.
    """

    kind: str | None
    numbers: frozenset[str]
    parties: frozenset[str]
    printed: int | None
    is_carried: bool
    has_date: bool
    has_total: bool

    def joined(self, following: Face) -> Face:
        """Join the face of a paper with that of the part behind it."""
        return Face(
            self.kind or following.kind,
            self.numbers | following.numbers,
            self.parties | following.parties,
            following.printed or (self.printed or 1) + 1,
            self.is_carried,
            self.has_date or following.has_date,
            self.has_total or following.has_total,
        )


def divide(text: str, entities: Sequence[Entity], pages: Sequence[int] = ()) -> list[Span]:
    """Divide a text into its papers; returns start and end of each, at least one.

    Args:
        entities: in order.
        pages: offsets at which the pages begin; form feeds divide a text without pages.
    """
    breaks = list(pages[1:]) or [match.end() for match in islice(_FORM_FEED.finditer(text), MOST_PAGES)]
    sheets = _Sheets(text, entities)
    parts = [[start, *sheets.starts_within(start, end), end] for start, end in pairwise([0, *breaks, len(text)])]
    if len(parts) == 1 and len(parts[0]) == 2:
        return [(0, len(text))]
    borders: list[int] = []
    paper: Face | None = None
    for start, *others, end in parts:
        page, top = sheets.face(start, end), sheets.face(start, *others[:1] or [end])
        if paper is None or begins_paper(paper, page):
            borders.append(start)
            paper = top
        else:
            paper = paper.joined(top)
        for begin, stop in pairwise([*others, end]):
            part = sheets.face(begin, stop)
            if begins_within(paper, part):
                borders.append(begin)
                paper = part
            else:
                paper = paper.joined(part)
    return list(pairwise([*borders[:MOST_PAPERS], len(text)]))


def begins_paper(paper: Face, page: Face) -> bool:
    """True if a page begins another paper than the one before it."""
    has_other_number = _are_other(paper.numbers, page.numbers)
    if page.is_carried or 1 < (page.printed or 1) <= (paper.printed or 1) + 1:
        return page.kind is not None and has_other_number
    if page.kind is None:
        is_other = has_other_number or _are_other(paper.parties, page.parties)
        return is_other and paper.has_total and page.has_total and page.has_date
    if page.kind == paper.kind and paper.numbers and page.numbers:
        return has_other_number
    if page.kind == paper.kind:
        return paper.has_total and page.has_total
    return paper.numbers.isdisjoint(page.numbers) and bool(page.numbers or page.has_date)


def begins_within(paper: Face, part: Face) -> bool:
    """True if a part of a page begins another paper than the one above it."""
    has_own = bool(part.parties or (part.numbers and part.has_date))
    return paper.has_total and part.has_total and has_own and paper.numbers.isdisjoint(part.numbers)


def _are_other(first: frozenset[str], second: frozenset[str]) -> bool:
    """True if both sides have names or numbers, and none in common."""
    return bool(first and second) and first.isdisjoint(second)


class _Sheets:
    """The pages of one text with the entities on them."""

    def __init__(self, text: str, entities: Sequence[Entity]) -> None:
        self._text = text
        self._lines = TextLines(text)
        self._entities = entities
        self._starts = [entity.start for entity in entities]

    def face(self, start: int, end: int) -> Face:
        """Collect the signs of a page or a part of one."""
        top, head = min(end, start + TOP_CHARACTERS), min(end, start + FACE_CHARACTERS)
        return Face(
            next((each.kind for each in find_headings(self._text, start, top) if self._is_own(each.start)), None),
            frozenset(self._numbers(start, head)),
            frozenset(_letters(each.text) for each in self._of(_PARTIES, start, start + LETTERHEAD_CHARACTERS, end)),
            self._printed_page(start, end),
            _CARRIED.search(folded(self._text[start:top])) is not None,
            next(self._of(DATES, start, head), None) is not None,
            self._has_total(start, end),
        )

    def starts_within(self, start: int, end: int) -> Iterator[int]:
        """Yield the places behind a page's first amount at which another paper may begin, in order.

        Each is the first heading or party of the lines between two amounts or accounts that have a heading.
        """
        first = next(self._of(AMOUNTS, start, end), None)
        if first is None:
            return
        ends = list(self._of(_ENDS, first.start, end))
        borders = (*(self._lines.start(self._lines.at(each.start)) for each in ends[1:]), end)
        for last, border in zip(ends, borders, strict=True):
            begin = self._lines.start(self._lines.at(last.end - 1) + 1)
            headings = (place for _, place in find_headings(self._text, begin, border) if self._begins_line(place))
            heading = next((place for place in headings if self._is_own(place)), None)
            if heading is not None:
                party = next(self._of(_PARTIES, begin, heading), None)
                yield heading if party is None else self._lines.start(self._lines.at(party.start))

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

    def _numbers(self, start: int, end: int) -> Iterator[str]:
        """Yield the numbers that are called a bill's, in short cells."""
        for begin, stop in identifier_spans(self._text, start, end):
            if number_role(self._lines, begin) != "INVOICE_ID" or self._cell_length(begin, stop) > LONGEST_CELL:
                continue
            if self._is_own(begin):
                yield _letters(self._text[begin:stop])

    def _printed_page(self, start: int, end: int) -> int | None:
        margins = (start, min(end, start + MARGIN_CHARACTERS)), (max(start, end - MARGIN_CHARACTERS), end)
        found = (_PRINTED_PAGE.search(self._text, *margin) for margin in margins)
        return next((int(match[match.lastgroup or 0]) for match in found if match), None)

    def _has_total(self, start: int, end: int) -> bool:
        """True if an amount has a total's label or key; the last ones are tried first."""
        amounts = list(self._of(AMOUNTS, start, end))[::-1]
        return any(each.label == TOTAL for each in amounts) or any(
            keyword_of_amount(self._lines, each.start, each.end) in TOTALS for each in amounts
        )

    def _of(self, labels: frozenset[str], start: int, *ends: int) -> Iterator[Entity]:
        """Return the entities of some labels that begin at `start` or behind it, and before each end."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, min(ends))
        return (entity for entity in self._entities[first:last] if entity.label in labels)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
