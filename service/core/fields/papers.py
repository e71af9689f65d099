"""Papers: divides a text into its bills, orders, delivery notes and other papers, before anything is chosen from it.

The rules:
- A page begins a paper or continues the one before it. Its signs tell which (`page_signs`).
- Under a heading, a number that the paper before has not begins a paper; one that both have continues it.
- A heading of another kind begins a paper if the page has a number or a date, a bill also a total: "Invoice" over a
  page of a contract is a section. A timesheet is a bill's annex.
- What a letter encloses is another paper.
- Without numbers, a heading or another letterhead begins a paper if both sides have a total. A heading without a number
  behind a page with one repeats the head of that paper, unless the letterhead is another.
- "Page 2 of 3" and a sum carried over continue a paper, unless a heading with another number stands there.
- Within a page, a paper has a number that the one above has not, and a party, or a date beside its number. A bill has a
  total, and so has a bill above it, with another sum. A slip for the payment is of its bill.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice, pairwise

from service.core.decoding.entities import Entity
from service.core.fields.cells import Span
from service.core.fields.kinds import BILL_KINDS, PaperKind
from service.core.fields.page_signs import Pages, PageSigns

MOST_PAGES, MOST_PAPERS = 5_000, 1_000
"""Most pages of a text that form feeds divide, and most papers; the last one has all the rest."""

_FORM_FEED = re.compile(r"\f\s*")


def divide(text: str, entities: Sequence[Entity], pages: Sequence[int] = ()) -> list[Span]:
    """Divide a text into its papers; returns start and end of each, at least one.

    Args:
        entities: in order.
        pages: offsets at which the pages begin; form feeds divide a text without pages.
    """
    breaks = list(pages[1:]) or [match.end() for match in islice(_FORM_FEED.finditer(text), MOST_PAGES)]
    marked = Pages(text, entities)
    parts = [[start, *marked.starts_within(start, end), end] for start, end in pairwise([0, *breaks, len(text)])]
    if len(parts) == 1 and len(parts[0]) == 2:
        return [(0, len(text))]
    borders: list[int] = []
    paper: PageSigns | None = None
    for start, *others, end in parts:
        page = marked.signs(start, end)
        top = marked.signs(start, others[0]) if others else page
        if paper is None or begins_paper(paper, page):
            borders.append(start)
            paper = top
        else:
            paper = paper.joined(top)
        for begin, stop in pairwise([*others, end]):
            part = marked.signs(begin, stop)
            if begins_within(paper, part):
                borders.append(begin)
                paper = part
            else:
                paper = paper.joined(part)
    return list(pairwise([*borders[:MOST_PAPERS], len(text)]))


def begins_paper(paper: PageSigns, page: PageSigns) -> bool:
    """True if a page begins another paper than the one before it."""
    has_other_number = _are_other(paper.numbers, page.numbers)
    if page.is_carried or 1 < (page.printed or 1) <= (paper.printed or 1) + 1:
        return page.kind is not None and has_other_number
    has_totals = bool(paper.totals and page.totals)
    if paper.is_letter and paper.kind is None:
        return bool(page.kind or page.totals or page.has_date)
    if page.kind is None:
        is_other = has_other_number or _are_other(paper.parties, page.parties)
        return is_other and has_totals and page.has_date
    if page.kind is paper.kind:
        has_one_number = bool(paper.numbers or page.numbers) and not _are_other(paper.parties, page.parties)
        return has_other_number or (has_totals and not has_one_number and paper.numbers.isdisjoint(page.numbers))
    if page.kind is PaperKind.TIMESHEET and paper.kind in BILL_KINDS:
        return False
    has_own = page.numbers or (page.has_date and (page.totals or page.kind not in BILL_KINDS))
    return paper.numbers.isdisjoint(page.numbers) and bool(has_own)


def begins_within(paper: PageSigns, part: PageSigns) -> bool:
    """True if a part of a page begins another paper than the one above it."""
    if part.kind is PaperKind.REMITTANCE_ADVICE or not paper.numbers.isdisjoint(part.numbers):
        return False
    if part.kind is None:
        return bool(paper.totals and part.totals and part.has_date)
    is_whole = bool(paper.totals) or (paper.kind is not None and paper.kind not in BILL_KINDS)
    has_own = bool(part.parties or (part.numbers and part.has_date))
    has_sum = part.kind not in BILL_KINDS or (bool(part.totals) and paper.totals.isdisjoint(part.totals))
    return is_whole and has_own and has_sum


def _are_other(first: frozenset[str], second: frozenset[str]) -> bool:
    """True if both sides have names or numbers, and none in common."""
    return bool(first and second) and first.isdisjoint(second)
