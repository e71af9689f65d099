"""Party names: finds the names of a bill's two parties by their places, for where the model marks them wrongly or not.

The rules, for the cells of a line (`lines`):
- After a keyword in the same cell ("Sold by Acme Ltd"), or in the column below a keyword that is all of its cell. Keys
  of numbers and courtesies between the two are passed over; "Name: Acme Ltd" among them is taken by its value.
- The sender's line above an address window, or at a page's foot, begins with the supplier's name, then its address.
- In a postal address (a street, and a postcode below it) the first line of the block is the name.
- A name ends where an entity of another kind begins, or a comma without a legal form behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from service.core.decoding.entities import Entity
from service.core.fields.cells import Span, cell_spans
from service.core.fields.parties import HEADING_CHARACTERS, role_of
from service.core.fields.party_places import has_legal_form, starts_with_form
from service.core.fields.roles import DATES, IDENTIFIERS, NAMES, SUPPLIER
from service.core.fields.vocabulary.phrases import folded

MOST_LINES = 400
"""Most lines of a document that are searched."""
LONGEST_NAME = 64
"""Most characters of a name."""
LONGEST_CELL = 120
"""Most characters of a cell; a longer one is prose."""
LINES_BELOW_KEYWORD = 5
LINES_OF_BLOCK = 4
"""Most lines of a postal address above its postcode."""

_SPLIT = re.compile(r"^([^:：]{2,40})[:：]\s*(\S.*)$")
_NAME_KEY = re.compile(
    r"(?:firmen|company |business |legal |full )?name|firma|company|denominazione|ragione sociale|nom|raison sociale|"
    r"denomination|nombre|razon social|denominacion|naam|bedrijfsnaam|nazwa|navn|namn|nome|denumire|nimi|nazev|jmeno|"
    r"наименование|名称|名稱|会社名|상호|الاسم"
)
_COURTESY = re.compile(
    r"(?:herrn?|frau|eheleute|familie|firma|an|mr\.?|mrs\.?|ms\.?|messrs\.?|monsieur|madame|m\.|mme|sig\.?|spett\.?le|"
    r"sr\.?|sra\.?|dhr\.?|mevr\.?|pan|pani|hr\.|fru|sayin|г-н|г-жа)(?:\s+|$)"
)
_CODE_AND_CITY = (
    r"(?:[A-Z]{1,2}[ -])?[0-9]{4,6}(?:[ -]?[A-Z]{2}|-[0-9]{3,4})?\s+[^\W\d_]{2}|[0-9]{2,3}[ -][0-9]{2,3}\s+[^\W\d_]{2}"
)
_POSTCODE = re.compile(
    rf"{_CODE_AND_CITY}|.*\b[A-Z]{{2}},? [0-9]{{5}}(?:-[0-9]{{4}})?$|.*\b[A-Z]{{1,2}}[0-9][0-9A-Z]? [0-9][A-Z]{{2}}$"
)
_STREET = re.compile(
    r".*[^\W\d_].*\s[0-9]{1,5}\s?[a-zA-Z]?$|[0-9]{1,5}[a-z]?,?\s+.*[^\W\d_]{3}|"
    r".*\b(?:P\.?O\.? ?Box|Postfach|Postbus|Apartado|Box|B\.?P\.?)\b"
)
_SENDER_LINE = re.compile(
    rf"[^\W\d_][^,·•|]*?(?=(?:,|\s[·•|–-])\s[^,·•|]*[0-9][^,·•|]*?(?:,|\s[·•|–-])\s(?:{_CODE_AND_CITY}))"
)
_ENDS_NAME = IDENTIFIERS | DATES | {"MONEY", "ADDRESS", "EMAIL", "PHONE", "URL"}
_BACKS_NAME = NAMES | {"LOCATION", "ADDRESS", "EMPLOYER", "SCHOOL", "PARTY"}
_SENTENCE = re.compile(r"(?:\S+ +)*(?:[^\W\d_A-Z]\S* +){3,}.*|.*[^\W\d_]{4,}[.。]")
"""Prose: three words in a row without a capital, or a full stop behind a word."""
_COMMA = re.compile(r"\s*(?:,\s|\s[-–—·•|]\s)")


Name = tuple[str, Span]
"""Label and span of a name; ORGANIZATION for a name in an address, which may be either party's."""


def party_names(text: str, entities: Sequence[Entity]) -> list[Name]:
    """Find the names that their places mark; `entities`: the model's entities."""
    return list(dict.fromkeys(_names(_Page(text, entities))))


def _names(page: _Page) -> Iterator[Name]:
    for line, cells in enumerate(page.cells):
        for index, (start, end) in enumerate(cells):
            yield from _after_keyword(page, line, index)
            sender = _SENDER_LINE.match(page.text, start, end)
            if sender and (name := page.name_in(*sender.span())):
                yield SUPPLIER, name
        if cells and _POSTCODE.match(page.text, *cells[0]):
            yield from _above_postcode(page, line)


class _Page:
    """Cells of each line, offsets at which entities end a name, and the ends of firms' names by their beginnings."""

    def __init__(self, text: str, entities: Sequence[Entity]) -> None:
        self.text = text
        rows = text.split("\n", MOST_LINES)[:MOST_LINES]
        starts = accumulate((len(row) + 1 for row in rows), initial=0)
        self.cells = [
            [(start, end) for start, end in cell_spans(text, at, at + len(row)) if end - start <= LONGEST_CELL]
            for at, row in zip(starts, rows, strict=False)
        ]
        self._borders = sorted(entity.start for entity in entities if entity.label in _ENDS_NAME)
        self._names = [(entity.start, entity.end) for entity in entities if entity.label in _BACKS_NAME]
        self._firms = {
            entity.start: entity.end for entity in entities if entity.label in NAMES and has_legal_form(entity.text)
        }

    def is_backed(self, name: Span) -> bool:
        """True if the model has marked a part of the words as a name, or they have a legal form."""
        start, end = name
        return has_legal_form(self.text[start:end]) or any(at < end and start < until for at, until in self._names)

    def name_in(self, start: int, end: int) -> Span | None:
        """Find the name with which a part of a line begins; None if it begins with none."""
        found = self.words_in(start, end)
        return found if found and self.is_backed(found) else None

    def words_in(self, start: int, end: int) -> Span | None:
        """Find the words with which a part of a line begins, if they could be a name."""
        start += len(_courtesy(self.text[start:end]))
        end = min([self._firms.get(start, end), end, *(border for border in self._borders if start < border < end)])
        for comma in _COMMA.finditer(self.text, start, end):
            if self.text[comma.start()] != "," or not starts_with_form(self.text[comma.end() : end]):
                end = comma.start()
                break
        name = self.text[start:end].rstrip(" ,;:·-|(")
        return (start, start + len(name)) if _is_name(name) else None


def _courtesy(cell: str) -> str:
    found = _COURTESY.match(cell.casefold())
    return cell[: found.end()] if found else ""


def _is_name(name: str) -> bool:
    letters = sum(map(str.isalpha, name))
    return (
        2 <= letters <= LONGEST_NAME >= len(name)
        and not name[0].islower()
        and 2 * letters > len(name)
        and "@" not in name
        and not any(map(str.isdigit, name[-4:]))
        and (_SENTENCE.fullmatch(name) is None or has_legal_form(name))
        and role_of(name) is None
    )


def _after_keyword(page: _Page, line: int, index: int) -> Iterator[Name]:
    start, end = page.cells[line][index]
    text = page.text[start:end]
    if pair := _SPLIT.match(text):
        role = role_of(pair[1])
        if role and (name := page.name_in(start + pair.start(2), end)):
            yield role, name
        return
    if end - start <= HEADING_CHARACTERS and (role := role_of(text)) and _is_heading(text):
        for below in page.cells[line + 1 : line + 1 + LINES_BELOW_KEYWORD]:
            if index >= len(below):
                return
            at, until = below[index]
            if pair := _SPLIT.match(page.text[at:until]):
                if not _NAME_KEY.fullmatch(folded(pair[1]).strip()):
                    continue
                at += pair.start(2)
            elif len(_courtesy(page.text[at:until] + " ")) >= until - at:
                continue
            if name := page.name_in(at, until):
                yield role, name
            return


def _is_heading(text: str) -> bool:
    """True if a cell is a keyword and nothing else that could be a name."""
    return text.endswith((":", "：")) or len(text.split()) <= 2 or text.isupper()


def _above_postcode(page: _Page, line: int) -> Iterator[Name]:
    if not line or len(page.cells[line - 1]) != 1 or not _STREET.match(page.text, *page.cells[line - 1][0]):
        return
    found: list[Span] = []
    for above in range(line - 2, max(line - 2 - LINES_OF_BLOCK, -1), -1):
        cells = page.cells[above]
        pair = _SPLIT.match(page.text[slice(*cells[0])]) if len(cells) == 1 else None
        if pair and role_of(pair[1]):
            continue
        if len(cells) != 1 or pair or not (name := page.words_in(*cells[0])):
            break
        found.append(name)
    backed = [each for each in found if page.is_backed(each)]
    if backed:
        yield "ORGANIZATION", backed[-1]
