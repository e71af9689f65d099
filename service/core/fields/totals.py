"""Net, tax and total of a bill: chosen by the model's labels, by keywords, and by which amounts add up.

The rules:
- An amount's weight for a role is its score under that label, `OTHER_ROLE` of it under another role's label, or
  `ANY_MONEY` of it as plain money. A keyword for the role adds to it. A keyword for something else leaves
  `CONTRADICTED` of an amount under the role's label, and nothing of any other.
- An amount that equals the payment less the change gains `PAID_LESS_CHANGE` as total, even if only a line for rounding
  or the payment names it.
- A payment less the change that differs from a named sum by at most `CASH_ROUNDING` is the sum rounded for payment: it
  gains `ROUNDED_PAID` as total.
- The heaviest triple of candidates with net + tax = total is chosen, unless it weighs less than `KEPT_WEIGHT` of the
  best candidates of each role together: then an amount is missing.
- If another total is that total plus another named sum (untaxed supplies) or an amount between them (a tip), it is the
  total. The triple then belongs to one tax rate: its net is not the bill's, and its tax only if no other amount is
  called a tax.
- A triple's tax needs the label or a keyword of a tax, or it is the percentage before it of the net: two rows of goods
  add up to their total as well.
- An amount above the percentage before it of the total is the price of goods at that rate, no tax.
- Taxes of several rates are parts of the bill's tax, as are several that together are the total less the net: one of
  them is chosen only where the total is net plus this tax.
- A net of zero adds up with anything and decides nothing.
- An amount that is read as no money, or as a rate, has no role. A net or a tax in another currency than the total's is
  not the bill's: the tax is stated once more in the currency of the tax office.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, product
from types import MappingProxyType
from typing import NamedTuple

from service.core.fields.amount_keywords import PAID_TOTAL_WEIGHTS, ROLE_WEIGHTS, AmountKeyword
from service.core.fields.mentions import (
    Choice,
    Mention,
    Reason,
    amount,
    choice_of,
    choose,
    currency,
    is_sum,
    number,
    ranked,
)
from service.core.fields.roles import AMOUNTS, NET, TAX, TOTAL

_TRIPLE = (NET, TAX, TOTAL)
"""Labels of the amounts of which the first two add up to the third."""
PERCENT = "PERCENT"
TOLERANCE = Decimal("0.02")
"""Most difference of net + tax from the total, in units of the currency: each is rounded to cents."""
TO_RATE = 12
"""Most characters between a percentage and its amount."""
MOST_LIKELY = 8
"""Most amounts of a role that are combined in triples."""
OTHER_ROLE, ANY_MONEY = 0.4, 0.25
"""Factors of a score under another role's label, and under MONEY."""
CONTRADICTED = 0.5
"""Factor of a score whose label the keyword before the amount contradicts."""
PAID_LESS_CHANGE = 0.25
"""Weight added for a total to an amount that equals the payment less the change."""
CASH_ROUNDING = Decimal("0.05")
"""Most difference between a payment and the sum that it pays, in units of the currency."""
ROUNDED_PAID = 0.3
"""Weight added for a total to a payment that was rounded."""
SUMS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.NET_OR_TOTAL, AmountKeyword.SUBTOTAL))
"""Keywords of sums of which a bill may have several."""
LAST_SUMS = SUMS - {AmountKeyword.SUBTOTAL} | {AmountKeyword.TO_PAY}
"""Keywords of a bill's last sum."""
ADDED = frozenset(
    (
        AmountKeyword.UNTAXED,
        AmountKeyword.TIP,
        AmountKeyword.SERVICE_CHARGE,
        AmountKeyword.SHIPPING,
        AmountKeyword.NO_SUM,
    )
)
"""Keywords of amounts that are added to the taxed supplies."""
KEPT_WEIGHT = 0.6
"""Least weight of a triple, as a share of the weight of each role's best candidates together."""

Weighted = list[tuple[Mention, float]]
Keywords = Mapping[int, AmountKeyword]
"""Mention number → class of its keyword; mentions without a keyword are left out."""
NO_KEYWORDS: Keywords = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class SumCheck:
    """A check that stated amounts add up. `difference`: sum of the parts - total."""

    rule: str
    holds: bool
    difference: Decimal


def settle_totals(
    mentions: Sequence[Mention], keywords: Keywords = NO_KEYWORDS
) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """Choose net, tax and total, by label, and check their sum where all three are known."""
    mentions = [mention for mention in mentions if mention.label not in AMOUNTS or is_sum(mention)]
    paid, rates = _paid_less_change(mentions, keywords), _rates(mentions)
    likely = {role: _likely(mentions, role, keywords, paid) for role in _TRIPLE}
    own = {role: [found for found in likely[role] if _is_labelled(found[0], role, keywords, paid)] for role in _TRIPLE}
    largest = max((value for mention, _ in own[TOTAL] if (value := amount(mention))), key=abs, default=None)
    no_taxes = _no_taxes(likely[TAX], rates, largest)
    own = _without_contradicted(own | {TAX: [found for found in own[TAX] if found[0].entity not in no_taxes]}, keywords)
    parts = _parts(own[TAX], rates)
    rated = [found for found in likely[TAX] if found[0].entity in rates.keys() - no_taxes and found not in own[TAX]]
    settled = _heaviest_sum(likely | {TAX: own[TAX]}, _UnnamedTaxes(rated, rates, largest))
    alone = sum(own[role][0][1] for role in _TRIPLE if own[role])
    whole = own | {TAX: [found for found in own[TAX] if found[0].entity not in parts]}
    choices = {role: choice for role in _TRIPLE if (choice := _own_choice(whole[role], role))}
    if settled is None or sum(weight for _, weight in settled) < KEPT_WEIGHT * alone:
        named = {entity for entity, keyword in keywords.items() if keyword is AmountKeyword.TAX}
        if _is_shared(choices, [mention for mention in mentions if mention.label == TAX or mention.entity in named]):
            del choices[TAX]
        choices = _in_one_currency(choices)
        return choices, _check_choices(choices)
    net, tax, total = (mention for mention, _ in settled)
    found = {NET: net, TAX: tax, TOTAL: total}
    if (last := _last_sum(total, mentions, likely[TOTAL], keywords)) is not None:
        found = {TAX: tax, TOTAL: last} if len(own[TAX]) <= 1 else {TOTAL: last}
    elif tax.entity in parts and TOTAL in choices and _size(choices[TOTAL].best) > _size(total):
        found = {TOTAL: choices[TOTAL].best}
    choices = {role: _settled(choices.get(role), mention, likely[role]) for role, mention in found.items()}
    return choices, _check_choices(choices)


def _in_one_currency(choices: dict[str, Choice]) -> dict[str, Choice]:
    """Leave out the net and the tax that are in another currency than the total."""
    code = currency(choices[TOTAL].best) if TOTAL in choices else None
    return {role: choice for role, choice in choices.items() if code is None or currency(choice.best) in (code, None)}


def _size(mention: Mention) -> Decimal:
    return abs(amount(mention) or Decimal())


def _rates(mentions: Sequence[Mention]) -> dict[int, Decimal]:
    """Find amounts' rates, by mention number: the percentage right before it, or before the net and tax beside it."""
    found: dict[int, Decimal] = {}
    row: list[Mention] = []
    for before, behind in pairwise(sorted(mentions, key=lambda mention: mention.start)):
        rate = number(before) if before.label == PERCENT else found.get(before.entity)
        if rate is None or behind.start - before.end > TO_RATE:
            continue
        row = [] if before.label == PERCENT else [*row, before]
        if not row or _goes_on(rate, [*map(amount, row), amount(behind)]):
            found[behind.entity] = rate
    return found


def _goes_on(rate: Decimal, row: Sequence[Decimal | None]) -> bool:
    """True if a row behind a rate is a net and its tax, or a net, its tax and their sum."""
    stated = [each for each in row if each is not None]
    if len(stated) == 3:
        return stated[0] + stated[1] == stated[2]
    return len(stated) == 2 and _is_rate_of(rate, *stated)


def _is_rate_of(rate: Decimal, net: Decimal | None, tax: Decimal | None) -> bool:
    """True if a tax is a rate in percent of a net, up to rounding."""
    return net is not None and tax is not None and abs(net * rate / 100 - tax) <= TOLERANCE


def _no_taxes(found: Weighted, rates: Mapping[int, Decimal], largest: Decimal | None) -> frozenset[int]:
    """Find the numbers of mentions of prices of goods at a rate, and of zero taxes beside another rate's tax."""
    bases = {mention.entity for mention, _ in found if _is_base(mention, rates, largest)}
    rated = {mention.entity: amount(mention) for mention, _ in found if mention.entity in rates.keys() - bases}
    return frozenset(bases | ({entity for entity in rated if rated[entity] == 0} if any(rated.values()) else set()))


def _is_base(mention: Mention, rates: Mapping[int, Decimal], largest: Decimal | None) -> bool:
    """True if an amount is the price of goods at a rate: it exceeds the tax at that rate on the largest total."""
    rate, stated = rates.get(mention.entity), amount(mention)
    if rate is None or stated is None or largest is None:
        return False
    return abs(stated) > abs(largest) * rate / 100 + TOLERANCE


def _parts(taxes: Weighted, rates: Mapping[int, Decimal]) -> frozenset[int]:
    """Find the numbers of mentions of the taxes of several rates; none if there is one rate."""
    parts = {each.entity: rates[each.entity] for each, _ in taxes if each.entity in rates and amount(each)}
    return frozenset(parts) if len(set(parts.values())) > 1 else frozenset()


def _is_shared(choices: Mapping[str, Choice], taxes: Sequence[Mention]) -> bool:
    """True if several taxes together, such as two of one rate, are the total less the net."""
    stated = [number for mention in taxes if (number := amount(mention))]
    if len(stated) < 2 or not choices.keys() >= set(_TRIPLE):
        return False
    net, total = amount(choices[NET].best), amount(choices[TOTAL].best)
    return net is not None and total is not None and abs(net + sum(stated) - total) <= TOLERANCE


def _without_contradicted(own: dict[str, Weighted], keywords: Keywords) -> dict[str, Weighted]:
    """Leave out a role's candidates that are the best ones of another role which their keyword names."""

    def is_contradicted(mention: Mention, role: str) -> bool:
        keyword = keywords.get(mention.entity)
        return keyword is not None and role not in ROLE_WEIGHTS[keyword]

    if any(keywords.get(mention.entity) in LAST_SUMS for mention, _ in own[TOTAL]):
        own = own | {
            TOTAL: [
                candidate for candidate in own[TOTAL] if keywords.get(candidate[0].entity) is not AmountKeyword.SUBTOTAL
            ]
        }
    named = {own[role][0][0].entity for role in _TRIPLE if own[role] and not is_contradicted(own[role][0][0], role)}
    return {
        role: [found for found in own[role] if not (found[0].entity in named and is_contradicted(found[0], role))]
        for role in _TRIPLE
    }


def _last_sum(part: Mention, mentions: Sequence[Mention], likely: Weighted, keywords: Keywords) -> Mention | None:
    """Find the total that is this one plus another named sum, or plus an amount between them."""
    of_part = amount(part) or Decimal()
    stated = [(each, value, keywords.get(each.entity)) for each in mentions if (value := amount(each))]
    for mention, _ in likely:
        keyword, whole = keywords.get(mention.entity), amount(mention)
        if keyword not in LAST_SUMS or whole is None:
            continue
        extras = (*ADDED, *(() if keyword is AmountKeyword.TO_PAY else (None,)))
        for each, value, word in stated:
            is_sum = word in SUMS and each.entity not in (part.entity, mention.entity)
            is_extra = word in extras and value > 0 and part.start < each.start < mention.start
            if (is_sum or is_extra) and value == whole - of_part:
                return mention
    return None


def _is_labelled(mention: Mention, role: str, keywords: Keywords, paid: frozenset[Decimal]) -> bool:
    """True if the label or the keyword of an amount is for the role, or it is the total that was paid."""
    keyword, is_paid = keywords.get(mention.entity), amount(mention) in paid
    return mention.label == role or (keyword is not None and _keyword_weight(keyword, role, is_paid) is not None)


def _keyword_weight(keyword: AmountKeyword, role: str, is_paid: bool) -> float | None:
    """Return the weight that a keyword adds for a role; None if it is not for the role."""
    gain = ROLE_WEIGHTS[keyword].get(role)
    if gain is None and is_paid and role == TOTAL:
        gain = PAID_TOTAL_WEIGHTS.get(keyword)
    return gain + PAID_LESS_CHANGE if gain is not None and is_paid and role == TOTAL else gain


def _own_choice(own: Weighted, role: str) -> Choice | None:
    return choose(own, Reason.LABEL if own and own[0][0].label == role else Reason.CONTEXT)


def _paid_less_change(mentions: Sequence[Mention], keywords: Keywords) -> frozenset[Decimal]:
    found: dict[AmountKeyword, set[Decimal]] = {AmountKeyword.PAID: set(), AmountKeyword.CHANGE: set()}
    for mention in mentions:
        keyword, stated = keywords.get(mention.entity), amount(mention)
        if keyword in found and stated:
            found[keyword].add(abs(stated))
    changes = sorted(found[AmountKeyword.CHANGE])[:MOST_LIKELY] or [Decimal()]
    return frozenset(paid - change for paid in sorted(found[AmountKeyword.PAID])[:MOST_LIKELY] for change in changes)


def _likely(mentions: Sequence[Mention], role: str, keywords: Keywords, paid: frozenset[Decimal]) -> Weighted:
    sums = [number for mention in mentions if keywords.get(mention.entity) in SUMS and (number := amount(mention))]
    rounded = {number for number in paid if any(0 < abs(number - stated) <= CASH_ROUNDING for stated in sums)}

    def weigh(mention: Mention) -> float:
        weight, keyword = _label_share(mention, role) * mention.score, keywords.get(mention.entity)
        if weight == 0 or keyword is None:
            return weight
        if mention.label == role and role not in ROLE_WEIGHTS[keyword]:
            return CONTRADICTED * weight
        gain = _keyword_weight(keyword, role, amount(mention) in paid)
        is_rounded = role == TOTAL and amount(mention) in rounded
        return 0.0 if gain is None else weight + gain + (ROUNDED_PAID if is_rounded else 0.0)

    return ranked(mentions, weigh)


def _label_share(mention: Mention, role: str) -> float:
    if mention.label == role:
        return 1.0
    return ANY_MONEY if mention.label == "MONEY" else OTHER_ROLE if mention.label in _TRIPLE else 0.0


class _UnnamedTaxes(NamedTuple):
    """Candidates for a tax that no label or keyword calls one, with the rates before them."""

    unnamed: Weighted
    rates: Mapping[int, Decimal]
    largest: Decimal | None

    def allows(self, net: Decimal, tax: Decimal, mention: Mention, total: Decimal) -> bool:
        """True if an amount may be the tax of this net and total."""
        if all(mention is not each for each, _ in self.unnamed):
            return True
        return self.largest in (None, total) and _is_rate_of(self.rates[mention.entity], net, tax)


def _heaviest_sum(likely: dict[str, Weighted], rated: _UnnamedTaxes) -> Weighted | None:
    """Find the heaviest amounts with net + tax = total; None if no likely amounts add up."""
    best: Weighted | None = None
    best_weight = 0.0
    nets, taxes, totals = (_with_amount(likely[role]) for role in _TRIPLE)
    for triple in product(nets, [*taxes, *_with_amount(rated.unnamed)], totals):
        (net, _, _), (tax, mention, _), (total, _, _) = triple
        weight = sum(candidate[2] for candidate in triple)
        codes = {code for _, each, _ in triple if (code := currency(each))}
        if len(codes) > 1 or not rated.allows(net, tax, mention, total):
            continue
        if weight > best_weight and net != 0 and abs(net + tax - total) <= TOLERANCE:
            best, best_weight = [(mention, share) for _, mention, share in triple], weight
    return best


def _with_amount(found: Weighted) -> list[tuple[Decimal, Mention, float]]:
    stated = ((amount(mention), mention, weight) for mention, weight in found[:MOST_LIKELY])
    return [(number, mention, weight) for number, mention, weight in stated if number is not None]


def _settled(alone: Choice | None, mention: Mention, likely: Weighted) -> Choice:
    """Make the choice of an amount that adds up; the choice stays as it was if the amount had been chosen anyway."""
    if alone is not None and amount(alone.best) == amount(mention):
        return alone
    return choice_of(
        mention, [found for found in likely if found[0].label != "MONEY" or found[0] == mention], Reason.SUM
    )


def check_sum(net: Decimal | None, tax: Decimal | None, total: Decimal | None) -> tuple[SumCheck, ...]:
    """Check that net and tax add up to the total; no check where one of them is unknown."""
    if net is None or tax is None or total is None:
        return ()
    difference = net + tax - total
    return (SumCheck("net_amount + tax_amount = total_amount", abs(difference) <= TOLERANCE, difference),)


def _check_choices(choices: dict[str, Choice]) -> tuple[SumCheck, ...]:
    return check_sum(*(amount(choices[role].best) if role in choices else None for role in _TRIPLE))
