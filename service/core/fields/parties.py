"""Supplier and receiver of a bill: chosen together by labels, by the words before a name, and by its position.

The rules:
- A name's weight for a role is its best score under the role's label, or a share of its score under another one:
  `NO_ROLE` for organizations and persons, `OTHER_PARTY` for the other party's label (models confuse the two firms).
- A keyword such as "bill to" or "Verkäufer" on a name's line, or in its column on a line above, adds `KEYWORD`.
- A legal form adds `LEGAL_FORM` to a likely name; a bank's name without a keyword counts `BANK` of its weight.
- Names found by their places (`party_names`) count like the model's; a part of such a name is none.
- Supplier and receiver are chosen as the heaviest pair and are never the same firm. A name under another label than the
  role's needs `LEAST_WEIGHT`.

The rules for positions:
- The first name of the document (letterhead): the supplier.
- A name on one line with its address (the sender's line above an address window): the supplier.
- A name above an address that is not the letterhead: the receiver's address block.
- A name with a tax, account, register or phone number, or an e-mail address, within `LINES_TO_NUMBER` lines below,
  before another name: the supplier.
- A name contained in the document's web address: the supplier.
- A name followed by a form of address (`御中`, `귀중`): the receiver.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import product

from service.core.fields.lines import TextLines, cells_above
from service.core.fields.mentions import Choice, Mention, Reason, choice_of, choose, ranked, same_value
from service.core.fields.roles import NAMES, RECEIVER, ROLES, SUPPLIER, TAX_ID, RoleGroup
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

POSITION, ADDRESSEE = 0.15, 0.35
"""Weights added for a position that marks the supplier, and for a form of address behind the receiver's name."""
ADDRESS_BLOCK = 0.25
"""Weight added for the receiver to a name above an address: with the name's score it passes `LEAST_WEIGHT` alone."""
LINES_TO_ADDRESS, LINES_TO_NUMBER = 2, 6
NEXT_MENTIONS = 8
"""Mentions after a name that are searched for an address and for numbers."""
NAMES_ABOVE_ADDRESS = 3
"""Mentions after a name among which its address is searched: a contact and a country may stand between them."""
SHORTEST_IN_HOST = 5
"""Least letters of a name that is searched in web addresses: shorter ones match by chance."""

_BETWEEN = re.compile(r"[\s,;·•|–—-]*")
_ADDRESSEE = re.compile(r"\s?(?:御中|様|殿|귀중|귀하|台照)")
_REGISTER = re.compile(
    r"\b(?:HR[AB]|Handelsregister\w*|Amtsgericht|Geschäftsführ\w*|SIRET|SIREN|RCS|capital de|Company (?:No|Number|Reg)|"
    r"Registered in|Registro Mercantil|R\.?E\.?A\.?|KvK|CVR|Org\.? ?nr|KRS|ОГРН)\b|登録番号"
)
_FORMS = re.compile(
    r"(?<!\w)(?:gmbh|mbh|ag|kg(?:aa)?|ohg|ug|gbr|eg|e\.? ?[kv]|se|ltd|limited|ll[cp]|inc|corp|plc|pt[ey]|pvt|co|"
    r"s\.? ?a\.? ?r\.? ?l|sasu?|s\.?p\.?a|s\.?[rn]\.?[lc]|s\.? ?[al]\.?(?: ?u)?|lt?da|b\.?v|n\.?v|ab|a\.?/?s|aps|oyj?|"
    r"sp\. ?z ?o\. ?o|spol\. s ?r\. ?o|s\. ?r\. ?o|kft|(?:sdn\.? ?)?bhd|s/b|a\.ş|şti|ооо|[зпо]?ао|ип)(?!\w)\.?|"
    r"株式会社|有限公司|有限会社|주식회사|\(株\)|\(주\)"
)
"""Legal forms of firms, in a lower-case name."""
_BANKS = re.compile(
    r"bank|sparkasse|banco|banca|banque|crédit |caisse|caixa|cassa|pankki|sparekasse|"
    r"банк|銀行|银行|은행|信用金庫|بنك|مصرف|बैंक"
)
"""Words in names of banks, which bills name beside the account to pay to."""


def position_weights(
    mentions: Sequence[Mention], lines: TextLines, labels: Set[str]
) -> Mapping[int, Mapping[str, float]]:
    """Weigh names by their positions: mention number → role → weight. `labels`: labels of names that may be a party."""
    hosts = tuple(_letters(mention.text) for mention in mentions if mention.label == "URL")
    names = [(place, each) for place, each in enumerate(mentions) if each.label in labels]
    head = firm(names[0][1]) if names else ""
    found: dict[int, dict[str, float]] = {}
    for place, name in names:
        after = mentions[place + 1 : place + 1 + NEXT_MENTIONS]
        weights = found.setdefault(name.entity, {})
        for role, weight in _position_weights(name, after, lines, labels, is_head=firm(name) == head):
            weights[role] = weights.get(role, 0.0) + weight
        if _is_in(name, hosts):
            weights[SUPPLIER] = weights.get(SUPPLIER, 0.0) + POSITION
    return found


def firm(name: Mention) -> str:
    """Make a key that mentions of one firm share, with its legal form or without."""
    return _letters(_FORMS.sub("", name.text.casefold())) or same_value(name)


def starts_with_form(text: str) -> bool:
    """True if a text begins with a legal form, as behind the comma of "Acme, Inc."."""
    return _FORMS.match(text.casefold()) is not None


def has_legal_form(name: str) -> bool:
    """True if a name has the legal form of a firm."""
    return _FORMS.search(name.casefold()) is not None


def _position_weights(
    name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str], *, is_head: bool
) -> Iterator[tuple[str, float]]:
    address = next((mention for mention in after[:NAMES_ABOVE_ADDRESS] if mention.label == "ADDRESS"), None)
    if address is not None:
        apart = lines.at(address.start) - lines.at(name.end - 1)
        if apart == 0 and _BETWEEN.fullmatch(lines.between(name.end, address.start)):
            yield SUPPLIER, POSITION
        elif 0 < apart <= (1 if name.label == "PERSON" else LINES_TO_ADDRESS) and not is_head:
            yield RECEIVER, ADDRESS_BLOCK
    if _is_registered(name, after, lines, labels):
        yield SUPPLIER, POSITION
    if _ADDRESSEE.match(lines.between(name.end, name.end + 4)):
        yield RECEIVER, ADDRESSEE


def _is_registered(name: Mention, after: Sequence[Mention], lines: TextLines, labels: Set[str]) -> bool:
    """True if a tax, account or register number stands `LINES_TO_NUMBER` lines or less below a name, before another."""
    last = lines.at(name.end - 1) + LINES_TO_NUMBER
    others = (mention for mention in after if mention.label in labels - {"PERSON"} and firm(mention) != firm(name))
    end = min(lines.start(last + 1), next((mention.start for mention in others), lines.start(last + 1)))
    numbered = any(mention.label in ("TAX_ID", "IBAN", "PHONE", "EMAIL") and mention.start < end for mention in after)
    return numbered or _REGISTER.search(lines.between(name.end, end)) is not None


def _is_in(name: Mention, hosts: Collection[str]) -> bool:
    core = firm(name)
    return len(core) >= SHORTEST_IN_HOST and any(core in host for host in hosts)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


NO_ROLE = {"ORGANIZATION": 0.35, "PERSON": 0.1}
"""Factor of the score of a name whose label is of neither party."""
OTHER_PARTY = 0.25
"""Factor of the score of a name under the other party's label."""
LEGAL_FORM = 0.1
"""Weight added for a legal form: the firm is the party, not its brand, branch or contact."""
BANK = 0.3
"""Factor of the weight of a bank's name without a keyword before it."""
KEYWORD, FIRST_NAME = 0.35, 0.1
"""Weights added for a keyword before a name, and for the supplier to the first name of the document."""
A_LINE_AWAY = 0.01
"""Weight that a keyword loses with each line between it and the name: a contact stands below the firm."""
LEAST_WEIGHT = 0.3
"""Least weight at which a name under another label than the role's is chosen."""
LINES_ABOVE = 4
HEADING_CHARACTERS = 48
"""Most characters of a line above a name that is searched for keywords; a longer one is prose."""
MOST_NAMES = 12
"""Most names of a role that are tried in pairs."""

_PARTY_WORDS = {word: role.label for role in ROLES if role.group is RoleGroup.PARTY for word in role.words}
_PARTIES = PhraseTable(*_PARTY_WORDS)
_HEADING_TO, _HEADING_BY = (re.compile(rf"\s*(?:{any_of(kind)})\s*:?\s*") for kind in ("to", "by"))
"""Keywords for the receiver, and for the supplier, that count only if they are all of a line ("To:", "Von:")."""
_NUMBER_OF = re.compile(rf"[\s.:/-]{{0,2}}(?:(?:{any_of('number')})|vat|tax|ust)\b")
"""Words that make the keyword before them the key of a number ("Customer no.")."""


def choose_parties(mentions: Sequence[Mention], lines: TextLines) -> dict[str, Choice]:
    """Choose supplier and receiver, by label; a role without a candidate is left out."""
    named = _without_parts([mention for mention in mentions if mention.label in NAMES])
    first = min((mention.start for mention in named if mention.label != "PERSON"), default=-1)
    words = {mention.entity: keyword_before(lines, mention) for mention in named}
    positions = position_weights(mentions, lines, NAMES)

    def weigh(mention: Mention, role: str) -> float:
        share = 1.0 if mention.label == role else NO_ROLE.get(mention.label, OTHER_PARTY)
        keyword_role, apart = words[mention.entity]
        word = KEYWORD - apart * A_LINE_AWAY if keyword_role == role else 0.0
        head = FIRST_NAME if role == SUPPLIER and mention.start == first else 0.0
        place = positions[mention.entity].get(role, 0.0)
        is_likely = mention.label in (SUPPLIER, RECEIVER) or word or place
        form = LEGAL_FORM if is_likely and has_legal_form(mention.text) else 0.0
        weight = share * mention.score + word + head + form + place
        return BANK * weight if not word and _BANKS.search(mention.text.casefold()) else weight

    likely = {role: ranked(named, partial(weigh, role=role))[:MOST_NAMES] for role in (SUPPLIER, RECEIVER)}
    pair = _best_pair(*likely.values())
    return {role: _choice(role, mention, likely[role]) for role, mention in zip(likely, pair, strict=True) if mention}


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
    """Find the role that the nearest keyword before a mention names, and the lines between the two.

    A line above with several cells names the role of what stands in the same column.
    """
    before = lines.before(mention.start, HEADING_CHARACTERS)
    for apart, cell in enumerate((before, *cells_above(lines, mention.start, LINES_ABOVE))):
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


Weighted = list[tuple[Mention, float]]


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
        if supplier is None or receiver is None or firm(supplier) != firm(receiver)
    ]
    _, supplier, receiver = max(pairs, key=lambda pair: pair[0])
    return supplier, receiver


def _choice(role: str, chosen: Mention, likely: Weighted) -> Choice:
    """Make the choice of a name; its reason is the label if it is the model's best name for the role."""
    of_model = [each for each, _ in likely if each.label == role and not each.by_keyword]
    labelled = [mention for mention, _ in ranked(of_model, _score)]
    by_label = bool(labelled) and same_value(labelled[0]) == same_value(chosen)
    return choice_of(chosen, likely, Reason.LABEL if by_label else Reason.CONTEXT)


def _score(mention: Mention) -> float:
    return mention.score


VAT_NUMBER = 0.3
"""Weight added to a VAT number: a tax office's number names no firm outside its district."""
OF_RECEIVER = 0.2
"""Factor of the weight of the receiver's tax number."""
BLOCK_CHARACTERS = 120
"""Characters behind the receiver's name within which its address and its tax number stand."""
_OF_BUYER = re.compile(any_of("buyer", ends=False))
_VAT = re.compile(r"[A-Z]{2,3}[A-Z0-9]?[0-9]{6,12}(?:[A-Z0-9]{1,3})?")


def choose_tax_id(mentions: Sequence[Mention], lines: TextLines, receiver: Choice | None = None) -> Choice | None:
    """Choose the supplier's tax number: a VAT number rather than another one, and not the receiver's.

    The receiver's number is called so, or stands right below the receiver's name.
    """
    block = range(receiver.best.end, receiver.best.end + BLOCK_CHARACTERS) if receiver else range(0)

    def weigh(number: Mention) -> float:
        is_vat = _VAT.fullmatch("".join(filter(str.isalnum, number.text))) is not None
        weight = number.score + (VAT_NUMBER if is_vat else 0.0)
        is_receivers = _OF_BUYER.search(folded(lines.before(number.start, HEADING_CHARACTERS)))
        return OF_RECEIVER * weight if is_receivers or number.start in block else weight

    return choose(ranked((mention for mention in mentions if mention.label == TAX_ID), weigh))
