"""Rows of taxes: the rate, what it is taken of, and the tax, on the lines of one page.

The rules are those of `taxes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise, permutations

from service.core.fields.amount_keywords import AmountKeyword, Keywords, classify_key
from service.core.fields.lines import LONGEST_LINE, TextLines, has_sum, has_words, key_of
from service.core.fields.mentions import Mention, amount, number, stated_rate
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded

MOST_AMOUNTS = 5
"""Most amounts of a row that are combined."""
RATE_TOLERANCE, SHARE = Decimal("0.03"), Decimal("0.002")
"""Most difference of a tax from its rate of the base: in units of the currency, and as a share of the tax."""
WHOLE, WHOLE_SHARE = Decimal(1), Decimal("0.02")
"""Most difference where both are written without decimals: in units of the currency, and as a share of the tax."""
LARGEST_RATE = 50
"""Largest rate in percent that a tax has."""
LINES_TO_CAPTION = 2
"""Most lines between an amount and the rate in its caption."""
LINES_TO_HEAD = 3
"""Most lines between an amount and the captions of a table of rates."""
RATE = re.compile(
    r"(?<![\w.,])(?:(?P<before>[0-9]{1,2}(?:[.,][0-9]{1,3})?)\s?[%％]|[%％]\s?(?P<behind>[0-9]{1,2}(?:[.,][0-9]{1,3})?))"
)
_BARE_RATE = re.compile(r"(?<![\w.,:%/-])(?P<before>[0-9]{1,2}(?:[.,][0-9]{1,3})?)(?![\w.,:%/-])")
"""A rate without its sign, in a column of rates."""
_BASE = re.compile(rf"(?:{any_of('tax_base')})[\W\d]{{0,12}}$")
EXEMPT = re.compile(any_of("exempt"))
OTHER_ROW = re.compile(any_of("discount", "withholding", "service_charge", "tip", "early_payment"))
_TAXES = PhraseTable("tax")


@dataclass(frozen=True, slots=True)
class Tax:
    """One tax; None for what the page does not state.

    `gross`: base and tax together. `name`: the word that calls it a tax, folded; empty without one. `is_named`: False
    for an amount behind a rate that nothing calls a tax.
    """

    rate: Mention | None
    base: Mention | None = None
    amount: Mention | None = None
    gross: Mention | None = None
    name: str = ""
    is_named: bool = True

    @property
    def percent(self) -> Decimal | None:
        return None if self.rate is None else number(self.rate)

    @property
    def tax(self) -> Decimal | None:
        return None if self.amount is None else amount(self.amount)

    @property
    def with_tax(self) -> Decimal | None:
        """The sum that the tax is part of."""
        if self.gross is not None:
            return amount(self.gross)
        base, tax = amount_of(self.base), amount_of(self.amount)
        return None if base is None or tax is None else base + tax

    def fits(self, base: Decimal | None) -> bool:
        """True if the tax is the rate in percent of a base, up to rounding."""
        if self.percent is None or self.tax is None or base is None:
            return False
        return is_rate_of(self.percent, base, self.tax)


def is_rate_of(rate: Decimal, base: Decimal, tax: Decimal) -> bool:
    """True if a tax is a rate in percent of a base, up to rounding."""
    part, most = base * rate / 100, max(RATE_TOLERANCE, SHARE * abs(tax))
    if not (_has_decimals(base) or _has_decimals(tax)):
        most = max(most, min(WHOLE, WHOLE_SHARE * abs(part)))
    return abs(part - tax) <= most and abs(tax) < max(abs(base), Decimal(1))


def _has_decimals(stated: Decimal) -> bool:
    """True if a number is written with decimals, also with zeros."""
    exponent = stated.as_tuple().exponent
    return isinstance(exponent, int) and exponent < 0


def states_tax(text: str) -> bool:
    """True if a text names a tax, states a rate in percent, or says that there is no tax."""
    words = folded(text)
    return RATE.search(text) is not None or EXEMPT.search(words) is not None or bool(_TAXES.find(words))


def has_rate_caption(lines: TextLines, offset: int) -> bool:
    """True if a line right above names a tax and has a sign for percent without a number."""
    above = lines.above(offset, LINES_TO_HEAD, LONGEST_LINE)
    return any("%" in line and RATE.search(line) is None and _TAXES.find(folded(line)) for line in above)


@dataclass(frozen=True, slots=True)
class TaxRows:
    """The lines of a page, the classes of its amounts' keys, and its percentages by their offsets."""

    lines: TextLines
    keywords: Keywords
    percentages: Mapping[int, Mention]

    def taxes(self, line: int, sums: Sequence[Mention]) -> Iterator[Tax]:
        """Yield the taxes of the amounts on one line."""
        start, end = self.lines.start(line), self.lines.end(line)
        text = self.lines.between(start, end)[:LONGEST_LINE]
        if OTHER_ROW.search(folded(text)) is not None:
            return
        rates = self._rates(text, start, sums)
        if not rates:
            wrapped = self._below_rate(line, sums, text)
            yield from [wrapped] if wrapped else filter(None, map(self._below_caption, sums))
            return
        borders = [start, *(rate.start for rate in rates[1:]), end]
        for rate, (left, right) in zip(rates, pairwise(borders), strict=True):
            part = [each for each in sums if left <= each.start < right and each.start != rate.start]
            if tax := self._row(rate, part, left) or self._row(rate, [*sums[:1], *part], left):
                yield tax

    def _rates(self, text: str, start: int, sums: Sequence[Mention]) -> list[Mention]:
        """Find the rates on a line: with a sign, without one beside base and tax, or words for no tax."""
        found = [self._rate(match, start) for match in RATE.finditer(text)]
        if not found and len(sums) > 1:
            found = self._bare_rates(text, start, sums)
        if not found and EXEMPT.search(folded(text)) is not None:
            words = text[: sums[0].start - start].strip() or text.strip()
            found = [stated_rate(words, start + text.index(words), Decimal())]
        return found

    def _bare_rates(self, text: str, start: int, sums: Sequence[Mention]) -> list[Mention]:
        """Find numbers beside a base and a tax that are the rate; an amount may be one below a caption with `%`."""
        found = [self._rate(match, start) for match in _BARE_RATE.finditer(text)]
        taken = {place for each in sums for place in range(each.start, each.end)}
        free = [rate for rate in found if rate.start not in taken and _has_base(rate, sums)][:1]
        if free or not has_rate_caption(self.lines, start):
            return free
        return [rate for rate in found if _has_base(rate, [each for each in sums if each.start != rate.start])]

    def _rate(self, match: re.Match[str], start: int) -> Mention:
        digits = match["before"] or match["behind"]
        known = self.percentages.get(start + match.start())
        return known or stated_rate(match[0], start + match.start(), Decimal(digits.replace(",", ".")))

    def _row(self, rate: Mention, sums: Sequence[Mention], left: int) -> Tax | None:
        """Make the tax of a rate and the amounts of its row, which begins at `left`."""
        percent = number(rate)
        if percent is None or percent > LARGEST_RATE or not sums:
            return None
        words = self.lines.between(left, sums[0].start)
        name = _name_of(words)
        if found := _base_and_tax(percent, sums):
            return Tax(rate, *found, name=name)
        if len(sums) > 1:
            sums = [each for each in sums if self.keywords.get(each.entity) is AmountKeyword.TAX]
        return self._alone(rate, sums[0], words, name) if len(sums) == 1 else None

    def _alone(self, rate: Mention, stated: Mention, words: str, name: str) -> Tax | None:
        """Make the tax of a rate and one amount, which is the tax or the base."""
        keyword = self.keywords.get(stated.entity) or classify_key(words)
        if keyword is AmountKeyword.TAX and (number(rate) or not amount(stated)):
            return Tax(rate, amount=stated, name=name)
        is_base = keyword in (AmountKeyword.NET, AmountKeyword.UNTAXED) or _BASE.search(folded(words)) is not None
        if is_base or not number(rate):
            return Tax(rate, base=stated)
        return Tax(rate, amount=stated, is_named=False) if keyword is None else None

    def _below_caption(self, stated: Mention) -> Tax | None:
        """Make the tax of an amount whose key, or caption, is that of a tax or of a base with its rate."""
        keyword, key = self.keywords.get(stated.entity), key_of(self.lines, stated.start)
        rate = self._rate_above(key, stated.start)
        if keyword is AmountKeyword.TAX:
            return Tax(rate, amount=stated, name=_name_of(key))
        return Tax(rate, base=stated) if rate is not None and keyword is AmountKeyword.NET else None

    def _below_rate(self, line: int, sums: Sequence[Mention], text: str) -> Tax | None:
        """Make the tax of an amount that stands alone on the line below its rate, in a cell of several lines."""
        above = self.lines.between(self.lines.start(max(line - 1, 0)), self.lines.start(line))[:LONGEST_LINE]
        rates = list(RATE.finditer(above))
        if len(sums) > 1 or len(rates) != 1 or has_words(text) or classify_key(above) is not AmountKeyword.TAX:
            return None
        rate = self._rate(rates[0], self.lines.start(line - 1))
        return None if has_sum(above) else Tax(rate, amount=sums[0], name=_name_of(above))

    def _rate_above(self, key: str, offset: int) -> Mention | None:
        """Find the rate of a caption, in the lines above an amount."""
        match = RATE.search(key)
        line = self.lines.at(offset)
        if match is None:
            return None
        first = self.lines.start(max(line - LINES_TO_CAPTION, 0))
        at = self.lines.between(first, self.lines.start(line)).rfind(match[0])
        return None if at < 0 else self._rate(match, first + at - match.start())


def _base_and_tax(percent: Decimal, sums: Sequence[Mention]) -> tuple[Mention | None, Mention, Mention | None] | None:
    """Find base, tax and their sum among amounts of one row; the base is None where only the sum is there."""
    stated = [(each, amount(each) or Decimal()) for each in sums[:MOST_AMOUNTS]]
    for (base, of_base), (tax, of_tax) in permutations(stated, 2):
        if of_base and is_rate_of(percent, of_base, of_tax):
            gross = (each for each, value in stated if value == of_base + of_tax and each not in (base, tax))
            return base, tax, next(gross, None)
    for (gross_sum, of_gross), (tax, of_tax) in permutations(stated, 2):
        if of_tax and is_rate_of(percent, of_gross - of_tax, of_tax):
            return None, tax, gross_sum
    return None


def _has_base(rate: Mention, sums: Sequence[Mention]) -> bool:
    """True if a row states a rate above 0, its base and its tax."""
    found = _base_and_tax(rate.value.number, sums) if rate.value.number else None
    return found is not None and found[0] is not None


def _name_of(key: str) -> str:
    line = folded(key)
    found = _TAXES.find(line)
    return line[found[-1].start : found[-1].end] if found else ""


def amount_of(mention: Mention | None) -> Decimal | None:
    return None if mention is None else amount(mention)
