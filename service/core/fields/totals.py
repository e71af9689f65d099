"""Net, tax and total of a bill: chosen so that they add up, where any of the likely amounts do.

The rules:
- An amount's weight for a role is its score if that is its label, less if it has the label of another role, and less
  again if it is just money.
- Of all triples of likely amounts with net + tax = total the heaviest settles the roles, unless it would give up far
  more of the weight than the best amounts of each role alone have: then amounts are missing, not wrong.
- Nothing is no proof: an amount and nothing add up to it always, so a net of nothing settles no roles, and a tax of
  nothing only if the model called it a tax.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from service.core.fields.choice import MOST_ALTERNATIVES, Choice, Reason, choose, ranked
from service.core.fields.mention import Mention, amount

ROLES = ("NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT")
TOLERANCE = Decimal("0.02")
"""What rounding to cents may leave of net + tax - total."""
MOST_LIKELY = 8
"""Amounts of a role that are tried."""
OTHER_ROLE, ANY_MONEY = 0.4, 0.25
"""Weight of a score under the label of another role, and as MONEY."""
KEPT_WEIGHT = 0.6
"""The least share of the weight that amounts which add up must keep."""

Weighted = list[tuple[Mention, float]]


@dataclass(frozen=True, slots=True)
class SumCheck:
    """Whether `parts` add up to `total`, which are stated in the document. `difference`: parts - total."""

    rule: str
    holds: bool
    difference: Decimal


def settle_totals(mentions: Sequence[Mention]) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """The choices for net, tax and total by label, and the check of their sum where all three are known."""
    likely = {role: _likely(mentions, role) for role in ROLES}
    own = {role: [found for found in likely[role] if found[0].label == role] for role in ROLES}
    choices = {role: choice for role in ROLES if (choice := choose(own[role]))}
    settled = _heaviest_sum(likely)
    alone = sum(own[role][0][1] for role in ROLES if own[role])
    if settled is not None and sum(weight for _, weight in settled) >= KEPT_WEIGHT * alone:
        for role, (mention, _) in zip(ROLES, settled, strict=True):
            choices[role] = _settled(choices.get(role), mention, likely[role])
    return choices, _checked(choices)


def _likely(mentions: Sequence[Mention], role: str) -> Weighted:
    def weigh(mention: Mention) -> float:
        if mention.label == role:
            return mention.score
        share = ANY_MONEY if mention.label == "MONEY" else OTHER_ROLE if mention.label in ROLES else 0.0
        return share * mention.score

    return ranked(mentions, weigh)


def _heaviest_sum(likely: dict[str, Weighted]) -> Weighted | None:
    """One amount for each role with net + tax = total; None if no likely amounts add up."""
    best: Weighted | None = None
    best_weight = 0.0
    for triple in product(*(_stated(likely[role]) for role in ROLES)):
        (net, _, _), (tax, tax_mention, _), (total, _, _) = triple
        weight = sum(each[2] for each in triple)
        proves = net != 0 and (tax != 0 or tax_mention.label == "TAX_AMOUNT")
        if weight > best_weight and proves and abs(net + tax - total) <= TOLERANCE:
            best, best_weight = [(mention, share) for _, mention, share in triple], weight
    return best


def _stated(found: Weighted) -> list[tuple[Decimal, Mention, float]]:
    stated = ((amount(mention), mention, weight) for mention, weight in found[:MOST_LIKELY])
    return [(number, mention, weight) for number, mention, weight in stated if number is not None]


def _settled(alone: Choice | None, mention: Mention, likely: Weighted) -> Choice:
    """The choice of an amount that adds up; by its label, if that had been chosen anyway."""
    if alone is not None and amount(alone.best) == amount(mention):
        return alone
    others = [other for other, _ in likely if other.label != "MONEY" and other != mention]
    return Choice(mention, Reason.SUM, tuple(others[:MOST_ALTERNATIVES]))


def _checked(choices: dict[str, Choice]) -> tuple[SumCheck, ...]:
    stated = [amount(choices[role].best) for role in ROLES if role in choices]
    if len(stated) < len(ROLES) or None in stated:
        return ()
    net, tax, total = (number for number in stated if number is not None)
    difference = net + tax - total
    return (SumCheck("net_amount + tax_amount = total_amount", abs(difference) <= TOLERANCE, difference),)
