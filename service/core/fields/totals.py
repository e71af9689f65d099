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
  best candidates of each role together: then an amount is missing. Named lines between net and total (a tip, untaxed
  supplies, rounding: `checks`) may make up the difference.
- What is left to pay after a deposit is no total (`payment`).
- Of taxes of several rates (`taxes`) their sum is the tax, and that of their bases the net, only where they add up to a
  stated total: such a sum is no mention of the text. A total that is both sums together counts whatever it weighs. The
  tax of one rate is it only if it adds up too, its base and their sum never are net and total; a tax of 0 is none
  beside others.
- If another total is the triple's total plus another named sum (untaxed supplies) or an amount between them (a tip), it
  is the total. Unless the lines between are named, the triple then belongs to one tax rate: its net is not the bill's,
  and its tax only if no other amount is called a tax.
- A triple's tax needs the label or a keyword of a tax, or it is a rate of the net: two rows of goods add up to their
  total as well.
- A net of zero adds up with anything and decides nothing. No tax exceeds its net: the bases of two rates add up to the
  bill's net.
- An amount that is read as no money, or as a rate, has no role. A net or a tax in another currency than the total's is
  not the bill's: the tax is stated once more in the currency of the tax office.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from itertools import product
from types import MappingProxyType

from service.core.fields.amount_keywords import PAID_TOTAL_WEIGHTS, ROLE_WEIGHTS, AmountKeyword, Keywords
from service.core.fields.checks import (
    ADDED,
    BETWEEN,
    SIGNS,
    TOLERANCE,
    Explanations,
    SumCheck,
    Term,
    check_sum,
    terms_of,
)
from service.core.fields.mentions import (
    DERIVED,
    Choice,
    Mention,
    Reason,
    Weighted,
    amount,
    choice_of,
    choose,
    currency,
    is_sum,
    ranked,
)
from service.core.fields.payment import left_to_pay
from service.core.fields.roles import AMOUNTS, NET, TAX, TOTAL
from service.core.fields.tax_candidates import MOST_LIKELY, TaxCandidates
from service.core.fields.tax_rows import Tax

_TRIPLE = (NET, TAX, TOTAL)
"""Labels of the amounts of which the first two add up to the third."""
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
EXPLAINED = 0.05
"""Weight that a triple loses for each line between net and total."""
KEPT_WEIGHT = 0.6
"""Least weight of a triple, as a share of the weight of each role's best candidates together."""

NO_KEYWORDS: Keywords = MappingProxyType({})


def settle_totals(
    mentions: Sequence[Mention], keywords: Keywords = NO_KEYWORDS, taxes: Sequence[Tax] = ()
) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """Choose net, tax and total, by label, and check their sum where all three are known."""
    mentions = [mention for mention in mentions if mention.label not in AMOUNTS or is_sum(mention)]
    paid, left, rates = (
        _paid_less_change(mentions, keywords),
        left_to_pay(mentions, keywords),
        TaxCandidates(taxes, mentions),
    )
    terms = [term for term in terms_of(mentions, keywords, BETWEEN) if term.value not in rates.bases_with_tax]
    likely = {
        role: _likely([each for each in mentions if _may_be(each, role, rates, keywords, left)], role, keywords, paid)
        for role in _TRIPLE
    }
    own = {role: [found for found in likely[role] if _is_labelled(found[0], role, keywords, paid)] for role in _TRIPLE}
    own = _without_contradicted(own, keywords)
    explanations = Explanations(terms)
    settled = _heaviest_sum(
        {
            NET: [*likely[NET][:MOST_LIKELY], *rates.sum_of_bases()],
            TAX: [*own[TAX][:MOST_LIKELY], *rates.candidates(likely[TAX], own[TAX])],
            TOTAL: likely[TOTAL][:MOST_LIKELY],
        },
        rates,
        explanations,
    )
    alone = sum(own[role][0][1] for role in _TRIPLE if own[role])
    whole = own | {TAX: [found for found in own[TAX] if found[0].entity not in rates.parts]}
    choices = {role: choice for role in _TRIPLE if (choice := _own_choice(whole[role], role))}
    if settled is None or not (_is_of_rates(settled) or sum(map(_weight_of, settled)) >= KEPT_WEIGHT * alone):
        named = {entity for entity, keyword in keywords.items() if keyword is AmountKeyword.TAX}
        if _is_shared(choices, [mention for mention in mentions if mention.label == TAX or mention.entity in named]):
            del choices[TAX]
        if TAX not in choices and TOTAL in choices:
            choices |= rates.included_tax(amount(choices[TOTAL].best))
        choices = _without_net_of_tax(_in_one_currency(choices), is_taxed=bool(rates.parts))
        return choices, _check_choices(choices, terms)
    found = dict(zip(_TRIPLE, (mention for mention, _ in settled), strict=True))
    if (last := _last_sum(found[TOTAL], mentions, likely[TOTAL], keywords)) is not None:
        found[TOTAL] = last
        if not explanations.of(_difference(found)):
            found = {TOTAL: last} | ({TAX: found[TAX]} if len(own[TAX]) <= 1 else {})
    choices = {role: _settled(choices.get(role), mention, likely[role]) for role, mention in found.items()}
    return choices, _check_choices(choices, terms)


def _is_of_rates(triple: Weighted) -> bool:
    """True if net and tax are sums over several rates."""
    return all(mention.entity == DERIVED for mention, _ in triple[:2])


def _weight_of(found: tuple[Mention, float]) -> float:
    return found[1]


def _difference(found: Mapping[str, Mention]) -> Decimal:
    """Return what the total has beyond the net and the tax."""
    net, tax, total = (amount(found[role]) or Decimal() for role in _TRIPLE)
    return total - net - tax


def _in_one_currency(choices: dict[str, Choice]) -> dict[str, Choice]:
    """Leave out the net and the tax that are in another currency than the total."""
    code = currency(choices[TOTAL].best) if TOTAL in choices else None
    return {role: choice for role, choice in choices.items() if code is None or currency(choice.best) in (code, None)}


def _without_net_of_tax(choices: dict[str, Choice], *, is_taxed: bool) -> dict[str, Choice]:
    """Leave out a net that equals the total though there is a tax: it contains the tax."""
    net, tax, total = (amount(choices[role].best) if role in choices else None for role in _TRIPLE)
    return {
        role: choice for role, choice in choices.items() if not (role == NET and (tax or is_taxed) and net == total)
    }


def _may_be(mention: Mention, role: str, rates: TaxCandidates, keywords: Keywords, left: Collection[Decimal]) -> bool:
    """False for the base of a rate as tax, and as net or total beside others; and for what is left to pay as total.

    A tax of 0 is not the bill's beside taxes of other rates. A line between two sums, such as a tip, is neither the
    net nor the tax.
    """
    if role != TOTAL and keywords.get(mention.entity) in SIGNS:
        return False
    if role == TAX and rates.is_taxed and amount(mention) == 0:
        return False
    if mention.entity in rates.bases and (role == TAX or rates.is_several):
        return False
    return role != TOTAL or amount(mention) not in left


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


def _heaviest_sum(likely: dict[str, Weighted], rates: TaxCandidates, explanations: Explanations) -> Weighted | None:
    """Find the heaviest amounts with net + tax = total, or with named lines between; None if none add up."""
    best: Weighted | None = None
    best_weight = 0.0
    nets, taxes, totals = (_with_amount(likely[role]) for role in _TRIPLE)
    for triple in product(nets, taxes, totals):
        (net, _, _), (tax, mention, _), (total, _, _) = triple
        weight = sum(candidate[2] for candidate in triple)
        if (
            weight <= best_weight
            or net == 0
            or abs(tax) > abs(net)
            or (lines := explanations.of(total - net - tax)) is None
        ):
            continue
        weight -= EXPLAINED * len(lines)
        codes = {code for _, each, _ in triple if (code := currency(each))}
        if weight > best_weight and len(codes) < 2 and rates.allow(net, mention):
            best, best_weight = [(mention, share) for _, mention, share in triple], weight
    return best


def _with_amount(found: Weighted) -> list[tuple[Decimal, Mention, float]]:
    stated = ((amount(mention), mention, weight) for mention, weight in found)
    return [(number, mention, weight) for number, mention, weight in stated if number is not None]


def _settled(alone: Choice | None, mention: Mention, likely: Weighted) -> Choice:
    """Make the choice of an amount that adds up; the choice stays as it was if the amount had been chosen anyway."""
    if alone is not None and amount(alone.best) == amount(mention):
        return alone
    others = [found for found in likely if found[0].label != "MONEY" or found[0] == mention]
    if mention.entity == DERIVED:  # the others are its parts, no rivals
        return choice_of(mention, [(mention, mention.score)], Reason.SUM)
    return choice_of(mention, others, Reason.SUM)


def _check_choices(choices: dict[str, Choice], terms: Sequence[Term]) -> tuple[SumCheck, ...]:
    net, tax, total = (amount(choices[role].best) if role in choices else None for role in _TRIPLE)
    return check_sum(net, tax, total, terms)
