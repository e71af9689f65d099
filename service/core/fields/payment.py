"""Payment of a bill: what was paid, what is left to pay, and what is taken off a payment before a day.

The rules:
- An amount behind words for what is left to pay ("Balance due") is the amount due, also where it equals the total. Of
  several the one counts that is the total less what was paid and withheld, plus what is still owed; else the last one.
- Such an amount that follows from another sum is not the bill's total (`left_to_pay`).
- A deposit or an instalment is the paid amount; of several it is their sum, where that explains the amount due. A
  payment on a receipt is the paid amount only where it equals the total, since cash may be handed over for change.
- The paid amount has no sign, however the page subtracts it.
- The discount is the percentage, or else the amount, nearest to words for an early payment; of "2/10 net 30" it is 2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from service.core.fields.amount_keywords import AmountKeyword, Keywords
from service.core.fields.checks import SETTLED, Explanations, SumCheck, Term, check_due, terms_of
from service.core.fields.lines import LONGEST_LINE, TextLines
from service.core.fields.mentions import DERIVED, Choice, Mention, Reason, amount, derived_amount, stated_rate
from service.core.fields.roles import AMOUNTS, DUE, PAID, TOTAL
from service.core.fields.vocabulary.phrases import any_of, folded, written_span

_TOTALS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.ROUNDED, AmountKeyword.NET_OR_TOTAL))
MOST_SUMS = 8
"""Most totals, and most amounts left to pay, that are compared."""
MOST_TO_AMOUNT = 6
"""Most characters between words for an early payment and an amount."""
NEAR = 40
"""Most characters between words for an early payment and the discount."""
MOST_CHARACTERS = 100_000
"""Characters of a text that are searched for terms of payment."""
_WORDS = re.compile(any_of("early_payment"))
_SENTENCE_END = re.compile(r"[.;](?:\s|$)")
_PERCENT = re.compile(r"(?<![\w.,])([0-9]{1,2}(?:[.,][0-9]{1,3})?)\s?[%％]")
_SHORT_TERMS = re.compile(
    r"(?<![\w.,/])([0-9](?:[.,][0-9]{1,2})?)\s?[%]?/\s?[0-9]{1,2},?\s{0,2}(?:net|n)[\s/]{0,2}[0-9]{1,3}(?!\w)"
)
"""American terms: `2/10 net 30`, `2/10, n/30`."""


def left_to_pay(mentions: Sequence[Mention], keywords: Keywords) -> frozenset[Decimal]:
    """Find the amounts left to pay that follow from another sum, and so are not the bill's total."""
    explanations = Explanations(terms_of(mentions, keywords, SETTLED))
    dues = [each for each in mentions if _is_due(each, keywords)][:MOST_SUMS]
    totals = [each for each in mentions if _may_be_total(each, keywords)][:MOST_SUMS]
    return frozenset(
        value
        for due in dues
        for total in totals
        if (value := amount(due)) is not None and _is_left(value, amount(total), explanations)
    )


def _may_be_total(mention: Mention, keywords: Keywords) -> bool:
    keyword = keywords.get(mention.entity)
    return keyword in _TOTALS or keyword is AmountKeyword.TO_PAY or (keyword is None and mention.label == TOTAL)


def _is_left(due: Decimal, total: Decimal | None, explanations: Explanations) -> bool:
    return total is not None and bool(explanations.of(due - total))


def settle_payment(
    mentions: Sequence[Mention], keywords: Keywords, chosen: Mention | None
) -> tuple[dict[str, Choice], tuple[SumCheck, ...]]:
    """Choose the paid amount and the amount due, by label, and check what lies between the total and the amount due.

    Args:
        mentions: amounts among others, in order.
        keywords: mention number → class of its key.
        chosen: the bill's total.
    """
    total = None if chosen is None else amount(chosen)
    mentions = [each for each in mentions if chosen is None or each.entity != chosen.entity or _is_due(each, keywords)]
    terms = terms_of(mentions, keywords, SETTLED)
    dues = [each for each in mentions if _is_due(each, keywords) and amount(each) is not None]
    due, lines = _amount_due(dues, total, Explanations(terms))
    choices = {}
    if due is not None:
        choices[DUE] = Choice(due, Reason.SUM if lines else Reason.CONTEXT)
    if (paid := _paid_amount(mentions, keywords, total, lines)) is not None:
        choices[PAID] = paid
    return choices, check_due(total, None if due is None else amount(due), terms)


def _is_due(mention: Mention, keywords: Keywords) -> bool:
    return keywords.get(mention.entity) is AmountKeyword.TO_PAY


def _amount_due(
    dues: Sequence[Mention], total: Decimal | None, explanations: Explanations
) -> tuple[Mention | None, tuple[Term, ...]]:
    """Find the amount due and the lines that it follows from; the last of several if none follows."""
    for due in dues if total is not None else ():
        if lines := explanations.of((amount(due) or Decimal()) - (total or Decimal())):
            return due, lines
    return dues[-1] if dues else None, ()


def _paid_amount(
    mentions: Sequence[Mention], keywords: Keywords, total: Decimal | None, lines: Sequence[Term]
) -> Choice | None:
    """Choose what was paid: the payments that explain the amount due, the only deposit, or a payment of the total."""
    paid = [line.mention for line in lines if line.keyword in (AmountKeyword.PREPAID, AmountKeyword.PAID)]
    if not paid:
        paid = [each for each in mentions if _is_payment(each, keywords.get(each.entity), total)]
        values = {abs(amount(each) or Decimal()) for each in paid}
        paid = paid[:1] if len(values) == 1 else []
    if len(paid) > 1:
        together = sum((abs(amount(each) or Decimal()) for each in paid), Decimal())
        return Choice(derived_amount(PAID, together, paid), Reason.SUM)
    return Choice(_unsigned(paid[0]), Reason.CONTEXT) if paid else None


def _is_payment(mention: Mention, keyword: AmountKeyword | None, total: Decimal | None) -> bool:
    value = amount(mention)
    if value is None or keyword not in (AmountKeyword.PREPAID, AmountKeyword.PAID):
        return False
    return keyword is AmountKeyword.PREPAID or value == total or value == 0


def _unsigned(mention: Mention) -> Mention:
    """Make an amount without sign, at its place."""
    value = mention.value
    if value.number is None or value.number >= 0:
        return mention
    return mention._replace(entity=DERIVED, value=value._replace(text=value.text.lstrip("-−"), number=-value.number))


def early_payment_discount(lines: TextLines, mentions: Sequence[Mention]) -> Choice | None:
    """Choose the discount for an early payment; None where no words for it stand near a percentage or an amount."""
    if (short := _SHORT_TERMS.search(lines.text, 0, MOST_CHARACTERS)) is not None:
        return Choice(_percentage(short[0], short.start(), short[1], mentions), Reason.CONTEXT)
    for start, line in lines.first(MOST_CHARACTERS):
        if found := _discount_on(line[:LONGEST_LINE], start, mentions):
            return Choice(found, Reason.CONTEXT)
    return None


def _discount_on(line: str, start: int, mentions: Sequence[Mention]) -> Mention | None:
    """Find the percentage nearest to words for an early payment on a line, or else the amount right behind them."""
    words = folded(line)
    if (match := _WORDS.search(words)) is None:
        return None
    near = [(gap, rate) for rate in _PERCENT.finditer(words) if (gap := _gap(words, match.span(), rate.span())) >= 0]
    if near:
        _, rate = min(near, key=lambda found: found[0])
        begin, end = written_span(line, *rate.span())
        return _percentage(line[begin:end], start + begin, rate[1], mentions)
    behind = start + written_span(line, *match.span())[1]
    amounts = (each for each in mentions if each.label in AMOUNTS and 0 <= each.start - behind <= MOST_TO_AMOUNT)
    return next((each for each in amounts if amount(each) is not None and each.end <= start + len(line)), None)


def _gap(line: str, words: tuple[int, int], rate: tuple[int, int]) -> int:
    """Count the characters between words and a percentage; -1 where they are far, or in two sentences."""
    between = line[min(words[1], rate[1]) : max(words[0], rate[0])]
    return len(between) if len(between) <= NEAR and _SENTENCE_END.search(between) is None else -1


def _percentage(text: str, start: int, digits: str, mentions: Sequence[Mention]) -> Mention:
    """Return the percentage at a place: an entity, or one that is none."""
    known = (each for each in mentions if each.label == "PERCENT" and each.start == start)
    return next(known, None) or stated_rate(text, start, Decimal(digits.replace(",", ".")))
