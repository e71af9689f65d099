"""Amount keywords: classify the words before an amount as total, net, tax, paid, change, or none of these.

The rules, the first that fits:
- Words for the amount left to pay come first: "Balance due less deposit".
- Words for a count or a unit price: the amount is no sum of the document. Words for a tip, a discount, a deposit, …: it
  is one of the lines between net and total, or between total and the amount left to pay.
- "Total excl. VAT" is a net; "Total incl. VAT" a total; "VAT", "VAT included in total" and "Total VAT" are a tax.
- "Amount" alone has no class, "Amount incl. VAT" is a total.
- "Net total" is a net in one country and the amount to pay in another: it counts for both roles.
- In a row of a net, a tax and their sum behind the key of a total, each amount has its own class.
- A key with more than `MOST_OTHER_LETTERS` letters outside its phrases is prose and has no class.
- A model's line item that says hardly more than a sum's or a payment's words names no goods.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum

from service.core.fields.columns import head_columns
from service.core.fields.lines import TextLines, caption_of, is_one_of_several, key_of
from service.core.fields.mentions import Mention, amount
from service.core.fields.roles import AMOUNTS, ROLES
from service.core.fields.vocabulary.column_captions import NO_ROWS
from service.core.fields.vocabulary.phrases import PhraseMatch, PhraseTable, count_letters, folded

MOST_OTHER_LETTERS = 20
"""Most letters of a key outside its phrases; a key with more is prose."""


class AmountKeyword(StrEnum):
    """Class of an amount's key; the values are names of fields of `BillWords`."""

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
    UNTAXED = "untaxed"
    TIP = "tip"
    SERVICE_CHARGE = "service_charge"
    SHIPPING = "shipping"
    DISCOUNT = "discount"
    WITHHOLDING = "withholding"
    PREPAID = "prepaid"
    BROUGHT_FORWARD = "brought_forward"
    NO_SUM = "no_sum"


Keywords = Mapping[int, AmountKeyword]
"""Mention number → class of its key; mentions without a key are left out."""
ROLE_WEIGHTS: Mapping[AmountKeyword, Mapping[str, float]] = {
    keyword: {role.label: role.keywords[keyword] for role in ROLES if keyword in role.keywords}
    for keyword in AmountKeyword
}
"""Class of keyword → role → weight added to an amount's score for that role. A class counts against other roles."""
PAID_TOTAL_WEIGHTS: Mapping[AmountKeyword, float] = {AmountKeyword.ROUNDING: 0.25, AmountKeyword.PAID: 0.1}
"""Weight added for a total to an amount that equals the payment less the change: a receipt may print no other total."""

_KINDS = (*(word.value for word in AmountKeyword), "sums", "including", "excluding")
_TABLE = PhraseTable(*_KINDS)
_SUMS = frozenset(("rounded", "gross", "to_pay", "total", "net_or_total", "subtotal", "sums"))
_ALONE = (
    *("no_sum", "withholding", "prepaid", "brought_forward", "discount", "tip", "service_charge", "shipping"),
    *("untaxed", "rounding", "change", "paid"),
)
"""Kinds that decide a key's class whatever other phrases it has, the first in this order."""
_SUMS_OF_BILLS = frozenset(
    (
        *(AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.SUBTOTAL, AmountKeyword.NET),
        *(AmountKeyword.NET_OR_TOTAL, AmountKeyword.TAX, AmountKeyword.TO_PAY, AmountKeyword.PREPAID),
        *(AmountKeyword.BROUGHT_FORWARD, AmountKeyword.WITHHOLDING, AmountKeyword.PAID, AmountKeyword.CHANGE),
    )
)
"""Classes of lines that a model may take for rows of goods."""
MOST_BESIDE_SUM = 3
"""Most letters of a sum's or a payment's line beside the words for it, such as a currency's code."""
_NO_GOODS = PhraseTable(phrases={"none": NO_ROWS})
_LESS = re.compile(r"\s*(?:less|minus|abzgl|abzuglich|moins|menos|meno|minder|fradrag|avdrag|minusz|за вычетом)\b\.?")
"""A word before what is taken off."""
_RULER = re.compile(r"\s*[-–—=*_]{2,}")
_ROW_TOTALS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.TO_PAY, AmountKeyword.NET_OR_TOTAL))
_IN_ORDER = ("net", "subtotal", "rounded", "gross", "to_pay", "net_or_total", "total")


def amount_keywords(mentions: Sequence[Mention], lines: TextLines) -> dict[int, AmountKeyword]:
    """Classify the keys of amounts, by mention number, but not on a line item's line: its words name goods."""
    goods = goods_lines(mentions, lines)
    sums = [mention for mention in mentions if mention.label in AMOUNTS and lines.at(mention.start) not in goods]
    words = {mention.entity: word for mention in sums if (word := keyword_of_amount(lines, mention.start, mention.end))}
    return words | _row_keywords(sums, lines)


def goods_lines(mentions: Sequence[Mention], lines: TextLines) -> frozenset[int]:
    """Find the lines of line items that name goods."""
    items = (mention for mention in mentions if mention.label == "LINE_ITEM")
    return frozenset(lines.at(item.end - 1) for item in items if names_goods(item.text))


def names_goods(text: str) -> bool:
    """True if a line item has letters, and is no sum, payment, sum carried over, or head of a section."""
    line = _LESS.sub("", folded(text))
    if _RULER.match(line) or not any(map(str.isalpha, line)):
        return False
    found = _NO_GOODS.find(line) or (_TABLE.find(line) if names_sum(text) else ())
    return not found or _other_letters(line, found) > MOST_BESIDE_SUM


def names_sum(text: str) -> bool:
    """True if a text begins with words for a sum, a tax or a payment of the bill, and is classified as one."""
    line = _LESS.sub("", folded(text))
    found = _TABLE.find(line)
    return bool(found) and not any(map(str.isalpha, line[: found[0].start])) and classify_key(text) in _SUMS_OF_BILLS


def _row_keywords(sums: Sequence[Mention], lines: TextLines) -> dict[int, AmountKeyword]:
    """Classify the amounts of rows of a net, a tax and their sum: "Total 278.61 40.39 319.00", "Deposit 100 19 119".

    The sum of a row of two ("Total 278.61 40.39") stands elsewhere.
    """
    rows: dict[int, list[Mention]] = {}
    for each in sums:
        rows.setdefault(lines.at(each.start), []).append(each)
    values = {amount(each) for each in sums}
    found: dict[int, AmountKeyword] = {}
    for row in rows.values():
        if len(row) in (2, 3) and (keyword := classify_key(key_of(lines, row[0].start))) is not None:
            found.update(_classify_row(row, keyword, values))
    return found


def _classify_row(row: Sequence[Mention], keyword: AmountKeyword, values: Container[Decimal | None]) -> Keywords:
    """Classify the amounts of one row behind a key; those of a deposit are no net and no tax of the bill."""
    net, tax, *rest = (amount(each) or Decimal() for each in row)
    if not net or not tax or net + tax not in (rest or values):
        return {}
    if keyword is AmountKeyword.PREPAID and rest:
        return {row[0].entity: AmountKeyword.NO_SUM, row[1].entity: AmountKeyword.NO_SUM, row[2].entity: keyword}
    if keyword not in _ROW_TOTALS:
        return {}
    last = AmountKeyword.TO_PAY if keyword is AmountKeyword.TO_PAY else AmountKeyword.TOTAL
    parts = {row[0].entity: AmountKeyword.NET, row[1].entity: AmountKeyword.TAX}
    return parts | {each.entity: last for each in row[2:]}


def keyword_of_amount(lines: TextLines, start: int, end: int) -> AmountKeyword | None:
    """Classify the key of the amount at `[start, end)`; None if it has none.

    In a band of amounts below their captions each one has a key, but not below the captions of a table of goods.
    """
    if caption := caption_of(lines, start):
        return None if head_columns(lines, lines.at(start) - 1) else classify_key(caption)
    return None if is_one_of_several(lines, end) else classify_key(key_of(lines, start))


def classify_key(key: str) -> AmountKeyword | None:
    """Classify a key's text; None if no class fits."""
    line = folded(key)
    found = _TABLE.find(line)
    if not found or _other_letters(line, found) > MOST_OTHER_LETTERS:
        return None
    kinds = [phrase.kind for phrase in found]
    if kinds[0] == "to_pay":
        return AmountKeyword.TO_PAY
    for kind in _ALONE:
        if kind in kinds:
            return AmountKeyword(kind)
    if "tax" in kinds:
        return _classify_tax_key(kinds)
    if "excluding" in kinds and not _SUMS.isdisjoint(kinds):
        return AmountKeyword.NET
    return next((AmountKeyword(kind) for kind in _IN_ORDER if kind in kinds), None)


def _classify_tax_key(kinds: Sequence[str]) -> AmountKeyword:
    """Classify a key that names a tax: the tax itself, or a sum with or without it."""
    tax = kinds.index("tax")
    has_sum_before = not _SUMS.isdisjoint(kinds[:tax])
    if "excluding" in kinds or "net" in kinds or kinds[-1] == "net_or_total":
        return AmountKeyword.NET
    if "rounded" in kinds:
        return AmountKeyword.ROUNDED
    if "gross" in kinds or ("including" in kinds and has_sum_before):
        return AmountKeyword.GROSS
    return AmountKeyword.TAX


def _other_letters(line: str, found: Sequence[PhraseMatch]) -> int:
    letters = count_letters(line)
    return letters - sum(character.isalpha() for phrase in found for character in line[phrase.start : phrase.end])
