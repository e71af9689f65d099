"""What the words before an amount say that it is: a total, a net, a tax, what was handed over, or none of these.

The rules, the first that fits:
- Words for a count, a discount, a deposit, a price of one: no sum of the document, whatever else is said.
- "Total excl. VAT" is a net; "Total incl. VAT" a total; "VAT", "VAT included in total" and "Total VAT" are a tax.
- "Amount" alone is nothing, "Amount incl. VAT" a total.
- "Net total" is a net in one country, what is to be paid in another: it speaks for both.
- Where many other letters stand, it is prose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from service.core.fields.lines import TextLines, is_one_of_several, key_of
from service.core.fields.mentions import Mention
from service.core.fields.vocabulary.phrases import PhraseMatch, PhraseTable, folded

NET, TAX, TOTAL = "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"
AMOUNTS = frozenset((NET, TAX, TOTAL, "MONEY"))
"""Labels of sums of money."""
MOST_OTHER_LETTERS = 20
"""Letters of a key that are of no phrase: with more it is prose."""


class AmountWord(StrEnum):
    """What a key says that its amount is."""

    ROUNDED = "rounded"
    GROSS = "gross"
    TO_PAY = "to_pay"
    TOTAL = "total"
    NET = "net"
    NET_OR_TOTAL = "net_or_total"
    SUBTOTAL = "subtotal"
    TAX = "tax"
    ROUNDING = "rounding"
    PAID = "paid"
    CHANGE = "change"
    NO_SUM = "no_sum"


SPEAKS_FOR: Mapping[AmountWord, Mapping[str, float]] = {
    AmountWord.ROUNDED: {TOTAL: 0.5},
    AmountWord.GROSS: {TOTAL: 0.45},
    AmountWord.TO_PAY: {TOTAL: 0.4},
    AmountWord.TOTAL: {TOTAL: 0.4},
    AmountWord.NET: {NET: 0.4},
    AmountWord.NET_OR_TOTAL: {NET: 0.3, TOTAL: 0.3},
    AmountWord.SUBTOTAL: {NET: 0.3, TOTAL: 0.1},
    AmountWord.TAX: {TAX: 0.4},
    AmountWord.ROUNDING: {},
    AmountWord.PAID: {},
    AmountWord.CHANGE: {},
    AmountWord.NO_SUM: {},
}
"""What a word adds to an amount's weight for each role that it speaks for. It speaks against the others."""
IF_HANDED_OVER: Mapping[AmountWord, float] = {AmountWord.ROUNDING: 0.25, AmountWord.PAID: 0.1}
"""What a word adds for a total to an amount that is what was paid less the change: no other may stand on the paper."""

_KINDS = (*(word.value for word in AmountWord), "sums", "including", "excluding")
_TABLE = PhraseTable(*_KINDS)
_SUMS = frozenset(("rounded", "gross", "to_pay", "total", "net_or_total", "subtotal", "sums"))
_ALONE = ("no_sum", "rounding", "change", "paid")
_IN_ORDER = ("net", "subtotal", "rounded", "gross", "to_pay", "net_or_total", "total")


def words_for_amounts(mentions: Sequence[Mention], lines: TextLines) -> dict[int, AmountWord]:
    """A mention's number → what the words before its amount say; beside a description they describe the goods."""
    goods = {lines.at(each.end - 1) for each in mentions if each.label == "LINE_ITEM"}
    sums = [each for each in mentions if each.label in AMOUNTS and lines.at(each.start) not in goods]
    return {each.entity: word for each in sums if (word := word_for_amount(lines, each.start, each.end))}


def word_for_amount(lines: TextLines, start: int, end: int) -> AmountWord | None:
    """What the key of the amount at `[start, end)` says; None where it says nothing."""
    return None if is_one_of_several(lines, end) else amount_word(key_of(lines, start))


def amount_word(key: str) -> AmountWord | None:
    """What a key says that its amount is; None if nothing."""
    line = folded(key)
    found = _TABLE.find(line)
    if not found or _other_letters(line, found) > MOST_OTHER_LETTERS:
        return None
    kinds = [each.kind for each in found]
    for kind in _ALONE:
        if kind in kinds:
            return AmountWord(kind)
    if "tax" in kinds:
        return _taxed(kinds)
    if "excluding" in kinds and not _SUMS.isdisjoint(kinds):
        return AmountWord.NET
    return next((AmountWord(kind) for kind in _IN_ORDER if kind in kinds), None)


def _taxed(kinds: Sequence[str]) -> AmountWord:
    """What a key says that names a tax: the tax itself, or a sum with it or without."""
    tax = kinds.index("tax")
    has_sum_before = not _SUMS.isdisjoint(kinds[:tax])
    if "excluding" in kinds or "net" in kinds:
        return AmountWord.NET
    if "rounded" in kinds:
        return AmountWord.ROUNDED
    if "gross" in kinds or ("including" in kinds and has_sum_before):
        return AmountWord.GROSS
    return AmountWord.TAX


def _other_letters(line: str, found: Sequence[PhraseMatch]) -> int:
    letters = sum(map(str.isalpha, line))
    return letters - sum(character.isalpha() for each in found for character in line[each.start : each.end])
