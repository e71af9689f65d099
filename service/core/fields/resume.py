"""Résumé fields: the person with contact data, and jobs and educations as entries.

The rules:
- The first person, address, e-mail and phone number gain `FIRST`: later ones belong to employers and references.
- Title and employer, or degree and school, within two lines of each other form one entry, each at most once.
- A date belongs to the entry whose lines are nearest, if it is within two lines.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from service.core.fields.lines import TextLines
from service.core.fields.mentions import Choice, Mention, Reason, choose, ranked, same_value

LINES_APART = 2
FIRST = 0.5
"""Weight added to the first name, address or number of the document."""
SINGLE = {"email": ("EMAIL",), "phone": ("PHONE",), "address": ("ADDRESS", "LOCATION")}
"""Role → its labels, the better one first; the second counts where the first was not found."""


@dataclass(slots=True)
class _Lines:
    """An entry as it is put together: mentions by label, and the lines from the first to the last."""

    parts: dict[str, Mention]
    first: int
    last: int
    dates: list[Mention] = field(default_factory=list)

    def distance(self, line: int) -> int:
        """Lines between this entry and another line; 0 within it."""
        return max(self.first - line, line - self.last, 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A job (`what`: title, `where`: employer) or an education (degree, school), with its dates in order."""

    what: Mention | None
    where: Mention | None
    dates: tuple[Mention, ...]


def choose_person(mentions: Sequence[Mention]) -> dict[str, Choice]:
    """The choices for name, e-mail, phone and address, by role."""
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
    return ranked(labelled, lambda each: each.score + FIRST * (each.start == first))


def find_entries(mentions: Sequence[Mention], lines: TextLines) -> tuple[tuple[Entry, ...], tuple[Entry, ...]]:
    """(jobs, educations) in the order of the document."""
    jobs = _grouped(mentions, lines, ("JOB_TITLE", "EMPLOYER"))
    educations = _grouped(mentions, lines, ("DEGREE", "SCHOOL"))
    entries = sorted(jobs + educations, key=lambda entry: entry.first)
    firsts = [entry.first for entry in entries]
    for date in (mention for mention in mentions if mention.label == "DATE"):
        line = lines.at(date.start)
        after = bisect_right(firsts, line)
        near = [each for each in entries[max(after - 2, 0) : after + 1] if each.distance(line) <= LINES_APART]
        if near:
            min(near, key=lambda entry: entry.distance(line)).dates.append(date)
    return _entries(jobs, "JOB_TITLE", "EMPLOYER"), _entries(educations, "DEGREE", "SCHOOL")


def distinct(mentions: Iterable[Mention], label: str) -> tuple[Mention, ...]:
    """The first mention of each value with this label, in the order of the document."""
    first: dict[str, Mention] = {}
    for mention in mentions:
        if mention.label == label:
            first.setdefault(same_value(mention), mention)
    return tuple(first.values())


def _grouped(mentions: Sequence[Mention], lines: TextLines, labels: tuple[str, str]) -> list[_Lines]:
    entries: list[_Lines] = []
    for mention in mentions:
        if mention.label in labels:
            first, last = lines.at(mention.start), lines.at(mention.end - 1)
            if entries and mention.label not in entries[-1].parts and entries[-1].distance(first) <= LINES_APART:
                entries[-1].parts[mention.label] = mention
                entries[-1].last = last
            else:
                entries.append(_Lines({mention.label: mention}, first, last))
    return entries


def _entries(found: Sequence[_Lines], what: str, where: str) -> tuple[Entry, ...]:
    return tuple(Entry(each.parts.get(what), each.parts.get(where), tuple(each.dates)) for each in found)
