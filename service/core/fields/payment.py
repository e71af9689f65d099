"""Payment of a bill: what was paid, what is left to pay, and what is taken off a payment before a day.

The rules:
- An amount behind words for what is left to pay ("Balance due") is the amount due, also where it equals the total. Of
  several the one counts that is the total less what was paid and withheld, plus what is still owed; else the last one,
  which is doubtful.
- Such an amount that follows from another sum is not the bill's total (`left_to_pay`).
- A deposit or an instalment is the paid amount; of several it is their sum, where that explains the amount due. A
  payment on a receipt is the paid amount only where it equals the total, since cash may be handed over for change, or
  where less than the total was paid and something is left to pay; if that is another sum, both are doubtful.
- The paid amount has no sign, however the page subtracts it.
- The discount is the percentage, or else the amount, nearest to words for an early payment. Without such words "2/10
  net 30" is one, its days in order: 2 percent within 10 days, or the whole sum within 30.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice

from service.core.fields.amount_keywords import AmountKeyword, Keywords
from service.core.fields.checks import SETTLED, Explanations, SumCheck, Term, check_due, terms_of
from service.core.fields.lines import LONGEST_LINE, TextLines
from service.core.fields.mentions import (
    DERIVED,
    MOST_ALTERNATIVES,
    Choice,
    Mention,
    Reason,
    amount,
    derived_amount,
    same_value,
    stated_rate,
)
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
    r"(?<![\w.,/])(?P<percent>[0-9](?:[.,][0-9]{1,2})?)\s?%?\s?/\s?(?P<early>[0-9]{1,2}),?\s{0,2}(?:net|n)[\s/]{0,2}"
    r"(?P<last>[0-9]{1,3})(?=\s{0,2}(?:$|[.,;:)|\n\t]|days?\b|from\b|eom\b))",
    re.IGNORECASE,
)
"""American terms: `2/10 net 30`, `2/10, n/30`."""
FEWEST_DAYS, MOST_DAYS = 5, 120
"""Fewest days for an early payment, and most days for any, in such terms."""


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
        others = _others(due, dues)
        is_doubtful = bool(others) and not lines and amount(due) != total
        choices[DUE] = Choice(due, Reason.SUM if lines else Reason.CONTEXT, others, is_doubtful)
    is_left = due is not None and amount(due) not in (total, 0)
    if (paid := _paid_amount(mentions, keywords, total, lines, is_left=is_left)) is not None:
        choices[PAID] = paid
    return choices, check_due(total, None if due is None else amount(due), terms)


def _others(best: Mention, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return the first mention of each other value."""
    by_value: dict[str, Mention] = {}
    for each in mentions:
        by_value.setdefault(same_value(each), each)
    by_value.pop(same_value(best), None)
    return tuple(by_value.values())[:MOST_ALTERNATIVES]


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
    mentions: Sequence[Mention], keywords: Keywords, total: Decimal | None, lines: Sequence[Term], *, is_left: bool
) -> Choice | None:
    """Choose what was paid: the payments that explain the amount due, the only deposit, or a payment of the total.

    Args:
        is_left: whether an amount other than the total is left to pay.
    """
    paid = [line.mention for line in lines if line.keyword in (AmountKeyword.PREPAID, AmountKeyword.PAID)]
    if not paid:
        most = total if is_left else None
        paid = [each for each in mentions if _is_payment(each, keywords.get(each.entity), total, most)]
        values = {abs(amount(each) or Decimal()) for each in paid}
        paid = paid[:1] if len(values) == 1 else []
    if len(paid) > 1:
        together = sum((abs(amount(each) or Decimal()) for each in paid), Decimal())
        return Choice(derived_amount(PAID, together, paid), Reason.SUM)
    is_doubtful = is_left and total is not None and not lines
    return Choice(_unsigned(paid[0]), Reason.CONTEXT, is_doubtful=is_doubtful) if paid else None


def _is_payment(mention: Mention, keyword: AmountKeyword | None, total: Decimal | None, most: Decimal | None) -> bool:
    """True for a deposit, and for a payment of nothing, of the total, or of less than `most`."""
    value = amount(mention)
    if value is None or keyword not in (AmountKeyword.PREPAID, AmountKeyword.PAID):
        return False
    return keyword is AmountKeyword.PREPAID or value in (total, 0) or (most is not None and abs(value) < most)


def _unsigned(mention: Mention) -> Mention:
    """Make an amount without sign, at its place."""
    value = mention.value
    if value.number is None or value.number >= 0:
        return mention
    return mention._replace(entity=DERIVED, value=value._replace(text=value.text.lstrip("-−"), number=-value.number))


def early_payment_discount(lines: TextLines, mentions: Sequence[Mention]) -> Choice | None:
    """Choose the discount for an early payment; None where no words for it stand near a percentage or an amount."""
    found = list(islice(_discounts(lines, mentions), MOST_ALTERNATIVES + 1))
    return Choice(found[0], Reason.CONTEXT, _others(found[0], found)) if found else None


def _discounts(lines: TextLines, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the discounts with words for an early payment, then those of American terms."""
    for start, line in lines.first(MOST_CHARACTERS):
        yield from _discounts_on(line[:LONGEST_LINE], start, mentions)
    for short in _SHORT_TERMS.finditer(lines.text, 0, MOST_CHARACTERS):
        percent, early, last = (Decimal(short[part].replace(",", ".")) for part in ("percent", "early", "last"))
        if percent < early and FEWEST_DAYS <= early <= last <= MOST_DAYS:
            yield _percentage(short[0], short.start(), short["percent"], mentions)


def _discounts_on(line: str, start: int, mentions: Sequence[Mention]) -> Iterator[Mention]:
    """Yield the percentages near words for an early payment on a line, the nearest first, or the amount behind them."""
    words = folded(line)
    if (match := _WORDS.search(words)) is None:
        return
    near = [(gap, rate) for rate in _PERCENT.finditer(words) if (gap := _gap(words, match.span(), rate.span())) >= 0]
    for _, rate in sorted(near, key=lambda found: found[0]):
        begin, end = written_span(line, *rate.span())
        yield _percentage(line[begin:end], start + begin, rate[1], mentions)
    behind = start + written_span(line, *match.span())[1]
    if not near and (stated := _amount_at(behind, start + len(line), mentions)):
        yield stated


def _amount_at(place: int, end: int, mentions: Sequence[Mention]) -> Mention | None:
    """Find the first amount that begins at a place, or right behind it, and ends before the line's end."""
    for each in islice(mentions, bisect_left(mentions, place, key=_start), None):
        if each.start - place > MOST_TO_AMOUNT:
            return None
        if each.label in AMOUNTS and amount(each) is not None and each.end <= end:
            return each
    return None


def _start(mention: Mention) -> int:
    return mention.start


def _gap(line: str, words: tuple[int, int], rate: tuple[int, int]) -> int:
    """Count the characters between words and a percentage; -1 where they are far, or in two sentences."""
    between = line[min(words[1], rate[1]) : max(words[0], rate[0])]
    return len(between) if len(between) <= NEAR and _SENTENCE_END.search(between) is None else -1


def _percentage(text: str, start: int, digits: str, mentions: Sequence[Mention]) -> Mention:
    """Return the percentage at a place: an entity, or one that is none."""
    first, last = bisect_left(mentions, start, key=_start), bisect_right(mentions, start, key=_start)
    known = (each for each in mentions[first:last] if each.label == "PERCENT")
    return next(known, None) or stated_rate(text, start, Decimal(digits.replace(",", ".")))
