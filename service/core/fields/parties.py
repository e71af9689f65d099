"""Supplier and receiver of a bill: by labels, and where those leave it open by the words before a name and its place.

The rules:
- A name's weight for a role is its best score under that label; a share of it as an organization that nobody gave a
  role, and so little as a person that only a word before the name makes one a party.
- A name under the label of the other party may be this one too, as an organization may: which firm is which is what a
  model is least sure of.
- A word such as "bill to" or "Verkäufer" before a name, on its line or heading the lines above it, speaks for its role.
  The nearest such word counts.
- Supplier and receiver are chosen together, and are never the same firm. A name that the model gave a role needs no
  other sign for it.

The rules for places:
- The supplier stands first: a letter begins with its head.
- A name that shares its line with its address is the sender's line above an address window: the supplier.
- A name above an address is one of the two blocks that a letter has; the one that is not the letter's head is the
  receiver.
- A tax number, an account or a register's number soon below a name, before another name: the supplier.
- A name that the document's web address is made of: the supplier, for the receiver's has no place there.
- A mark of address behind a name (`御中`, `귀중`): the receiver.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import product

from service.core.fields.lines import TextLines
from service.core.fields.mentions import MOST_ALTERNATIVES, Choice, Mention, Reason, ranked, same_value
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

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


UNDECIDED = {"ORGANIZATION": 0.35, "PERSON": 0.1}
"""Weight of a score under a label that is of no role."""
OTHER_PARTY = 0.25
"""Weight of a score under the label of the other party."""
WORD, FIRST = 0.35, 0.1
"""What a word before a name, and standing first, add to its weight."""
LEAST_WEIGHT = 0.3
"""Of a name that the model gave no role, or the other one."""
LINES_ABOVE = 4
HEADING_CHARACTERS = 48
"""A longer line above is prose, whose words name nobody's role."""
MOST_NAMES = 12
"""Names of a role that are tried."""

_PARTIES = PhraseTable("seller", "buyer")
_ADDRESSED_TO = re.compile(rf"\s*(?:{any_of('to')})\s*:?\s*")
"""Words that name the receiver only where nothing else stands beside them."""


def choose_parties(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """The choices for supplier and receiver by label; a role that nothing speaks for is left out."""
    named = [mention for mention in mentions if mention.label in (SUPPLIER, RECEIVER, *UNDECIDED)]
    first = min((mention.start for mention in named if mention.label != "PERSON"), default=-1)
    words = {mention.entity: word_before(lines, mention) for mention in named}
    places = place_signs(mentions, lines, {SUPPLIER, RECEIVER, *UNDECIDED})

    def weigh(mention: Mention, role: str) -> float:
        share = 1.0 if mention.label == role else UNDECIDED.get(mention.label, OTHER_PARTY)
        word = WORD if words[mention.entity] == role else 0.0
        head = FIRST if role == SUPPLIER and mention.start == first else 0.0
        return share * mention.score + word + head + places[mention.entity].get(role, 0.0)

    likely = {role: ranked(named, partial(weigh, role=role))[:MOST_NAMES] for role in (SUPPLIER, RECEIVER)}
    pair = _best_pair(*likely.values())
    return {role: _choice(role, mention, likely[role]) for role, mention in zip(likely, pair, strict=True) if mention}


def word_before(lines: TextLines, mention: Mention) -> str | None:
    """The role that the nearest word for a party before a mention names."""
    before = lines.before(mention.start, HEADING_CHARACTERS)
    for line in (before, *lines.above(mention.start, LINES_ABOVE, HEADING_CHARACTERS)):
        bare = folded(line)
        if found := _PARTIES.find(bare):
            return SUPPLIER if found[-1].kind == "seller" else RECEIVER
        if _ADDRESSED_TO.fullmatch(bare):
            return RECEIVER
    return None


Weighted = list[tuple[Mention, float]]


def _best_pair(suppliers: Weighted, receivers: Weighted) -> tuple[Mention | None, Mention | None]:
    """The names of two firms that weigh most together; None for a role without a name of weight."""
    nobody: tuple[Mention | None, float] = (None, 0.0)
    heavy = [
        [nobody, *(found for found in names if found[0].label == role or found[1] >= LEAST_WEIGHT)]
        for role, names in ((SUPPLIER, suppliers), (RECEIVER, receivers))
    ]
    pairs = [
        (weight + other_weight, supplier, receiver)
        for (supplier, weight), (receiver, other_weight) in product(*heavy)
        if supplier is None or receiver is None or firm(supplier) != firm(receiver)
    ]
    _, supplier, receiver = max(pairs, key=lambda pair: pair[0])
    return supplier, receiver


def _choice(role: str, chosen: Mention, likely: Weighted) -> Choice:
    """The choice of a name; by its label, if the model's best one for the role was chosen."""
    labelled = [mention for mention, _ in ranked([each for each, _ in likely if each.label == role], _score)]
    by_label = bool(labelled) and same_value(labelled[0]) == same_value(chosen)
    others = [mention for mention, _ in likely if mention != chosen]
    return Choice(chosen, Reason.LABEL if by_label else Reason.CONTEXT, tuple(others[:MOST_ALTERNATIVES]))


def _score(mention: Mention) -> float:
    return mention.score
