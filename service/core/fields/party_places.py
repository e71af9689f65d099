"""Places of party names: what the places of a name on a bill show of its firm.

The rules, for all mentions of a firm together:
- Letterhead: the first name of the document.
- Sender: a name on one line with its address, as above an address window.
- Block: a name above its address.
- Numbered, reachable: a tax number; or an account, register or phone number, or an e-mail address, stands on the name's
  line behind it, or in its column at most `LINES_TO_NUMBER` lines below, in its block: before another name, and before
  a date, an amount or a number of the bill in its column. Behind the amounts, where a foot may have columns, any
  column counts. A number called the receiver's shows nothing.
- Foot: a sender or a reachable firm behind the bill's first amount.
- Host: the name is contained in the document's web address.
- Addressee: a form of address follows the name (`御中`, `귀중`).
- Window: the letterhead stands above an address and has no number, while another firm is a sender, or reachable; or it
  has a tax number alone, while a reachable firm stands to its right at its height: it is the receiver's address, and
  no letterhead.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from enum import Enum, auto

from service.core.fields.cells import nearest
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Mention, same_value
from service.core.fields.name_forms import without_form
from service.core.fields.roles import AMOUNTS, DATES, RECEIVER, SUPPLIER
from service.core.fields.vocabulary.phrases import any_of, folded, letters_of


class Place(Enum):
    """A place that tells a firm's role; the rules are above."""

    LETTERHEAD = auto()
    SENDER = auto()
    BLOCK = auto()
    NUMBERED = auto()
    REACHABLE = auto()
    FOOT = auto()
    HOST = auto()
    ADDRESSEE = auto()
    WINDOW = auto()


WEIGHTS: Mapping[Place, Mapping[str, float]] = {
    Place.LETTERHEAD: {SUPPLIER: 0.1},
    Place.SENDER: {SUPPLIER: 0.2},
    Place.BLOCK: {RECEIVER: 0.3},
    Place.NUMBERED: {SUPPLIER: 0.2},
    Place.REACHABLE: {SUPPLIER: 0.15},
    Place.FOOT: {SUPPLIER: 0.25},
    Place.HOST: {SUPPLIER: 0.15},
    Place.ADDRESSEE: {RECEIVER: 0.6},
    Place.WINDOW: {RECEIVER: 0.35, SUPPLIER: -0.3},
}
"""Weight of each place for a role, beside a name's score."""
LINES_TO_ADDRESS, LINES_TO_NUMBER = 2, 6
NEXT_MENTIONS = 8
"""Mentions after a name that are searched for an address and for numbers."""
NAMES_ABOVE_ADDRESS = 3
"""Mentions after a name among which its address is searched: a contact and a country may stand between them."""
SHORTEST_IN_HOST = 5
"""Least letters of a name that is searched in web addresses: shorter ones match by chance."""
SAME_HEIGHT = 60.0
"""Most points between the tops of two blocks that stand side by side."""
KEY_CHARACTERS = 48
"""Characters before a tax number that are searched for words for the receiver."""

ENDS_BLOCK = DATES | AMOUNTS | {"INVOICE_ID", "PURCHASE_ORDER", "LINE_ITEM"}
"""Labels of what no party's block holds."""
_BETWEEN = re.compile(r"[\s,;:·•●|–—-]*")
_ADDRESSEE = re.compile(r"\s?(?:御中|様|殿|귀중|귀하|台照)\s?")
_REGISTER = re.compile(
    r"\b(?:HR[AB]|Handelsregister\w*|Amtsgericht|Geschäftsführ\w*|SIRET|SIREN|RCS|capital de|Company (?:No|Number|Reg)|"
    r"Registered in|Registro Mercantil|R\.?E\.?A\.?|KvK|CVR|Org\.? ?nr|KRS|ОГРН)\b|登録番号"
)
_RECEIVERS = re.compile(rf"{any_of('buyer', ends=False)}|{any_of('your')}")


def places_of(
    mentions: Sequence[Mention], lines: TextLines, labels: Set[str], called: Collection[str] = ()
) -> dict[str, frozenset[Place]]:
    """Find the places of firms, by `firm`.

    Args:
        labels: labels of names that may be a party.
        called: firms that a keyword names: they are no window.
    """
    hosts = tuple(letters_of(mention.text) for mention in mentions if mention.label == "URL")
    first_amount = next((each.start for each in mentions if each.label in AMOUNTS), sys.maxsize)
    found: dict[str, set[Place]] = defaultdict(set)
    names = [mention for mention in mentions if mention.label in labels]
    beside = {firm(name) for name in names if is_right_of(name, names[0])}
    for place, name in enumerate(mentions):
        if name.label in labels:
            head = {Place.LETTERHEAD} if not found else set()
            after = mentions[place + 1 : place + 1 + NEXT_MENTIONS]
            own = _own_places(name, after, lines, labels, is_behind_amounts=name.start > first_amount)
            found[firm(name)] |= head | {*own} | ({Place.HOST} if _is_in(name, hosts) else set())
    return {key: frozenset(_settled(key, places, found, called, beside)) for key, places in found.items()}


def _settled(
    key: str, places: set[Place], found: Mapping[str, set[Place]], called: Collection[str], beside: Collection[str]
) -> set[Place]:
    """Decide whether a letterhead is an address window; a letterhead and a registered firm have no receiver's block.

    Args:
        beside: firms to the right of the letterhead.
    """
    if Place.LETTERHEAD not in places:
        return places
    others = {each: other for each, other in found.items() if not each.startswith(key) and not key.startswith(each)}
    is_sent = any({Place.SENDER, Place.REACHABLE, Place.FOOT} & other for other in others.values())
    rivals = (other for each, other in others.items() if each in beside and each not in called)
    if Place.NUMBERED in places:
        is_sent = any(Place.REACHABLE in other for other in rivals)
    has_own = {Place.REACHABLE, Place.SENDER} & places
    if Place.BLOCK in places and not has_own and is_sent and key not in called:
        return places - {Place.LETTERHEAD} | {Place.WINDOW}
    return places - {Place.BLOCK}


def _own_places(
    name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str], *, is_behind_amounts: bool
) -> Iterator[Place]:
    """Yield the places of one mention."""
    address = next(
        (each for each in after[:NAMES_ABOVE_ADDRESS] if each.label == "ADDRESS" and each.end > name.end), None
    )
    apart = lines.at(max(address.start, name.end + 1)) - lines.at(name.end - 1) if address is not None else -1
    is_sender = address is not None and apart == 0 and _is_sender(name, address, lines)
    is_numbered, is_reachable = _numbers(name, after, lines, labels, is_behind_amounts=is_behind_amounts)
    if is_sender:
        yield Place.SENDER
    if is_numbered:
        yield Place.NUMBERED
    if is_reachable:
        yield Place.REACHABLE
    if is_behind_amounts and (is_sender or (is_reachable and name.label != "PERSON")):
        yield Place.FOOT
    elif 0 < apart <= (1 if name.label == "PERSON" else LINES_TO_ADDRESS) and not is_reachable:
        yield Place.BLOCK
    if _ADDRESSEE.search(lines.between(max(name.start, name.end - 3), name.end + 4)):
        yield Place.ADDRESSEE


def _is_sender(name: Mention, address: Mention, lines: TextLines) -> bool:
    return _BETWEEN.fullmatch(lines.between(name.end, address.start)) is not None


def _numbers(
    name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str], *, is_behind_amounts: bool
) -> tuple[bool, bool]:
    """Tell whether a tax number, and whether another number by which a firm is reached, stands behind a name."""
    below = lines.start(lines.at(name.end - 1) + LINES_TO_NUMBER + 1)
    others = (
        mention
        for mention in after
        if (mention.label in labels - {"PERSON"} and firm(mention) != firm(name))
        or (mention.label in ENDS_BLOCK and share_column(lines, name.start, mention.start))
    )
    end = min(below, next((mention.start for mention in others), below))
    last = lines.end(lines.at(name.end - 1))
    own = [
        mention
        for mention in after
        if mention.start < min(last, end)
        or (mention.start < end and (is_behind_amounts or share_column(lines, name.start, mention.start)))
    ]
    taxed = any(each.label == "TAX_ID" and not _is_receivers(each, lines) for each in own)
    reached = any(each.label in ("IBAN", "PHONE", "EMAIL") for each in own)
    return taxed, reached or _REGISTER.search(lines.between(name.end, end)) is not None


def share_column(lines: TextLines, one: int, other: int) -> bool:
    """True if the cells at two offsets stand in one column, as those of lines without cells do."""
    row, below = lines.row(lines.at(one)), lines.row(lines.at(other))
    cell, found = row.at(one), below.at(other)
    if cell is None or found is None:
        return True
    if row is below:
        return cell is found
    is_near = row.unit is not below.unit or cell.overlap(found) >= -row.unit.value
    return is_near and nearest(cell, row, below) is found and nearest(found, below, row) is cell


def _is_receivers(number: Mention, lines: TextLines) -> bool:
    return _RECEIVERS.search(folded(lines.before(number.start, KEY_CHARACTERS))) is not None


def is_right_of(name: Mention, other: Mention) -> bool:
    """True if a name stands to the right of another one at its height; False where a place is not known."""
    if not name.boxes or not other.boxes or name.page != other.page:
        return False
    return name.boxes[0][0] > other.boxes[-1][2] and abs(name.boxes[0][1] - other.boxes[0][1]) <= SAME_HEIGHT


def firm(name: Mention) -> str:
    """Make a key that mentions of one firm share, with its legal form or without."""
    return firm_letters(name.text) or same_value(name)


def firm_letters(name: str) -> str:
    """Return the letters and digits of a firm's name without its legal form."""
    return letters_of(without_form(name))


def _is_in(name: Mention, hosts: Collection[str]) -> bool:
    core = firm(name)
    return len(core) >= SHORTEST_IN_HOST and any(core in host for host in hosts)
