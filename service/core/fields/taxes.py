"""Taxes of a bill: the rate, what it is taken of, and the tax, as rows and captions of the page state them.

The rules:
- A row is a line that is no row of goods, from a rate to the next one; an amount in a column has its caption's rate.
- Of a row's amounts, the two of which one is the rate in percent of the other (`TOLERANCE`) are base and tax. Where one
  contains the other at that rate, the base is not stated. A tax without a rate has the only percentage that fits.
- The only amount of a row is a tax or a base by its key. One without a key is a tax only where it is the rate in
  percent of the bill's net (`Tax.is_named`).
- Words for a supply without tax ("reverse charge", "exempt", "zw") are the rate 0.
- A base and a tax of one rate on two lines are one tax. A tax that is stated twice counts once; of two names (CGST and
  SGST) both count.
- A tax without a rate that is the sum of the others, or has the name of one of them, is none of them.
- Rows of discounts, of withheld tax and of service charges are no taxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice, pairwise, permutations

from service.core.fields.amount_keywords import AmountKeyword, Keywords, classify_key, goods_lines
from service.core.fields.lines import LONGEST_LINE, TextLines, has_sum, has_words, key_of
from service.core.fields.mentions import DERIVED, Mention, amount, is_sum, number, stated_rate
from service.core.fields.roles import AMOUNTS
from service.core.fields.vocabulary.phrases import PhraseTable, any_of, folded, written_span

PERCENT = "PERCENT"
MOST_ROWS, MOST_TAXES = 1_000, 200
"""Most lines with amounts that are read, and most taxes that are compared."""
MOST_AMOUNTS = 5
"""Most amounts of a row that are combined."""
TOLERANCE, SHARE = Decimal("0.03"), Decimal("0.002")
"""Most difference of a tax from its rate of the base: in units of the currency, and as a share of the tax."""
WHOLE, WHOLE_SHARE = Decimal(1), Decimal("0.02")
"""Most difference where both are written without decimals: in units of the currency, and as a share of the tax."""
LARGEST_RATE = 50
"""Largest rate in percent that a tax has."""
MOST_CHARACTERS = 100_000
"""Characters of a text that are searched for words that say why there is no tax."""
SHORTEST_REASON = 6
"""Least letters of such words outside a row of taxes."""
LINES_TO_CAPTION = 2
"""Most lines between an amount and the rate in its caption."""
LINES_TO_HEAD = 3
"""Most lines between an amount and the captions of a table of rates."""

_RATE = re.compile(
    r"(?<![\w.,])(?:(?P<before>[0-9]{1,2}(?:[.,][0-9]{1,3})?)\s?[%％]|[%％]\s?(?P<behind>[0-9]{1,2}(?:[.,][0-9]{1,3})?))"
)
_BARE_RATE = re.compile(r"(?<![\w.,:%/-])(?P<before>[0-9]{1,2}(?:[.,][0-9]{1,3})?)(?![\w.,:%/-])")
"""A rate without its sign, in a column of rates."""
_BASE = re.compile(rf"(?:{any_of('tax_base')})[\W\d]{{0,12}}$")
_EXEMPT = re.compile(any_of("exempt"))
_OTHER_ROW = re.compile(any_of("discount", "withholding", "service_charge", "tip", "early_payment"))
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
        base, tax = _value(self.base), _value(self.amount)
        return None if base is None or tax is None else base + tax

    def fits(self, base: Decimal | None) -> bool:
        """True if the tax is the rate in percent of a base, up to rounding."""
        if self.percent is None or self.tax is None or base is None:
            return False
        return is_rate_of(self.percent, base, self.tax)


def is_rate_of(rate: Decimal, base: Decimal, tax: Decimal) -> bool:
    """True if a tax is a rate in percent of a base, up to rounding."""
    part, most = base * rate / 100, max(TOLERANCE, SHARE * abs(tax))
    if not (_has_decimals(base) or _has_decimals(tax)):
        most = max(most, min(WHOLE, WHOLE_SHARE * abs(part)))
    return abs(part - tax) <= most and abs(tax) < max(abs(base), Decimal(1))


def _has_decimals(stated: Decimal) -> bool:
    """True if a number is written with decimals, also with zeros."""
    exponent = stated.as_tuple().exponent
    return isinstance(exponent, int) and exponent < 0


def find_taxes(mentions: Sequence[Mention], lines: TextLines, keywords: Keywords) -> tuple[Tax, ...]:
    """Find the taxes of a bill, in order of the text.

    Args:
        mentions: amounts, percentages and goods among others, in order.
        lines: the text's lines.
        keywords: mention number → class of its key.
    """
    goods = goods_lines(mentions, lines)
    page = _Page(lines, keywords, {mention.start: mention for mention in mentions if mention.label == PERCENT})
    rows: dict[int, list[Mention]] = {}
    for mention in mentions:
        line = lines.at(mention.start)
        if mention.label in AMOUNTS and is_sum(mention) and amount(mention) is not None and line not in goods:
            rows.setdefault(line, []).append(mention)
    stated = (tax for line in sorted(rows)[:MOST_ROWS] for tax in page.taxes(line, rows[line]))
    found = list(islice(stated, MOST_TAXES))
    return tuple(_distinct(_joined(_named(found))))


def settled_taxes(
    taxes: Sequence[Tax],
    lines: TextLines,
    net: Mention | None,
    tax: Mention | None,
    rates: Sequence[Mention] = (),
    total: Mention | None = None,
) -> tuple[Tax, ...]:
    """Return the taxes that agree with the bill's net, tax and total.

    Without any, the bill's tax is one of unknown rate, or words in the text say that there is none.

    Args:
        taxes: those that the page's rows state.
        lines: the text's lines.
        net: the bill's net, which a single tax may be taken of.
        tax: the bill's tax.
        rates: percentages in the text, such as those of goods, of which one may be the rate of the only tax.
        total: the bill's total.
    """
    kept = [each for each in taxes if each.is_named or (tax is not None and each.amount == tax)]
    if tax is not None and tax.entity != DERIVED:
        if abs(_together(kept) - (amount(tax) or Decimal())) > TOLERANCE:
            kept = [each for each in kept if each.tax == amount(tax)][:1]
        kept = kept or [Tax(None, amount=tax)]
    if not kept and (reason := _reason(lines)) is not None:
        kept = [Tax(reason)]
    if len(kept) == 1 and kept[0].rate is None and kept[0].base is None:
        kept = [replace(kept[0], rate=_only_rate(kept[0], lines, rates, _base_of(net, total, kept[0].tax)))]
    if len(kept) == 1 and kept[0].base is None and (base := _stated_base(kept[0], net, total)) is not None:
        kept = [replace(kept[0], base=base)]
    return tuple(kept)


def _base_of(net: Mention | None, total: Mention | None, tax: Decimal | None) -> Decimal | None:
    """Return the net, or the total without its tax; None where neither is known."""
    if net is not None:
        return amount(net)
    return None if (whole := _value(total)) is None or tax is None else whole - tax


def _only_rate(tax: Tax, lines: TextLines, rates: Sequence[Mention], base: Decimal | None) -> Mention | None:
    """Find the rate of a tax above 0: the only percentage of a text that fits, on no line of a discount."""
    if not tax.tax:
        return None
    fitting = islice((rate for rate in rates if replace(tax, rate=rate).fits(base)), MOST_TAXES)
    own = [rate for rate in fitting if not _OTHER_ROW.search(folded(lines.around(rate.start)))]
    return own[0] if len({number(rate) for rate in own}) == 1 else None


def _together(taxes: Sequence[Tax]) -> Decimal:
    return sum((tax.tax or Decimal() for tax in taxes), Decimal())


def _stated_base(tax: Tax, net: Mention | None, total: Mention | None) -> Mention | None:
    """Find the base of the only tax: the net, if its rate fits; the total, if there is nothing to be paid as tax."""
    if tax.percent == 0 and not tax.tax:
        whole = net or total
        return whole if whole is not None and whole.entity != DERIVED else None
    return net if net is not None and net.entity != DERIVED and tax.fits(amount(net)) else None


def _reason(lines: TextLines) -> Mention | None:
    """Find the words that say why a bill has no tax."""
    for start, line in lines.first(MOST_CHARACTERS):
        short = line[:LONGEST_LINE]
        for found in _EXEMPT.finditer(folded(short)):
            if len(found[0]) >= SHORTEST_REASON:
                first, last = written_span(short, *found.span())
                return stated_rate(short[first:last], start + first, Decimal())
    return None


def states_tax(text: str) -> bool:
    """True if a text names a tax, states a rate in percent, or says that there is no tax."""
    words = folded(text)
    return _RATE.search(text) is not None or _EXEMPT.search(words) is not None or bool(_TAXES.find(words))


def has_rate_caption(lines: TextLines, offset: int) -> bool:
    """True if a line right above names a tax and has a sign for percent without a number."""
    above = lines.above(offset, LINES_TO_HEAD, LONGEST_LINE)
    return any("%" in line and _RATE.search(line) is None and _TAXES.find(folded(line)) for line in above)


@dataclass(frozen=True, slots=True)
class _Page:
    """The lines of a page, the classes of its amounts' keys, and its percentages by their offsets."""

    lines: TextLines
    keywords: Keywords
    percentages: Mapping[int, Mention]

    def taxes(self, line: int, sums: Sequence[Mention]) -> Iterator[Tax]:
        """Yield the taxes of the amounts on one line."""
        start, end = self.lines.start(line), self.lines.end(line)
        text = self.lines.between(start, end)[:LONGEST_LINE]
        if _OTHER_ROW.search(folded(text)) is not None:
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
        found = [self._rate(match, start) for match in _RATE.finditer(text)]
        if not found and len(sums) > 1:
            found = self._bare_rates(text, start, sums)
        if not found and _EXEMPT.search(folded(text)) is not None:
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
        rates = list(_RATE.finditer(above))
        if len(sums) > 1 or len(rates) != 1 or has_words(text) or classify_key(above) is not AmountKeyword.TAX:
            return None
        rate = self._rate(rates[0], self.lines.start(line - 1))
        return None if has_sum(above) else Tax(rate, amount=sums[0], name=_name_of(above))

    def _rate_above(self, key: str, offset: int) -> Mention | None:
        """Find the rate of a caption, in the lines above an amount."""
        match = _RATE.search(key)
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


def _named(taxes: Sequence[Tax]) -> list[Tax]:
    """Count taxes that nothing calls so as taxes where together they are one that is called a tax."""
    unnamed = [tax for tax in taxes if not tax.is_named]
    is_stated = _together(unnamed) in {tax.tax for tax in taxes if tax.is_named and tax.percent is None}
    return [replace(tax, is_named=tax.is_named or is_stated) for tax in taxes]


def _joined(taxes: Sequence[Tax]) -> list[Tax]:
    """Join a base with the tax of its rate that is stated on another line."""
    bases = [tax for tax in taxes if tax.amount is None and tax.base is not None]
    joined: list[Tax] = []
    for tax in taxes:
        if tax.base is not None or tax.amount is None:
            continue
        base = next((each for each in bases if each.percent == tax.percent and _fit(each, tax)), None)
        if base is not None:
            bases.remove(base)
        joined.append(tax if base is None else replace(tax, base=base.base, is_named=True))
    whole = [tax for tax in taxes if tax.base is not None and tax.amount is not None]
    joined += whole
    return sorted([*joined, *(base for base in bases if not _is_known_base(base, joined))], key=_place)


def _is_known_base(base: Tax, taxes: Sequence[Tax]) -> bool:
    return any(tax.percent == base.percent and _value(tax.base) == _value(base.base) for tax in taxes)


def _value(mention: Mention | None) -> Decimal | None:
    return None if mention is None else amount(mention)


def _fit(base: Tax, tax: Tax) -> bool:
    return tax.fits(_value(base.base))


def _place(tax: Tax) -> int:
    return min(each.start for each in (tax.rate, tax.base, tax.amount) if each is not None)


def _distinct(taxes: Sequence[Tax]) -> Iterator[Tax]:
    """Yield the taxes without those that are stated before, or are the sum of others."""
    rated = [tax for tax in taxes if tax.percent is not None and tax.is_named]
    kept: list[Tax] = []
    for tax in sorted(taxes, key=lambda tax: tax.base is None):
        is_known = any(_is_same(tax, other) or _is_gross(tax, other) for other in kept)
        if not is_known and not (tax.percent is None and _is_sum(tax, rated, taxes)):
            kept.append(tax)
    yield from sorted(kept, key=_place)


def _is_same(tax: Tax, other: Tax) -> bool:
    """True if two rows state one tax: equal numbers, and no two names such as CGST and SGST."""
    if tax.percent is None or other.percent is None:
        return tax.tax == other.tax and (tax.name == other.name or other.percent is not None)
    is_equal = tax.percent == other.percent and tax.tax == other.tax
    return is_equal and (tax.name == other.name or not tax.name or not other.name)


def _is_gross(tax: Tax, other: Tax) -> bool:
    """True if a tax is the base and the tax of the same rate together."""
    if tax.percent != other.percent or tax.tax is None or other.tax is None or other.base is None:
        return False
    return tax.tax == other.tax + (amount(other.base) or Decimal())


def _is_sum(tax: Tax, rated: Sequence[Tax], taxes: Sequence[Tax]) -> bool:
    """True if a tax without a rate is the sum of the others, or the tax of a rate under its name."""
    others = rated or [other for other in taxes if other is not tax]
    together = sum((other.tax or Decimal() for other in others), Decimal())
    is_several = bool(rated) or len(others) > 1
    return is_several and (tax.tax == together or tax.name in {other.name for other in rated})
