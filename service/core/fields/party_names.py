"""Party names: finds the names of a bill's two parties by their places, for where the model marks them wrongly or not.

The rules, for the cells of a line and their columns (`lines`, `cells`):
- After a keyword in the same cell ("Sold by Acme Ltd"), or in the column below a keyword that is all of its cell. Keys
  of numbers and courtesies between the two are passed over; "Name: Acme Ltd" among them is taken by its value. Without
  a name below, in the cell to the right. "Name:" without a keyword, before the first amount, is the receiver's.
- The sender's line above an address window, or at a page's foot, begins with the supplier's name, then its address.
- In a postal address (a postcode, a street above it) the first line of the block is the name.
- A line for somebody's attention is the name only if no name stands on the next line, or above it in the block.
- Where the model marks no firm, the first line of a text with an address, or a line at the top beside an address or as
  in the web address, is the supplier's logo. The first line of an address may be a name, though the model takes it in.
- A name begins with its cell, though the model marks its end alone ("Hafenkontor *Ostsee eG*"), and on the line above a
  mere legal form; behind a trade's form it ends with its cell ("*Bostads AB* Poseidon"). It ends where an entity of
  another kind begins, or at a comma without a legal form behind it.
- Words are a name if the model marks a part of them, or they have a legal form; below and beside a keyword and in a
  postal address, capitalized words as well (`name_forms`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence

from service.core.decoding.entities import Entity
from service.core.fields.cells import Cell, Span, in_column
from service.core.fields.lines import TextLines
from service.core.fields.name_forms import (
    attention,
    courtesy,
    has_legal_form,
    is_capitalized,
    is_letterhead,
    is_name,
    is_postcode,
    is_street,
    sender_in,
    starts_with_form,
    without_form,
)
from service.core.fields.parties import HEADING_CHARACTERS, keyword_at, role_of
from service.core.fields.roles import AMOUNTS, DATES, IDENTIFIERS, NAMES, RECEIVER, SUPPLIER
from service.core.fields.vocabulary.phrases import count_letters, folded, letters_of

MOST_LINES = 400
"""Most lines of a document that are searched."""
LONGEST_CELL = 120
"""Most characters of a cell; a longer one is prose."""
LINES_BELOW_KEYWORD = 5
SHORTEST_BESIDE_TOWN = 4
"""Fewest letters beside a town's name that make words the name of a party ("Singapore (SIN)" is none)."""
LINES_OF_LETTERHEAD = 6
"""Most lines of a text in which a letterhead is looked for that the model does not mark."""
LINES_OF_BLOCK = 4
"""Most lines of a postal address above its street."""

_SPLIT = re.compile(r"^([^:：]{2,40})[:：]\s*(\S.*)$")
_NAME_KEY = re.compile(
    r"(?:firmen|company |business |legal |full )?name|firma|company|denominazione|ragione sociale|nom|raison sociale|"
    r"denomination|nombre|razon social|denominacion|naam|bedrijfsnaam|nazwa|navn|namn|nome|denumire|nimi|nazev|jmeno|"
    r"nev|cegnev|επωνυμια|"
    r"наименование|名称|名稱|会社名|氏名|상호|성명|الاسم"
)
_ENDS_NAME = IDENTIFIERS | DATES | {"MONEY", "ADDRESS", "EMAIL", "PHONE", "URL"}
_BACKS_NAME = NAMES | {"LOCATION", "ADDRESS", "EMPLOYER", "SCHOOL", "PARTY"}
_BEFORE_NAME = re.compile(r"^[A-ZÅÄÖÆØ][a-zåäöæø]{3,20}s AB$")
"""A firm's trade and form that stand before its name ("Bostads AB Lindängen")."""
_FIRMS = frozenset((SUPPLIER, "ORGANIZATION"))
_COMMA = re.compile(r"\s*(?:,\s|\s[-–—·•●|]\s)")

Name = tuple[str, Span]
"""Label and span of a name; ORGANIZATION for a name in an address, which may be either party's."""


def party_names(lines: TextLines, entities: Sequence[Entity]) -> list[Name]:
    """Find the names that their places mark; `entities`: the model's entities."""
    return list(dict.fromkeys(_names(_Page(lines, entities), entities)))


def _names(page: _Page, entities: Sequence[Entity]) -> Iterator[Name]:
    for line in range(min(page.lines.count, MOST_LINES)):
        for cell in page.cells(line):
            yield from _after_keyword(page, line, cell)
            if (sender := sender_in(page.text(cell))) and (name := page.name_in(cell.start, cell.start + len(sender))):
                yield SUPPLIER, name
            if is_postcode(page.text(cell)):
                yield from _above_postcode(page, line, cell)
            if not without_form(page.text(cell)):
                yield from _above_form(page, line, cell)
    for entity in entities:
        if entity.label in NAMES and (name := _whole_name(page, entity)):
            yield page.label_of(name), name
        if entity.label == "ADDRESS" and (name := _first_of_address(page, entity)):
            yield "ORGANIZATION", name
    firms = (each for each in entities if each.label in NAMES)
    is_marked = any(each.label in _FIRMS or has_legal_form(each.text) for each in firms)
    if not is_marked and (name := _letterhead(page, entities)):
        yield SUPPLIER, name


class _Page:
    """Cells and columns of a text, and what the model marks in it."""

    def __init__(self, lines: TextLines, entities: Sequence[Entity]) -> None:
        self.lines = lines
        self.first_amount = min((entity.start for entity in entities if entity.label in AMOUNTS), default=sys.maxsize)
        self._borders = sorted(entity.start for entity in entities if entity.label in _ENDS_NAME)
        self._marked = [entity for entity in entities if entity.label in _BACKS_NAME]
        self._towns = [(each.start, each.end) for each in entities if each.label == "LOCATION"]
        self._addresses = [(each.start, each.end) for each in entities if each.label == "ADDRESS"]
        self._firms = {
            entity.start: entity.end for entity in entities if entity.label in NAMES and has_legal_form(entity.text)
        }

    def text(self, part: Cell) -> str:
        return self.lines.between(part.start, part.end)

    def cells(self, line: int) -> list[Cell]:
        return [cell for cell in self.lines.row(line).cells if cell.end - cell.start <= LONGEST_CELL]

    def in_column(self, line: int, cell: Cell, other: int) -> Cell | None:
        """Find the cell of another line in the column of a cell."""
        found = in_column(cell, self.lines.row(line), self.lines.row(other)) if 0 <= other < self.lines.count else None
        return found if found and found.end - found.start <= LONGEST_CELL else None

    def label_of(self, name: Span) -> str:
        """The party's label under which the model marks a part of a name; ORGANIZATION without one."""
        labels = (each.label for each in self._marked if each.start < name[1] and name[0] < each.end)
        return next((label for label in labels if label in (SUPPLIER, RECEIVER)), "ORGANIZATION")

    def ends_within(self, name: Span) -> bool:
        """True if an entity that ends a name, or a town, begins within it."""
        return any(name[0] < start < name[1] for start in (*self._borders, *(town[0] for town in self._towns)))

    def is_backed(self, name: Span) -> bool:
        """True if the model has marked a part of the words as a name, or they have a legal form."""
        start, end = name
        return has_legal_form(self.lines.between(start, end)) or any(
            each.start < end and start < each.end for each in self._marked
        )

    def name_in(self, start: int, end: int, *, alone: bool = False, numbered: bool = False) -> Span | None:
        """Find the name with which a part of a line begins.

        Args:
            alone: whether capitalized words need no mark of the model.
            numbered: whether a name may end with a number.
        """
        found = self.words_in(start, end, numbered=numbered)
        if found and (self.is_backed(found) or (alone and is_capitalized(self.lines.between(*found)))):
            return found
        return None

    def words_in(self, start: int, end: int, *, numbered: bool = False) -> Span | None:
        """Find the words with which a part of a line begins, if they could be a name; `numbered` as in `name_in`."""
        start += len(courtesy(self.lines.between(start, end)))
        end = min([self._firms.get(start, end), end, *(border for border in self._borders if start < border < end)])
        text = self.lines.between(start, end)
        for comma in _COMMA.finditer(text):
            if text[comma.start()] != "," or not starts_with_form(text[comma.end() :]):
                text = text[: comma.start()]
                break
        name = text.rstrip(" ,;:·-|(")
        found = start, start + len(name)
        is_party = name and is_name(name, may_end_with_number=numbered) and role_of(name) is None
        return found if is_party and not self._is_place(found) else None

    def _letters(self, *spans: Span) -> int:
        return sum(count_letters(self.lines.between(*span)) for span in spans)

    def _is_place(self, name: Span) -> bool:
        """True if the model marks the words as a town, or as a part of an address that goes on behind them."""
        start, end = name
        if has_legal_form(self.lines.between(start, end)):
            return False
        towns = [town for town in self._towns if start <= town[0] < town[1] <= end]
        letters, in_towns = (self._letters(*spans) for spans in ([name], towns))
        if towns and letters - in_towns < SHORTEST_BESIDE_TOWN:
            return True
        line_end = self.lines.end(self.lines.at(start))
        return any(at <= start and end < min(until, line_end) for at, until in self._addresses)


def _after_keyword(page: _Page, line: int, cell: Cell) -> Iterator[Name]:
    text = page.text(cell)
    if pair := _SPLIT.match(text):
        role = role_of(pair[1]) or _role_of_key(page, pair[1], cell)
        if role and (name := _attended(page, cell.start + pair.start(2), cell.end)):
            yield role, name
    elif len(text) <= HEADING_CHARACTERS and _is_heading(text):
        role = role_of(text) or _role_of_key(page, text, cell)
        if role and (name := _below_keyword(page, line, cell) or _beside_keyword(page, line, cell)):
            yield role, name


def _role_of_key(page: _Page, key: str, cell: Cell) -> str | None:
    """Find whose name a mere "Name:" is: the receiver's in the upper part of a bill, unless a keyword stands above."""
    is_key = _NAME_KEY.fullmatch(folded(key).strip(" :")) is not None and cell.start < page.first_amount
    return RECEIVER if is_key and keyword_at(page.lines, cell.start)[0] is None else None


def _below_keyword(page: _Page, line: int, cell: Cell) -> Span | None:
    attended: Span | None = None
    for other in range(line + 1, line + 1 + LINES_BELOW_KEYWORD):
        below = page.in_column(line, cell, other)
        if below is None:
            return attended
        start, text = below.start, page.text(below)
        if pair := _SPLIT.match(text):
            if not attention(text) and not _NAME_KEY.fullmatch(folded(pair[1]).strip()):
                continue
            start += 0 if attention(text) else pair.start(2)
        elif len(courtesy(text + " ")) >= len(text):
            continue
        street = page.in_column(other, below, other + 1)
        numbered = street is not None and is_street(page.text(street))
        if (name := page.name_in(start, below.end, alone=True, numbered=numbered)) and not attention(text):
            return name
        if attended or not attention(text):
            return attended
        attended = _attended(page, start, below.end)
    return attended


def _beside_keyword(page: _Page, line: int, cell: Cell) -> Span | None:
    """Find the name in the cell to the right of a keyword that ends with a colon, or has one neighbour alone."""
    row = page.lines.row(line).cells
    right = next((other for other in row if other.start >= cell.end), None)
    if right is None or not (len(row) == 2 or page.text(cell).endswith((":", "："))):
        return None
    return None if _SPLIT.match(page.text(right)) else page.name_in(right.start, right.end, alone=True)


def _attended(page: _Page, start: int, end: int) -> Span | None:
    """Find the name behind words for somebody's attention, or with which a part of a line begins."""
    return page.name_in(start + len(attention(page.lines.between(start, end))), end)


def _is_heading(text: str) -> bool:
    """True if a cell is a keyword and nothing else that could be a name."""
    return text.endswith((":", "：")) or len(text.split()) <= 2 or text.isupper()


def _above_postcode(page: _Page, line: int, cell: Cell) -> Iterator[Name]:
    street = page.in_column(line, cell, line - 1)
    if street is None or not is_street(page.text(street)):
        return
    found: list[Span] = []
    attended: list[Span] = []
    for above in range(line - 2, line - 2 - LINES_OF_BLOCK, -1):
        upper = page.in_column(line - 1, street, above)
        if upper is None:
            break
        text = page.text(upper)
        if attention(text):
            name = _attended(page, upper.start, upper.end)
            attended += [name] if name else []
            continue
        pair = _SPLIT.match(text)
        if pair and role_of(pair[1]):
            continue
        name = None if pair else page.words_in(upper.start, upper.end)
        if name is None or any(map(str.isdigit, page.lines.between(name[1], upper.end))):
            break
        found.append(name)
    backed = [each for each in found if page.is_backed(each)]
    alone = [each for each in found if is_capitalized(page.lines.between(*each))]
    if names := backed[-1:] or alone[-1:] or attended[-1:]:
        yield "ORGANIZATION", names[0]


def _above_form(page: _Page, line: int, cell: Cell) -> Iterator[Name]:
    """Join a mere legal form with the name above it ("Harbourside Plumbing" over "Pty Ltd")."""
    upper, above = page.in_column(line, cell, line - 1), page.lines.row(line - 1)
    if upper is None or upper is not above.cells[-1] or cell is not page.lines.row(line).cells[0]:
        return
    if (name := page.words_in(upper.start, upper.end)) and name[1] == upper.end:
        yield page.label_of((name[0], cell.end)), (name[0], cell.end)


def _first_of_address(page: _Page, address: Entity) -> Span | None:
    """Find the name that the model takes for the first line of an address."""
    first, _, rest = address.text.partition("\n")
    name = page.words_in(address.start, address.start + len(first)) if rest else None
    return name if name and is_capitalized(first) else None


def _letterhead(page: _Page, entities: Sequence[Entity]) -> Span | None:
    """Find the supplier's logo at the top: in the first line, beside or above an address, or as in the web address."""
    addresses = {entity.start for entity in entities if entity.label == "ADDRESS"}
    hosts = [letters_of(entity.text) for entity in entities if entity.label in ("URL", "EMAIL")]
    for line in range(min(page.lines.count, LINES_OF_LETTERHEAD)):
        cells = [cell for cell in page.cells(line) if cell.start < page.first_amount]
        following = [*(cell.start for cell in cells[1:]), page.lines.start(line + 1)]
        for cell, behind in zip(cells, following, strict=True) if cells else ():
            text = page.text(cell)
            is_first = line == 0 and len(cells) == 1 and bool(addresses)
            is_placed = is_first or behind in addresses or any(letters_of(text) in host for host in hosts)
            if is_placed and is_letterhead(text) and page.words_in(cell.start, cell.end) == (cell.start, cell.end):
                return cell.start, cell.end
    return None


def _whole_name(page: _Page, entity: Entity) -> Span | None:
    """Find the firm's name of which the model marks the end alone, from the beginning of its cell."""
    cell = page.lines.row(page.lines.at(entity.start)).at(entity.start)
    if cell is not None and cell.start == entity.start and _BEFORE_NAME.search(entity.text):
        whole = cell.start, cell.end
        return whole if is_capitalized(page.lines.between(*whole)) and not page.ends_within(whole) else None
    if cell is None or cell.start == entity.start or not has_legal_form(entity.text):
        return None
    before = page.lines.between(cell.start, entity.start).strip()
    name = page.words_in(cell.start, cell.end)
    is_whole = name is not None and name[0] == cell.start and name[1] >= entity.end
    return name if is_whole and ":" not in before and is_capitalized(f"{before} X") else None
