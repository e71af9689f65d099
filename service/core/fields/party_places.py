"""What the place of a name says of its role on a bill: sender's line, address block, registration, mark of address.

The rules:
- A name that shares its line with its address is the sender's line above an address window: the seller.
- A name above an address is one of the two blocks that a letter has; the one that is not the letter's head is the
  buyer's.
- A tax number, an account or a register's number soon below a name, before another name: the seller's.
- A name that the document's web address is made of: the seller's, for the buyer's has no place there.
- A mark of address behind a name (`御中`, `귀중`): the buyer's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from service.core.fields.lines import TextLines
from service.core.fields.mention import Mention, same_value

SUPPLIER, RECEIVER = "SUPPLIER_NAME", "RECEIVER_NAME"
PLACE, ADDRESSED = 0.15, 0.35
"""What a sign adds to a name's weight for a role; a mark of address says as much as a word before the name."""
BLOCK = 0.25
"""What standing above an address adds: with the name's own score enough to be chosen where nothing else is."""
LINES_TO_ADDRESS, LINES_TO_NUMBER = 2, 6
NEXT_MENTIONS = 8
"""Mentions after a name that are looked at."""
NAMES_ABOVE_ADDRESS = 3
"""A firm's contact, and a country in its name, may stand between its name and its address."""
SHORTEST_IN_HOST = 5
"""Letters of a name that must stand in a web address: shorter ones stand in others by chance."""

_BETWEEN = re.compile(r"[\s,;·•|–—-]*")
_ADDRESSED = re.compile(r"\s?(?:御中|様|殿|귀중|귀하|台照)")
_REGISTER = re.compile(
    r"\b(?:HR[AB]|Handelsregister\w*|Amtsgericht|Geschäftsführ\w*|SIRET|SIREN|RCS|capital de|Company (?:No|Number|Reg)|"
    r"Registered in|Registro Mercantil|R\.?E\.?A\.?|KvK|CVR|Org\.? ?nr|KRS|ОГРН)\b|登録番号"
)
_FORMS = re.compile(
    r"\b(?:gmbh|mbh|ag|kg|ohg|ug|ltd|limited|llc|inc|corp|plc|sarl|sas|sa|spa|srl|bv|nv|ab|as|oy|co)\b\.?"
)


def place_signs(mentions: Sequence[Mention], lines: TextLines, labels: Set[str]) -> Mapping[int, Mapping[str, float]]:
    """Mention's number → role → what its place adds to its weight; `labels`: those of names that may be a party."""
    hosts = tuple(_letters(each.text) for each in mentions if each.label == "URL")
    names = [(place, each) for place, each in enumerate(mentions) if each.label in labels]
    head = firm(names[0][1]) if names else ""
    found: dict[int, dict[str, float]] = {}
    for place, name in names:
        after = mentions[place + 1 : place + 1 + NEXT_MENTIONS]
        weights = found.setdefault(name.entity, {})
        for role, weight in _signs(name, after, lines, labels, is_head=firm(name) == head):
            weights[role] = weights.get(role, 0.0) + weight
        if _is_in(name, hosts):
            weights[SUPPLIER] = weights.get(SUPPLIER, 0.0) + PLACE
    return found


def firm(name: Mention) -> str:
    """Equal for two mentions of one firm, with its legal form or without."""
    return _letters(_FORMS.sub("", name.text.casefold())) or same_value(name)


def _signs(
    name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str], *, is_head: bool
) -> Iterator[tuple[str, float]]:
    address = next((each for each in after[:NAMES_ABOVE_ADDRESS] if each.label == "ADDRESS"), None)
    if address is not None:
        apart = lines.at(address.start) - lines.at(name.end - 1)
        if apart == 0 and _BETWEEN.fullmatch(lines.between(name.end, address.start)):
            yield SUPPLIER, PLACE
        elif 0 < apart <= (1 if name.label == "PERSON" else LINES_TO_ADDRESS) and not is_head:
            yield RECEIVER, BLOCK
    if _is_registered(name, after, lines, labels):
        yield SUPPLIER, PLACE
    if _ADDRESSED.match(lines.between(name.end, name.end + 4)):
        yield RECEIVER, ADDRESSED


def _is_registered(name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str]) -> bool:
    """True when a number of a firm, or a word for its register, stands soon below a name and before another name."""
    last = lines.at(name.end - 1) + LINES_TO_NUMBER
    others = (each for each in after if each.label in labels - {"PERSON"} and firm(each) != firm(name))
    end = min(lines.start(last + 1), next((each.start for each in others), lines.start(last + 1)))
    numbered = any(each.label in ("TAX_ID", "IBAN") and each.start < end for each in after)
    return numbered or _REGISTER.search(lines.between(name.end, end)) is not None


def _is_in(name: Mention, hosts: Collection[str]) -> bool:
    core = firm(name)
    return len(core) >= SHORTEST_IN_HOST and any(core in host for host in hosts)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
