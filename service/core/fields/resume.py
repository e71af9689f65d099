"""Résumé fields: the person with contact data, and jobs and educations as entries.

The rules:
- The first person, address, e-mail and phone number gain `FIRST`: later ones belong to employers and references.
- Title and employer, or degree and school, within two lines of each other form one entry, each at most once.
- A date belongs to the entry whose lines are nearest, if it is within two lines; one in a line that occurs again, but
  for a page number at its end, is a footer's and belongs to none.
- A title without an employer and a date is no job: it is of the heading or of prose.
- An entry lasts if "present" follows a date of it on its line, or "since" precedes one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from service.core.fields.lines import TextLines
from service.core.fields.mentions import Choice, Mention, Reason, choose, ranked, same_value
from service.core.fields.vocabulary.phrases import count_letters, folded

LINES_APART = 2
FIRST = 0.5
"""Weight that the document's first name, address or number gains."""
SINGLE = {"email": ("EMAIL",), "phone": ("PHONE",), "address": ("ADDRESS", "LOCATION")}
"""Role → its labels, the better one first; the second counts where the document lacks the first."""

NEAR = 24
"""Characters beside a date that are searched for "present" and "since"."""
FOOTER_LETTERS = 8
"""Least letters beside the date in a line that may be a footer."""

_PRESENT = re.compile(
    folded(
        r"[年년]?\s*(?:[-–—~〜/]|\b(?:to|until|till?|bis|à|a|au|al|do|po|по|tot(?: en met)?)\b)?\s*(?:"
        r"(?:\w{1,4} )?(?:present|today|now|current(?:ly)?|ongoing|heute|jetzt|aktuell|laufend|dato|aujourd'hui|"
        r"ce jour|actuel|"
        r"actualidad|presente|actualmente|hoy|oggi|in corso|attuale|atual|hoje|heden|nu|nuvarande|pågående|nå|"
        r"obecnie|nadal|teraz|"
        r"dosud|současnost|prezent|nykyinen|edelleen|настоящее время|н\. ?в|halen|devam ediyor|günümüz|sekarang|kini)\b"
        r"|現在|至今|现在|현재|재직|حتى الآن|वर्तमान|अब तक)"
    )
)
_SINCE = re.compile(
    folded(r"(?:\b(?:since|seit|ab|depuis|desde|dal|sinds|sedan|siden|od|от|din)|с|من)\s*$"),
)
_PAGE_NUMBER = re.compile(r"[\s|·•/-]*[0-9]{1,3}(?:\s*(?:/|of|von|de|sur|di|van)\s*[0-9]{1,3})?\s*$")


@dataclass(slots=True)
class _OpenEntry:
    """An entry under construction: mentions by label, and its first and last line."""

    parts: dict[str, Mention]
    first: int
    last: int
    dates: list[Mention] = field(default_factory=list)

    def distance(self, line: int) -> int:
        """Count the lines between this entry and another line; 0 within it."""
        return max(self.first - line, line - self.last, 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A job (`what`: title, `where`: employer) or an education (degree, school), with its dates in order.

    `is_ongoing`: whether the document says that it lasts.
    """

    what: Mention | None
    where: Mention | None
    dates: tuple[Mention, ...]
    is_ongoing: bool = False


PERSON_ROLES = ("name", *SINGLE)
"""Roles of a résumé."""


def choose_person(mentions: Sequence[Mention]) -> dict[str, Choice]:
    """Choose name, e-mail, phone and address, by role."""
    name = choose(_first_best(mentions, "PERSON"))
    roles = {"name": name} if name else {}
    for role, labels in SINGLE.items():
        best = next((found for label in labels if (found := _first_best(mentions, label))), [])
        if choice := choose(best, Reason.LABEL if not best or best[0][0].label == labels[0] else Reason.CONTEXT):
            roles[role] = choice
    return roles


def _first_best(mentions: Sequence[Mention], label: str) -> list[tuple[Mention, float]]:
    labelled = [mention for mention in mentions if mention.label == label]
    first = min((mention.start for mention in labelled), default=0)
    return ranked(labelled, lambda mention: mention.score + FIRST * (mention.start == first))


def find_entries(mentions: Sequence[Mention], lines: TextLines) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """Group mentions into jobs and educations, each in the order of the document."""
    jobs = _grouped(mentions, lines, ("JOB_TITLE", "EMPLOYER"))
    educations = _grouped(mentions, lines, ("DEGREE", "SCHOOL"))
    entries = sorted(jobs + educations, key=lambda entry: entry.first)
    firsts = [entry.first for entry in entries]
    for date in _without_footers([mention for mention in mentions if mention.label == "DATE"], lines):
        line = lines.at(date.start)
        after = bisect_right(firsts, line)
        near = [entry for entry in entries[max(after - 2, 0) : after + 1] if entry.distance(line) <= LINES_APART]
        if near:
            min(near, key=lambda entry: entry.distance(line)).dates.append(date)
    jobs = [entry for entry in jobs if "EMPLOYER" in entry.parts or entry.dates]
    return _entries(jobs, ("JOB_TITLE", "EMPLOYER"), lines), _entries(educations, ("DEGREE", "SCHOOL"), lines)


def _without_footers(dates: Sequence[Mention], lines: TextLines) -> list[Mention]:
    """Leave out dates in lines that occur again, page numbers at their ends aside."""
    marks = {date.entity: _PAGE_NUMBER.sub("", lines.line(date.start)) for date in dates}
    times = Counter(mark for _, mark in {(lines.at(date.start), marks[date.entity]) for date in dates})

    def is_footer(date: Mention) -> bool:
        mark = marks[date.entity]
        letters = count_letters(mark.replace(date.text, ""))
        return date.text in mark and times[mark] > 1 and letters >= FOOTER_LETTERS

    return [date for date in dates if not is_footer(date)]


def _is_ongoing(date: Mention, lines: TextLines) -> bool:
    """True if "present" follows a date on its line, or "since" precedes it."""
    after, before = folded(lines.after(date.end, NEAR)), folded(lines.before(date.start, NEAR))
    return _PRESENT.match(after) is not None or _SINCE.search(before) is not None


def distinct(mentions: Iterable[Mention], label: str) -> tuple[Mention, ...]:
    """Return the first mention of each value with this label, in the order of the document."""
    first: dict[str, Mention] = {}
    for mention in mentions:
        if mention.label == label:
            first.setdefault(same_value(mention), mention)
    return tuple(first.values())


def _grouped(mentions: Sequence[Mention], lines: TextLines, labels: tuple[str, str]) -> list[_OpenEntry]:
    entries: list[_OpenEntry] = []
    for mention in mentions:
        if mention.label in labels:
            first, last = lines.at(mention.start), lines.at(mention.end - 1)
            if entries and mention.label not in entries[-1].parts and entries[-1].distance(first) <= LINES_APART:
                entries[-1].parts[mention.label] = mention
                entries[-1].last = last
            else:
                entries.append(_OpenEntry({mention.label: mention}, first, last))
    return entries


def _entries(found: Sequence[_OpenEntry], labels: tuple[str, str], lines: TextLines) -> tuple[Entry, ...]:
    what, where = labels
    return tuple(
        Entry(
            entry.parts.get(what),
            entry.parts.get(where),
            tuple(entry.dates),
            any(_is_ongoing(date, lines) for date in entry.dates),
        )
        for entry in found
    )
