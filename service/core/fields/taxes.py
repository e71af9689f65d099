"""Taxes of a bill: the rate, what it is taken of, and the tax, as rows and captions of the page state them.

The rules:
- A row is a line that is no row of goods, from a rate to the next one; an amount in a column has its caption's rate.
- Of a row's amounts, the two of which one is the rate of the other (`is_rate_of`) are base and tax. Where one
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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice

from service.core.fields.amount_keywords import Keywords, goods_lines
from service.core.fields.lines import LONGEST_LINE, TextLines
from service.core.fields.mentions import DERIVED, Mention, amount, is_sum, number, stated_rate
from service.core.fields.roles import AMOUNTS
from service.core.fields.tax_rows import EXEMPT, OTHER_ROW, RATE_TOLERANCE, Tax, TaxRows, amount_of
from service.core.fields.vocabulary.phrases import folded, written_span

PERCENT = "PERCENT"
MOST_ROWS, MOST_TAXES = 1_000, 200
"""Most lines with amounts that are read, and most taxes that are compared."""
MOST_CHARACTERS = 100_000
"""Characters of a text that are searched for words that say why there is no tax."""
SHORTEST_REASON = 6
"""Least letters of such words outside a row of taxes."""


def find_taxes(mentions: Sequence[Mention], lines: TextLines, keywords: Keywords) -> tuple[Tax, ...]:
    """Find the taxes of a bill, in order of the text.

    Args:
        mentions: amounts, percentages and goods among others, in order.
        lines: the text's lines.
        keywords: mention number → class of its key.
    """
    goods = goods_lines(mentions, lines)
    page = TaxRows(lines, keywords, {mention.start: mention for mention in mentions if mention.label == PERCENT})
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
        if abs(_together(kept) - (amount(tax) or Decimal())) > RATE_TOLERANCE:
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
    return None if (whole := amount_of(total)) is None or tax is None else whole - tax


def _only_rate(tax: Tax, lines: TextLines, rates: Sequence[Mention], base: Decimal | None) -> Mention | None:
    """Find the rate of a tax above 0: the only percentage of a text that fits, on no line of a discount."""
    if not tax.tax:
        return None
    fitting = islice((rate for rate in rates if replace(tax, rate=rate).fits(base)), MOST_TAXES)
    own = [rate for rate in fitting if not OTHER_ROW.search(folded(lines.around(rate.start)))]
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
        for found in EXEMPT.finditer(folded(short)):
            if len(found[0]) >= SHORTEST_REASON:
                first, last = written_span(short, *found.span())
                return stated_rate(short[first:last], start + first, Decimal())
    return None


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
    return any(tax.percent == base.percent and amount_of(tax.base) == amount_of(base.base) for tax in taxes)


def _fit(base: Tax, tax: Tax) -> bool:
    return tax.fits(amount_of(base.base))


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
