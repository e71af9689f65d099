"""Net, tax and total of a bill: chosen by the model's labels, by keywords, and by which amounts add up.

The rules:
- An amount's weight for a role is its score under that label, `OTHER_ROLE` of it under another role's label, or
  `ANY_MONEY` of it as plain money. A keyword for the role adds to it. A keyword for something else leaves
  `CONTRADICTED` of an amount under the role's label, and nothing of any other.
- An amount that equals the payment less the change gains `PAID_LESS_CHANGE` as total, even if only a line for rounding
  or the payment names it.
- A payment less the change that differs from a named sum by at most `CASH_ROUNDING` is the sum rounded for payment: it
  gains `ROUNDED_PAID` as total.
- Of all triples of candidates with net + tax = total the heaviest is chosen, unless it weighs less than `KEPT_WEIGHT`
  of the best candidates of each role together: then an amount is missing.
- If the amount to pay is that total plus another named sum (untaxed supplies), it is the total. The triple then belongs
  to one tax rate: its net is not the bill's, and its tax only if no other amount is called a tax.
- Of a triple the model or a keyword must have called the tax a tax: two rows of goods add up to their total as well.
- A net of zero adds up with anything and decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from types import MappingProxyType

from service.core.fields.amount_keywords import NET, PAID_TOTAL_WEIGHTS, ROLE_WEIGHTS, TAX, TOTAL, AmountKeyword
from service.core.fields.mentions import MOST_ALTERNATIVES, Choice, Mention, Reason, amount, choose, ranked

ROLES = (NET, TAX, TOTAL)
TOLERANCE = Decimal("0.02")
"""Most difference of net + tax from the total, in units of the currency: each is rounded to cents."""
MOST_LIKELY = 8
"""Most amounts of a role that are tried in triples."""
OTHER_ROLE, ANY_MONEY = 0.4, 0.25
"""Factors of a score under the label of another role, and as MONEY."""
CONTRADICTED = 0.5
"""Factor of a score whose label the keyword before the amount contradicts."""
PAID_LESS_CHANGE = 0.25
"""Weight added for a total to an amount that equals the payment less the change."""
CASH_ROUNDING = Decimal("0.05")
"""Most difference of a payment from the sum that it pays, in units of the currency."""
ROUNDED_PAID = 0.3
"""Weight added for a total to a payment that was rounded."""
SUMS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.NET_OR_TOTAL, AmountKeyword.SUBTOTAL))
"""Keywords of a sum that may be one of several on the bill."""
KEPT_WEIGHT = 0.6
"""Compared with the weight of the triple as a share of that of the best candidates of each role alone."""

Weighted = list[tuple[Mention, float]]
Keywords = Mapping[int, AmountKeyword]
"""Mention number → class of its keyword; mentions without one are left out."""
NO_KEYWORDS: Keywords = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SumCheck:
    """A check that `parts` add up to `total`, both stated in the document. `difference`: parts - total."""

    rule: str
    holds: bool
    difference: Decimal


def settle_totals(
    mentions: Sequence[Mention], keywords: Keywords = NO_KEYWORDS
) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """The choices for net, tax and total by label, and the check of their sum where all three are known."""
    paid = _paid_less_change(mentions, keywords)
    likely = {role: _likely(mentions, role, keywords, paid) for role in ROLES}
    own = {role: [found for found in likely[role] if _is_labelled(found[0], role, keywords, paid)] for role in ROLES}
    choices = {role: choice for role in ROLES if (choice := _own_choice(own[role], role))}
    settled = _heaviest_sum(likely | {TAX: own[TAX]})
    alone = sum(own[role][0][1] for role in ROLES if own[role])
    if settled is None or sum(weight for _, weight in settled) < KEPT_WEIGHT * alone:
        return choices, _check_sum(choices)
    net, tax, total = (mention for mention, _ in settled)
    found = {NET: net, TAX: tax, TOTAL: total}
    if (to_pay := _amount_to_pay(total, likely[TOTAL], keywords)) is not None:
        found = {TAX: tax, TOTAL: to_pay} if len(own[TAX]) <= 1 else {TOTAL: to_pay}
    choices = {role: _settled(choices.get(role), mention, likely[role]) for role, mention in found.items()}
    return choices, _check_sum(choices)


def _amount_to_pay(part: Mention, likely: Weighted, keywords: Keywords) -> Mention | None:
    """The amount to pay that equals this total plus another named sum; None if there is none."""
    called = [(mention, number) for mention, _ in likely if (number := amount(mention))]
    others = {number for mention, number in called if keywords.get(mention.entity) in SUMS and mention != part}
    of_part = amount(part) or Decimal()
    for mention, number in called:
        if keywords.get(mention.entity) is AmountKeyword.TO_PAY and number - of_part in others:
            return mention
    return None


def _is_labelled(mention: Mention, role: str, keywords: Keywords, paid: frozenset[Decimal]) -> bool:
    """True if the label or the keyword of an amount is for the role, or it is the total that was paid."""
    keyword, is_paid = keywords.get(mention.entity), amount(mention) in paid
    return mention.label == role or (keyword is not None and _keyword_weight(keyword, role, is_paid) is not None)


def _keyword_weight(keyword: AmountKeyword, role: str, is_paid: bool) -> float | None:
    """The weight that a keyword adds for a role; None if it is not for the role."""
    said = ROLE_WEIGHTS[keyword].get(role)
    if said is None and is_paid and role == TOTAL:
        said = PAID_TOTAL_WEIGHTS.get(keyword)
    return said + PAID_LESS_CHANGE if said is not None and is_paid and role == TOTAL else said


def _own_choice(own: Weighted, role: str) -> Choice | None:
    """The choice by label or keyword alone."""
    return choose(own, Reason.LABEL if own and own[0][0].label == role else Reason.CONTEXT)


def _paid_less_change(mentions: Sequence[Mention], keywords: Keywords) -> frozenset[Decimal]:
    """The possible payments less the change."""
    found: dict[AmountKeyword, set[Decimal]] = {AmountKeyword.PAID: set(), AmountKeyword.CHANGE: set()}
    for mention in mentions:
        keyword, stated = keywords.get(mention.entity), amount(mention)
        if keyword in found and stated:
            found[keyword].add(abs(stated))
    changes = sorted(found[AmountKeyword.CHANGE])[:MOST_LIKELY] or [Decimal()]
    return frozenset(paid - change for paid in sorted(found[AmountKeyword.PAID])[:MOST_LIKELY] for change in changes)


def _likely(mentions: Sequence[Mention], role: str, keywords: Keywords, paid: frozenset[Decimal]) -> Weighted:
    sums = [number for each in mentions if keywords.get(each.entity) in SUMS and (number := amount(each))]
    rounded = {number for number in paid if any(0 < abs(number - each) <= CASH_ROUNDING for each in sums)}

    def weigh(mention: Mention) -> float:
        weight, keyword = _label_share(mention, role) * mention.score, keywords.get(mention.entity)
        if weight == 0 or keyword is None:
            return weight
        if mention.label == role and role not in ROLE_WEIGHTS[keyword]:
            return CONTRADICTED * weight
        said = _keyword_weight(keyword, role, amount(mention) in paid)
        is_rounded = role == TOTAL and amount(mention) in rounded
        return 0.0 if said is None else weight + said + (ROUNDED_PAID if is_rounded else 0.0)

    return ranked(mentions, weigh)


def _label_share(mention: Mention, role: str) -> float:
    """The factor of a mention's score for a role, by its label."""
    if mention.label == role:
        return 1.0
    return ANY_MONEY if mention.label == "MONEY" else OTHER_ROLE if mention.label in ROLES else 0.0


def _heaviest_sum(likely: dict[str, Weighted]) -> Weighted | None:
    """One amount for each role with net + tax = total; None if no likely amounts add up."""
    best: Weighted | None = None
    best_weight = 0.0
    for triple in product(*(_with_amount(likely[role]) for role in ROLES)):
        (net, _, _), (tax, _, _), (total, _, _) = triple
        weight = sum(each[2] for each in triple)
        if weight > best_weight and net != 0 and abs(net + tax - total) <= TOLERANCE:
            best, best_weight = [(mention, share) for _, mention, share in triple], weight
    return best


def _with_amount(found: Weighted) -> list[tuple[Decimal, Mention, float]]:
    stated = ((amount(mention), mention, weight) for mention, weight in found[:MOST_LIKELY])
    return [(number, mention, weight) for number, mention, weight in stated if number is not None]


def _settled(alone: Choice | None, mention: Mention, likely: Weighted) -> Choice:
    """The choice of an amount that adds up; as it was, if that had been chosen anyway."""
    if alone is not None and amount(alone.best) == amount(mention):
        return alone
    others = [other for other, _ in likely if other.label != "MONEY" and other != mention]
    return Choice(mention, Reason.SUM, tuple(others[:MOST_ALTERNATIVES]))


def _check_sum(choices: dict[str, Choice]) -> tuple[SumCheck, ...]:
    stated = [amount(choices[role].best) for role in ROLES if role in choices]
    if len(stated) < len(ROLES) or None in stated:
        return ()
    net, tax, total = (number for number in stated if number is not None)
    difference = net + tax - total
    return (SumCheck("net_amount + tax_amount = total_amount", abs(difference) <= TOLERANCE, difference),)
