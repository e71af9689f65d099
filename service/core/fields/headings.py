"""Headings of bills: tell credit notes and corrections from invoices, and where one bill of a text ends.

The rules:
- A heading is a cell that begins with a bill's name ("Credit note", "AVOIR N° 9", "Invoice no.: 7"), at most one word
  before it. With more than `MOST_OTHER_LETTERS` letters beside the name, or in small letters without a number, it is
  prose. Names of any paper ("document") and of another bill ("original invoice") are none.
- The first heading names the document. A credit note is no invoice: its total is nothing to pay. A correction is one
  or the other, as its total's sign says.
- A bill begins with a number called a bill's, and a total stands before the next one. A number that stands on both
  sides of another one is of the same bill. On a page without such a number, a heading at its top counts in its place.
- A bill ends before the page of the next one's number; on one page, before the first heading, supplier or receiver
  behind its total, at the latest before the line of the next one's number.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import pairwise

from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention, same_value
from service.core.fields.named_roles import role_before
from service.core.fields.roles import NUMBERS, RoleGroup, labels_of
from service.core.fields.vocabulary.phrases import PhraseTable, folded

MOST_OTHER_LETTERS = 20
"""Most letters of a heading beside the bill's name; a cell with more is prose."""
LONGEST_HEADING = 80
HEADING_CHARACTERS = 12_000
"""Characters of a bill's beginning that are searched for its heading."""
TOP_CHARACTERS = 300
"""Characters of a page's beginning that are searched for the heading of another bill."""
CREDIT, CORRECTION, BILL = "credit", "correction", "bill"
"""Kinds of headings; names of fields of `BillWords`."""

_TABLES = (PhraseTable("another_bill"), PhraseTable(CREDIT, CORRECTION), PhraseTable(BILL))
"""Tables of names, in order of precedence: a "Stornorechnung" is also a "*rechnung"."""
_ANY_PAPER = frozenset(map(folded, "doc document beleg re 伝票 单号 승인 doklad dokladu bon inv".split()))
_CELL = re.compile(r"\S(?:[^\n\t ]| (?! ))*")
_ONE_WORD = re.compile(r"(?:[^\W\d_]{1,20}[\s/-]{0,3})?")
_PARTIES = frozenset(labels_of(RoleGroup.PARTY))


def heading_kind(text: str) -> str | None:
    """Find the kind of a bill's first heading; None without one."""
    return next((kind for kind, _ in _headings(text, 0, HEADING_CHARACTERS)), None)


def bill_spans(
    mentions: Sequence[Mention], totals: Iterable[int], text: str, pages: Sequence[int] = ()
) -> list[tuple[int, int]]:
    """Divide a text into its bills; returns start and end of each, at least one.

    Args:
        totals: offsets of amounts called a total.
        pages: offsets at which the pages begin.
    """
    lines, found = TextLines(text), sorted(totals)
    numbers = _numbers(mentions, lines)
    numbered = {bisect_right(pages, place) for span in numbers for place in span}
    starts = sorted([*numbers, *_headed_pages(text, pages, numbered)])
    stated = [
        (start, max(own))
        for (start, last), (end, _) in pairwise([*starts, (sys.maxsize, 0)])
        if (own := [total for total in found if last < total < end])
    ]
    borders = [_border(mentions, lines, text, pages, total, start) for (_, total), (start, _) in pairwise(stated)]
    return list(pairwise([0, *borders, len(text)]))


def _numbers(mentions: Sequence[Mention], lines: TextLines) -> list[tuple[int, int]]:
    """Find first and last place of each number called a bill's, unless it ends behind the next one's beginning."""
    places: dict[str, tuple[int, int]] = {}
    for mention in mentions:
        if mention.label in NUMBERS and role_before(lines, mention) == "INVOICE_ID":
            first, _ = places.get(same_value(mention), (mention.start, 0))
            places[same_value(mention)] = (first, mention.start)
    spans = sorted(places.values())
    return [one for one, following in pairwise([*spans, (sys.maxsize, 0)]) if one[1] < following[0]]


def _headed_pages(text: str, pages: Sequence[int], numbered: Container[int]) -> Iterator[tuple[int, int]]:
    """Yield the beginnings of pages without a number that begin with a heading."""
    for page, (start, end) in enumerate(pairwise([*pages, len(text)]), start=1):
        if page not in numbered and next(_headings(text, start, min(end, start + TOP_CHARACTERS)), None):
            yield start, start


def _border(
    mentions: Sequence[Mention], lines: TextLines, text: str, pages: Sequence[int], total: int, number: int
) -> int:
    """Find the end of the bill with this last total, before the next bill's number."""
    page = bisect_right(pages, number)
    if page > bisect_right(pages, total):
        return pages[page - 1]
    first, latest = lines.start(lines.at(total) + 1), lines.start(lines.at(number))
    parties = (lines.start(lines.at(mention.start)) for mention in mentions if mention.label in _PARTIES)
    begins = (*(place for _, place in _headings(text, first, latest)), *parties)
    return min((place for place in begins if first <= place < latest), default=max(first, latest))


def _headings(text: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield kind and place of each heading in a part of a text."""
    for cell in _CELL.finditer(text, start, min(end, len(text))):
        if len(cell[0]) <= LONGEST_HEADING and (kind := _kind(cell[0])):
            yield kind, cell.start()


def _kind(cell: str) -> str | None:
    """Classify a cell as a kind of heading; None if it is none."""
    line = folded(cell)
    names = (found[0] for table in _TABLES if (found := table.find(line)))
    name = min(names, key=lambda phrase: phrase.start, default=None)
    if name is None or name.kind == "another_bill" or not _ONE_WORD.fullmatch(line[: name.start]):
        return None
    written = line[name.start : name.end]
    others = sum(map(str.isalpha, line)) - sum(map(str.isalpha, written))
    is_prose = others > MOST_OTHER_LETTERS or (cell[0].islower() and others and not any(map(str.isdigit, cell)))
    return None if is_prose or written in _ANY_PAPER else name.kind
