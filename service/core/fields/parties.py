"""Supplier and receiver of a bill: chosen together by labels, by the words before a name, and by its position.

The rules:
- A name's weight for a role is its best score under the role's label, or a share of its score under another one:
  `NO_ROLE` for organizations and persons, `OTHER_PARTY` for the other party's label (models confuse the two firms).
- A keyword such as "bill to" or "Verkäufer" on a name's line, or in its column on a line above, adds `KEYWORD`.
- A firm that a keyword calls the receiver, on its line or the one above, is the supplier nowhere.
- A legal form adds `LEGAL_FORM` to a likely name; a bank's name without a keyword counts `BANK` of its weight.
- Names found by their places (`party_names`) count like the model's; a part of such a name is none.
- The places of all mentions of a firm add their weights (`party_places`).
- Supplier and receiver are chosen as the heaviest pair and are never the same firm. A name under another label than the
  role's needs `LEAST_WEIGHT`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

from service.core.fields.lines import TextLines, cells_above
from service.core.fields.mentions import Choice, Mention, Reason, Weighted, choice_of, ranked, same_value
from service.core.fields.name_forms import has_legal_form, is_no_party, without_form
from service.core.fields.party_places import WEIGHTS, Place, firm, places_of
from service.core.fields.roles import NAMES, RECEIVER, ROLES, SUPPLIER, RoleGroup
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

_BANKS = re.compile(
    r"bank|sparkasse|banco|banca|banque|crédit |caisse|caixa|cassa|pankki|sparekasse|\bfnb\b|\babsa\b|capitec|"
    r"τρ[άα]πεζα|банк|銀行|银行|은행|信用金庫|بنك|مصرف|बैंक"
)
"""Words in names of banks, which bills name beside the account to pay to."""

NO_ROLE = {"ORGANIZATION": 0.35, "PERSON": 0.1}
"""Factor of the score of a name whose label is of neither party."""
OTHER_PARTY = 0.25
"""Factor of the score of a name under the other party's label."""
LEGAL_FORM = 0.1
"""Weight added for a legal form: the firm is the party, not its brand, branch or contact."""
BANK_CHARACTERS = 16
"""Characters before a name that are searched for a word for a bank."""
BANK = 0.3
"""Factor of the weight of a bank's name without a keyword before it."""
KEYWORD = 0.35
"""Weight added for a keyword before a name."""
A_LINE_AWAY = 0.01
"""Weight that a keyword loses with each line between it and the name: a contact stands below the firm."""
LEAST_WEIGHT = 0.3
"""Least weight at which a name under another label than the role's is chosen."""
LINES_ABOVE = 4
HEADING_CHARACTERS = 48
"""Most characters of a line above a name that is searched for keywords; a longer one is prose."""
SHORTEST_PART = 5
"""Fewest letters of a name that a longer one of the same firm begins with."""
_ROLES = (SUPPLIER, RECEIVER)
MOST_NAMES = 12
"""Most names of a role that are tried in pairs."""

_OWNER = re.compile(
    r"(?<!\w)(?:inh\.|inhaber(?:in)?|owner:|prop\.|titular:|gérante?:|titolare:|właściciel:|mgr farm\.)"
)
"""Words before the name of a shop's owner."""
_PARTY_WORDS = {word: role.label for role in ROLES if role.group is RoleGroup.PARTY for word in role.words}
_PARTIES = PhraseTable(*_PARTY_WORDS)
_HEADING_TO, _HEADING_BY = (re.compile(rf"\s*(?:{any_of(kind)})\s*:?\s*") for kind in ("to", "by"))
"""Keywords for the receiver, and for the supplier, that count only if they are all of a line ("To:", "Von:")."""
_NUMBER_OF = re.compile(rf"[\s.:/-]{{0,2}}(?:(?:{any_of('number')})|vat|tax|ust)\b")
"""Words that make the keyword before them the key of a number ("Customer no.")."""


def choose_parties(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """Choose supplier and receiver, by label; a role without a candidate is left out."""
    named = _without_parts([each for each in mentions if each.label in NAMES and not is_no_party(each.text)])
    words = {mention.entity: keyword_before(lines, mention) for mention in named}
    places = places_of(mentions, lines, NAMES, {firm(mention) for mention in named if words[mention.entity][0]})
    receivers = _called_receivers(named, words)

    def weigh(mention: Mention, role: str) -> float:
        if role == SUPPLIER and firm(mention) in receivers:
            return 0.0
        share = 1.0 if mention.label == role else NO_ROLE.get(mention.label, OTHER_PARTY)
        keyword_role, apart = words[mention.entity]
        word = KEYWORD - apart * A_LINE_AWAY if keyword_role == role else 0.0
        place = sum(WEIGHTS[place].get(role, 0.0) for place in places[firm(mention)])
        is_likely = mention.label in (SUPPLIER, RECEIVER) or word or place > WEIGHTS[Place.LETTERHEAD][SUPPLIER]
        is_firm = has_legal_form(mention.text) and not _is_owner(mention, lines)
        form = LEGAL_FORM if is_likely and is_firm else 0.0
        weight = share * mention.score + word + form + place
        return BANK * weight if not word and _is_bank(mention, lines) else weight

    likely = {role: ranked(named, partial(weigh, role=role))[:MOST_NAMES] for role in _ROLES}
    pair = _best_pair(*likely.values())
    return {
        role: _choice(role, _in_full(mention, likely[role]), likely[role])
        for role, mention in zip(likely, pair, strict=True)
        if mention
    }


def _called_receivers(named: Sequence[Mention], words: Mapping[int, tuple[str | None, int]]) -> set[str]:
    """Find the firms that a keyword beside or directly above a name calls the receiver, and none the supplier."""
    called = {role: {firm(each) for each in named if words[each.entity] in ((role, 0), (role, 1))} for role in _ROLES}
    return called[RECEIVER] - called[SUPPLIER]


def _is_owner(name: Mention, lines: TextLines) -> bool:
    """True if a name is called the owner's, as below the name of a shop ("Inh. Petra Lindner e.K.")."""
    return _OWNER.search(f"{lines.before(name.start, BANK_CHARACTERS)}{name.text}".casefold()) is not None


def _is_bank(name: Mention, lines: TextLines) -> bool:
    """True if a name, or the cell before it, has a word for a bank ("Bank: ABN AMRO")."""
    cell = lines.before(name.start, BANK_CHARACTERS).rpartition("\t")[2]
    return _BANKS.search(f"{cell}{name.text}".casefold()) is not None


def _without_parts(names: Sequence[Mention]) -> list[Mention]:
    """Leave out names that are parts of a longer name which was found by its place."""
    wide = [mention for mention in names if mention.by_keyword]
    return [
        mention
        for mention in names
        if not any(
            other.start <= mention.start and mention.end <= other.end and len(mention.text) < len(other.text)
            for other in wide
        )
    ]


def keyword_before(lines: TextLines, mention: Mention) -> tuple[str | None, int]:
    """Find the role that the nearest keyword before a mention names, and the lines between the two."""
    return keyword_at(lines, mention.start)


def keyword_at(lines: TextLines, start: int) -> tuple[str | None, int]:
    """Find the role that the nearest keyword before a place names, and the lines between the two.

    A line above with several cells names the role of what stands in the same column.
    """
    before = lines.before(start, HEADING_CHARACTERS)
    for apart, cell in enumerate((before, *cells_above(lines, start, LINES_ABOVE))):
        if role := role_of(cell):
            return role, apart
    return None, 0


def role_of(cell: str) -> str | None:
    """Find the role that a heading names; None for prose and for the key of a party's number."""
    if len(cell) > HEADING_CHARACTERS:
        return None
    bare = folded(cell)
    if found := [phrase for phrase in _PARTIES.find(bare) if not _NUMBER_OF.match(bare, phrase.end)]:
        return _PARTY_WORDS[found[-1].kind]
    if _HEADING_BY.fullmatch(bare):
        return SUPPLIER
    return RECEIVER if _HEADING_TO.fullmatch(bare) else None


def _best_pair(suppliers: Weighted, receivers: Weighted) -> tuple[Mention | None, Mention | None]:
    """Choose the pair of different firms with the highest sum of weights; None for a role without a candidate."""
    nobody: tuple[Mention | None, float] = (None, 0.0)
    heavy = [
        [nobody, *(found for found in names if found[0].label == role or found[1] >= LEAST_WEIGHT)]
        for role, names in ((SUPPLIER, suppliers), (RECEIVER, receivers))
    ]
    pairs = [
        (weight + other_weight, supplier, receiver)
        for (supplier, weight), (receiver, other_weight) in product(*heavy)
        if supplier is None or receiver is None or not _is_one_firm(supplier, receiver)
    ]
    _, supplier, receiver = max(pairs, key=lambda pair: pair[0])
    return supplier, receiver


def _is_one_firm(one: Mention, other: Mention) -> bool:
    """True if two names are equal without their legal forms, or one has all words of the other at its beginning."""
    if firm(one) == firm(other):
        return True
    short, long = sorted((without_form(each.text).split() for each in (one, other)), key=len)
    return len("".join(short)) >= SHORTEST_PART and long[: len(short)] == short


def _in_full(name: Mention, likely: Weighted) -> Mention:
    """Find the name of a firm with its legal form, of which the chosen one is the beginning or all."""
    if has_legal_form(name.text):
        return name
    full = (other for other, _ in likely if has_legal_form(other.text) and _is_one_firm(name, other))
    return next((other for other in full if firm(other).startswith(firm(name))), name)


def _choice(role: str, chosen: Mention, likely: Weighted) -> Choice:
    """Make the choice of a name; its reason is the label if it is the model's best name for the role."""
    of_model = [each for each, _ in likely if each.label == role and not each.by_keyword]
    labelled = [mention for mention, _ in ranked(of_model, _score)]
    by_label = bool(labelled) and same_value(labelled[0]) == same_value(chosen)
    return choice_of(chosen, likely, Reason.LABEL if by_label else Reason.CONTEXT)


def _score(mention: Mention) -> float:
    return mention.score
