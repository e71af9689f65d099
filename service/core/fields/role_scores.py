"""Role scores: the probability that the value chosen for a role of a bill is right.

The rules:
- What speaks for a choice is a number of 0 to 2, what speaks against it one of -1 to 0 (`lead`, `label` and `largest
  sum`, which do both, have -1 to 1). The score is the logistic function of their weighted sum (`role_weights`).
- A weight is never below 0, but those of the roles themselves: more evidence for a choice never lowers its score.
- Words before the value weigh more in one group of roles than in another, sums that disagree more for one amount than
  for another: such evidence has a weight of its own for each of them, beside the common one.
- Every number is bounded, so that no document leaves the range in which the weights were fitted.
- A choice that its chooser doubts has a score of at most `MOST_DOUBTED`; one of several tax numbers that of its party.
  Of three amounts that do not add up, one is wrong: one that no stated rate proves scores `MOST_DISAGREEING` at most.
- The weights belong to the rules that choose, not to a model. A model's own score is one of the numbers; its
  calibration is the model's (`decoding.json`). A role without a weight of its own has that of its group.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from service.core.decoding.value import ValueKind
from service.core.fields.amount_keywords import ROLE_WEIGHTS, AmountKeyword, Keywords
from service.core.fields.checks import SumCheck
from service.core.fields.key_roles import role_before
from service.core.fields.lines import TextLines
from service.core.fields.mentions import (
    CHECKSUM,
    DERIVED,
    LINES_BETWEEN,
    NO_SUM,
    WORDS,
    WRONG_CHECKSUM,
    Choice,
    Mention,
    amount,
    same_value,
)
from service.core.fields.parties import keyword_before
from service.core.fields.role_weights import WEIGHTS
from service.core.fields.roles import (
    DUE,
    NET,
    PAID,
    RECEIVER,
    RECEIVER_TAX_ID,
    REFERENCE,
    ROLES,
    SUPPLIER,
    SUPPLY_DATE,
    TAX,
    TAX_ID,
    TOTAL,
    RoleGroup,
)
from service.core.fields.tax_rows import is_rate_of
from service.core.fields.taxes import PERCENT

AT_RATE, OTHERS_AT_RATE, NOT_AT_RATE = "tax at rate", "other two at rate", "tax not at rate"
"""Names of evidence: two of net, tax and total are those of a stated rate, only the other two are, or none are."""
Evidence = Mapping[str, float]
LEAST_SHARE, MOST_SHARE = 0.02, 0.98
"""Bounds of a label's score as evidence."""
LOGIT_UNIT = 4.0
"""Logit of a label's score that is about 1 as evidence."""
MOST_LEAD, MOST_DOUBLINGS = 1.0, 2.0
"""Bounds of the weight by which a choice leads, and of the times that the number of its mentions doubled."""
MOST_DOUBTED = 0.4
"""Highest score of a choice against which its own key, another role, or in an invoice's XML a checksum speaks."""
MOST_DISAGREEING = 2 / 3
"""Highest score of one of three amounts that do not add up: two of them may be right."""
MOST_TAX = Decimal("0.35")
"""Highest tax, as a share of the net: no country has a higher rate."""

PLAIN_OPERANDS = 2
"""Amounts on the left side of a check's rule without lines between its sums."""
DIGITS = 3
"""Digits behind the point of a number of evidence."""

_ROLE = {role.label: role for role in ROLES}
_TRIPLE = (NET, TAX, TOTAL)
_OF_PAYMENT = (PAID, DUE)
_PARTIES = (SUPPLIER, RECEIVER)
_OWNERS = {TAX_ID: SUPPLIER, RECEIVER_TAX_ID: RECEIVER}
_UNTAXED = frozenset((NET, TOTAL))
_MAY_REPEAT = frozenset((PAID, DUE, SUPPLY_DATE, REFERENCE))
"""Roles whose value is often that of another role: a payment, the day of supply, a reference."""
_NO_TOTALS = frozenset((AmountKeyword.PAID, AmountKeyword.CHANGE))
_DISAGREEING = (NO_SUM, OTHERS_AT_RATE, NOT_AT_RATE)
_DAYS = ("INVOICE_DATE", "DUE_DATE")


@dataclass(frozen=True, slots=True)
class Bill:
    """What a choice is judged by: the other choices, all mentions, and the words before them.

    Attributes:
        choices: by label; those of parties have their scores before others are judged.
        mentions: entities and values of the key-value fallback, in order.
        keywords: classes of the amounts' keys.
        counts: number of mentions of each value.
        is_named: whether a heading says that the paper is a bill.
    """

    choices: Mapping[str, Choice]
    checks: Sequence[SumCheck]
    mentions: Sequence[Mention]
    lines: TextLines
    keywords: Keywords
    counts: Counter[str]
    is_named: bool


def scored(
    choices: Mapping[str, Choice],
    checks: Sequence[SumCheck],
    mentions: Sequence[Mention],
    lines: TextLines,
    keywords: Keywords,
    *,
    is_named: bool = True,
) -> dict[str, Choice]:
    """Score the choices of a bill, by label; each keeps the evidence that its score follows from.

    Args:
        is_named: whether a heading says that the paper is a bill.
    """
    counts = Counter(map(same_value, mentions))
    bill = Bill(choices, checks, mentions, lines, keywords, counts, is_named)
    parties = {label: _scored(label, choices[label], bill) for label in _PARTIES if label in choices}
    bill = replace(bill, choices={**choices, **parties})
    return {label: parties.get(label) or _scored(label, choice, bill) for label, choice in choices.items()}


def _scored(label: str, choice: Choice, bill: Bill) -> Choice:
    evidence = {name: round(number, DIGITS) for name, number in _evidence(label, choice, bill)}
    score, highest = probability(label, evidence), _highest(label, bill)
    if choice.is_doubtful or OTHERS_AT_RATE in evidence:
        highest = min(highest, MOST_DOUBTED)
    if NO_SUM in evidence and AT_RATE not in evidence:
        highest = min(highest, MOST_DISAGREEING)
    return replace(choice, evidence=evidence, score=min(score, highest))


def _highest(label: str, bill: Bill) -> float:
    """Find the highest score of a role: that of its party for one of several tax numbers."""
    party = bill.choices.get(_OWNERS.get(label, ""))
    return party.score if party is not None and len(_tax_numbers(bill)) > 1 else 1.0


def _tax_numbers(bill: Bill) -> set[str]:
    return {same_value(mention) for mention in bill.mentions if mention.label == TAX_ID}


def probability(label: str, evidence: Evidence) -> float:
    """Compute the probability that a choice for a role is right."""
    numbers = weighed(label, evidence)
    return 1 / (1 + math.exp(-sum(WEIGHTS.get(name, 0.0) * number for name, number in numbers.items())))


def weighed(label: str, evidence: Evidence) -> dict[str, float]:
    """Return the numbers that have weights: the role and its group, the evidence, and some of it by role or group."""
    group = _ROLE[label].group.name
    of_group = {f"{WORDS} {group}": evidence[WORDS]} if WORDS in evidence else {}
    of_role = {f"{name} {label}": evidence[name] for name in _DISAGREEING if name in evidence}
    return {label: 1.0, group: 1.0, **evidence, **of_group, **of_role}


def _evidence(label: str, choice: Choice, bill: Bill) -> Iterator[tuple[str, float]]:
    """Yield name and number of all that speaks for or against a choice."""
    if not bill.is_named:
        yield "no heading of a bill", -1.0
    if choice.is_doubtful:
        yield "doubted by its rule", -1.0
    yield from _of_label(label, choice, bill)
    yield from _of_rivals(label, choice, bill)
    yield from _of_value(label, choice.best)
    match _ROLE[label].group:
        case RoleGroup.SUM:
            yield from _of_sums(label, choice.best, bill)
        case RoleGroup.TAX_NUMBER:
            yield from _of_party(label, bill)
    if label in _DAYS and all(day in bill.choices for day in _DAYS):
        first, last = (bill.choices[day].best.value.text for day in _DAYS)
        if last < first:
            yield "due before bill", -1.0


def _of_label(label: str, choice: Choice, bill: Bill) -> Iterator[tuple[str, float]]:
    """What the model's label and the words before the value say."""
    best, role = choice.best, role_by_words(label, choice.best, bill)
    if role == label:
        yield WORDS, 1.0
    elif role is not None:
        yield "other words", -1.0
    if best.entity == DERIVED:
        return
    if best.label == label and not best.by_keyword:
        share = min(max(best.score, LEAST_SHARE), MOST_SHARE)
        yield "label", math.log(share / (1 - share)) / LOGIT_UNIT
    else:
        yield "no label", -1.0
        if role != label:
            yield "unnamed", -1.0


def role_by_words(label: str, mention: Mention, bill: Bill) -> str | None:
    """Find the role that the words before a mention name; `label` where they may name that one."""
    if mention.entity == DERIVED:
        return label
    match _ROLE[label].group:
        case RoleGroup.SUM:
            keyword = bill.keywords.get(mention.entity)
            return None if keyword is None else label if label in ROLE_WEIGHTS[keyword] else keyword
        case RoleGroup.NAMED:
            return role_before(bill.lines, mention)
        case RoleGroup.PARTY:
            return keyword_before(bill.lines, mention)[0]
    return None


def _of_rivals(label: str, choice: Choice, bill: Bill) -> Iterator[tuple[str, float]]:
    """How far the choice leads, how often its value stands there, and whether another value has the same words."""
    value = same_value(choice.best)
    yield "lead", min(max(choice.lead, -MOST_LEAD), MOST_LEAD)
    if bill.counts[value] > 1:
        yield "repeated", min(math.log2(bill.counts[value]), MOST_DOUBLINGS)
    others = bill.choices.keys() - {label} - _may_repeat(label)
    if any(same_value(bill.choices[other].best) == value for other in others):
        yield "value of two roles", -1.0
    is_named = _ROLE[label].group is RoleGroup.NAMED
    if is_named and any(role_before(bill.lines, other) == label for other in choice.alternatives):
        yield "another value with words", -1.0


def _may_repeat(label: str) -> frozenset[str]:
    """Find the roles whose value may be that of this one: of a bill without tax, the net is the total."""
    if label in _MAY_REPEAT:
        return frozenset(_ROLE)
    return _MAY_REPEAT | (_UNTAXED if label in _UNTAXED else frozenset())


def _of_value(label: str, best: Mention) -> Iterator[tuple[str, float]]:
    """Whether the value has its form, and its checksum holds."""
    if best.value.kind is not _ROLE[label].kind and _ROLE[label].kind is not ValueKind.TEXT:
        yield "not read", -1.0
    if best.value.valid is not None:
        yield (CHECKSUM, 1.0) if best.value.valid else (WRONG_CHECKSUM, -1.0)


def _of_party(label: str, bill: Bill) -> Iterator[tuple[str, float]]:
    """Whether a tax number may be the other party's: a checksum proves the number, not whose it is."""
    if len(_tax_numbers(bill)) > 1:
        party = bill.choices.get(_OWNERS[label])
        yield "party unsure", -1.0 if party is None else party.score - 1


def _of_sums(label: str, best: Mention, bill: Bill) -> Iterator[tuple[str, float]]:
    """Whether the amounts add up, the tax is the stated percentage of the net, and the total is the largest sum."""
    if label in _OF_PAYMENT:
        yield from _of_checks(DUE.lower(), bill)
    if label not in _TRIPLE:
        return
    yield from _of_checks(TOTAL.lower(), bill)
    stated = {role: abs(number) for role in _TRIPLE if (number := _amount(role, bill)) is not None}
    if len(stated) < len(_TRIPLE):
        yield "amounts missing", (len(stated) - len(_TRIPLE)) / 2
    yield from _of_tax(label, stated, bill)
    if label == TOTAL:
        sums = (mention for mention in bill.mentions if bill.keywords.get(mention.entity) not in _NO_TOTALS)
        largest = max((abs(number) for mention in sums if (number := amount(mention)) is not None), default=Decimal())
        yield "largest sum", 1.0 if abs(amount(best) or Decimal()) >= largest else -1.0


def _of_checks(result: str, bill: Bill) -> Iterator[tuple[str, float]]:
    """Whether the check of a sum holds; nothing where it was not checked."""
    if found := [check for check in bill.checks if check.result == result]:
        yield ("adds up", 1.0) if found[0].holds else (NO_SUM, -1.0)
        if found[0].holds and found[0].operands > PLAIN_OPERANDS:
            yield LINES_BETWEEN, -1.0


def _of_tax(label: str, stated: Mapping[str, Decimal], bill: Bill) -> Iterator[tuple[str, float]]:
    """Whether an amount and another one are those of a stated rate; of amounts that do not add up, two may be."""
    rates = _rates(bill.mentions)
    fitting = [pair for pair, base, tax in _pairs(stated) if any(is_rate_of(rate, base, tax) for rate in rates)]
    if len(fitting) == len(_TRIPLE) and stated[NET] + stated[TAX] != stated[TOTAL]:
        return  # they differ by less than a rate's rounding
    if any(label in pair for pair in fitting):
        yield AT_RATE, 1.0
    elif fitting:
        yield OTHERS_AT_RATE, -1.0
    elif _is_out_of_range(stated) or _is_at_other_rate(stated, bill):
        yield NOT_AT_RATE, -1.0


def _pairs(stated: Mapping[str, Decimal]) -> Iterator[tuple[tuple[str, str], Decimal, Decimal]]:
    """Yield each two of net, tax and total with the base and the tax that follow from them; none without tax."""
    net, tax, total = (stated.get(role, Decimal()) for role in _TRIPLE)
    following = {(NET, TAX): (net, tax), (TAX, TOTAL): (total - tax, tax), (NET, TOTAL): (net, total - net)}
    for pair, (base, part) in following.items():
        if all(stated.get(role) for role in pair) and base > 0 and part > 0:
            yield pair, base, part


def _is_out_of_range(stated: Mapping[str, Decimal]) -> bool:
    tax, total = stated.get(TAX), stated.get(TOTAL)
    net = stated.get(NET, None if tax is None or total is None else abs(total - tax))
    return net is not None and (net > stated.get(TOTAL, net) or stated.get(TAX, Decimal()) > net * MOST_TAX)


def _is_at_other_rate(stated: Mapping[str, Decimal], bill: Bill) -> bool:
    """True if the tax stands on a line with the only rate of the bill, and is not that percentage of the net."""
    tax = bill.choices.get(TAX)
    if tax is None or tax.best.entity == DERIVED or not stated.get(TAX) or not stated.get(NET):
        return False
    line, rates = bill.lines.at(tax.best.start), _rates(bill.mentions)
    return len(rates) == 1 and rates == _rates([each for each in bill.mentions if bill.lines.at(each.start) == line])


def _rates(mentions: Sequence[Mention]) -> set[Decimal]:
    return {each.value.number for each in mentions if each.label == PERCENT and each.value.number is not None}


def _amount(label: str, bill: Bill) -> Decimal | None:
    choice = bill.choices.get(label)
    return None if choice is None else amount(choice.best)
