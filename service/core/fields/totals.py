"""Net, tax and total of a bill: by the model's labels, by the words before an amount, and by what adds up.

The rules:
- An amount's weight for a role is its score if that is its label, less if it has the label of another role, and less
  again if it is just money. Words that speak for the role add to it; words for something else halve it, and leave
  nothing of an amount that the model gave another role or none.
- What the buyer paid, less the change, is likelier the total; also if only a line for rounding or the payment says it.
- Of all triples of likely amounts with net + tax = total the heaviest settles the roles, unless it would give up far
  more of the weight than the best amounts of each role alone have: then amounts are missing, not wrong.
- Where the amount to pay is what adds up and another sum besides, such as supplies that bear no tax, it is the total,
  and what adds up is of one rate: its net is not the bill's, and its tax only if no other amount is called a tax.
- Nothing is no proof: an amount and nothing add up to it always, so a net of nothing settles no roles, and a tax of
  nothing only if the model or a word called it a tax.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from types import MappingProxyType

from service.core.fields.amount_words import IF_HANDED_OVER, NET, SPEAKS_FOR, TAX, TOTAL, AmountWord
from service.core.fields.mentions import MOST_ALTERNATIVES, Choice, Mention, Reason, amount, choose, ranked

ROLES = (NET, TAX, TOTAL)
TOLERANCE = Decimal("0.02")
"""What rounding to cents may leave of net + tax - total."""
MOST_LIKELY = 8
"""Amounts of a role that are tried."""
OTHER_ROLE, ANY_MONEY = 0.4, 0.25
"""Weight of a score under the label of another role, and as MONEY."""
CONTRADICTED = 0.5
"""Weight of a score whose label the words before the amount contradict."""
HANDED_OVER = 0.25
"""What an amount gains as a total for being what was paid less the change."""
SUMS = frozenset((AmountWord.TOTAL, AmountWord.GROSS, AmountWord.NET_OR_TOTAL, AmountWord.SUBTOTAL))
"""Words for a sum that may be one of several."""
KEPT_WEIGHT = 0.6
"""The least share of the weight that amounts which add up must keep."""

Weighted = list[tuple[Mention, float]]
Words = Mapping[int, AmountWord]
"""A mention's number → what the words before it say; those that nothing is said of are left out."""
NOTHING_SAID: Words = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SumCheck:
    """Whether `parts` add up to `total`, which are stated in the document. `difference`: parts - total."""

    rule: str
    holds: bool
    difference: Decimal


def settle_totals(
    mentions: Sequence[Mention], words: Words = NOTHING_SAID
) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """The choices for net, tax and total by label, and the check of their sum where all three are known."""
    paid = _handed_over(mentions, words)
    likely = {role: _likely(mentions, role, words, paid) for role in ROLES}
    own = {role: [found for found in likely[role] if _is_called(found[0], role, words, paid)] for role in ROLES}
    choices = {role: choice for role in ROLES if (choice := _alone(own[role], role))}
    settled = _heaviest_sum(likely, words)
    alone = sum(own[role][0][1] for role in ROLES if own[role])
    if settled is None or sum(weight for _, weight in settled) < KEPT_WEIGHT * alone:
        return choices, _checked(choices)
    net, tax, total = (mention for mention, _ in settled)
    found = {NET: net, TAX: tax, TOTAL: total}
    if (whole := _whole(total, likely[TOTAL], words)) is not None:
        found = {TAX: tax, TOTAL: whole} if len(own[TAX]) <= 1 else {TOTAL: whole}
    choices = {role: _settled(choices.get(role), mention, likely[role]) for role, mention in found.items()}
    return choices, _checked(choices)


def _whole(part: Mention, likely: Weighted, words: Words) -> Mention | None:
    """The amount to pay of which a total is a part, the other part being called a sum too; None if there is none."""
    called = [(mention, number) for mention, _ in likely if (number := amount(mention))]
    others = {number for mention, number in called if words.get(mention.entity) in SUMS and mention != part}
    of_part = amount(part) or Decimal()
    for mention, number in called:
        if words.get(mention.entity) is AmountWord.TO_PAY and number - of_part in others:
            return mention
    return None


def _is_called(mention: Mention, role: str, words: Words, paid: frozenset[Decimal] = frozenset()) -> bool:
    """True where the model or a word called an amount so, or it is the total that was paid."""
    word = words.get(mention.entity)
    return mention.label == role or (word is not None and _says(word, role, amount(mention) in paid) is not None)


def _says(word: AmountWord, role: str, is_paid: bool) -> float | None:
    """What a word adds to an amount's weight for a role; None if it does not speak for it."""
    said = SPEAKS_FOR[word].get(role)
    if said is None and is_paid and role == TOTAL:
        said = IF_HANDED_OVER.get(word)
    return said + HANDED_OVER if said is not None and is_paid and role == TOTAL else said


def _alone(own: Weighted, role: str) -> Choice | None:
    """The choice by label or word alone."""
    return choose(own, Reason.LABEL if own and own[0][0].label == role else Reason.CONTEXT)


def _handed_over(mentions: Sequence[Mention], words: Words) -> frozenset[Decimal]:
    """What a buyer may have paid, less the change."""
    found: dict[AmountWord, set[Decimal]] = {AmountWord.PAID: set(), AmountWord.CHANGE: set()}
    for mention in mentions:
        word, stated = words.get(mention.entity), amount(mention)
        if word in found and stated:
            found[word].add(abs(stated))
    changes = sorted(found[AmountWord.CHANGE])[:MOST_LIKELY] or [Decimal()]
    return frozenset(paid - change for paid in sorted(found[AmountWord.PAID])[:MOST_LIKELY] for change in changes)


def _likely(mentions: Sequence[Mention], role: str, words: Words, paid: frozenset[Decimal]) -> Weighted:
    def weigh(mention: Mention) -> float:
        weight, word = _share(mention, role) * mention.score, words.get(mention.entity)
        if weight == 0 or word is None:
            return weight
        if mention.label == role and role not in SPEAKS_FOR[word]:
            return CONTRADICTED * weight
        said = _says(word, role, amount(mention) in paid)
        return 0.0 if said is None else weight + said

    return ranked(mentions, weigh)


def _share(mention: Mention, role: str) -> float:
    """What a score counts under the mention's label."""
    if mention.label == role:
        return 1.0
    return ANY_MONEY if mention.label == "MONEY" else OTHER_ROLE if mention.label in ROLES else 0.0


def _heaviest_sum(likely: dict[str, Weighted], words: Words) -> Weighted | None:
    """One amount for each role with net + tax = total; None if no likely amounts add up."""
    best: Weighted | None = None
    best_weight = 0.0
    for triple in product(*(_stated(likely[role]) for role in ROLES)):
        (net, _, _), (tax, tax_mention, _), (total, _, _) = triple
        weight = sum(each[2] for each in triple)
        proves = net != 0 and (tax != 0 or _is_called(tax_mention, TAX, words))
        if weight > best_weight and proves and abs(net + tax - total) <= TOLERANCE:
            best, best_weight = [(mention, share) for _, mention, share in triple], weight
    return best


def _stated(found: Weighted) -> list[tuple[Decimal, Mention, float]]:
    stated = ((amount(mention), mention, weight) for mention, weight in found[:MOST_LIKELY])
    return [(number, mention, weight) for number, mention, weight in stated if number is not None]


def _settled(alone: Choice | None, mention: Mention, likely: Weighted) -> Choice:
    """The choice of an amount that adds up; as it was, if that had been chosen anyway."""
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
