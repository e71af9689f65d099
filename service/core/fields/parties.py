"""Who sold and who buys: by the model's labels, and where they leave it open by the words before a name and its place.

The rules:
- A name's weight for a role is its best score under that label; a share of it as an organization that nobody gave a
  role, and so little as a person that only a word before the name makes one a party.
- A name under the label of the other party may be this one too, as an organization may: which firm is which is what a
  model is least sure of.
- A word such as "bill to" or "Verkäufer" before a name, on its line or heading the lines above it, speaks for its role.
  The nearest such word counts.
- Who sold stands first: a letter begins with its head. What else places say: `party_places`.
- Supplier and receiver are chosen together, and are never the same firm. A name that the model gave a role needs no
  other sign for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import product

from service.core.fields.choice import MOST_ALTERNATIVES, Choice, Reason, ranked
from service.core.fields.lines import TextLines
from service.core.fields.mention import Mention, same_value
from service.core.fields.party_places import RECEIVER, SUPPLIER, firm, place_signs
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

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
