"""Taxes of a bill's rates as candidates for its net and its tax."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from service.core.fields.mentions import Choice, Mention, Reason, Weighted, amount, choice_of, derived_amount
from service.core.fields.roles import NET, TAX
from service.core.fields.tax_rows import Tax

MOST_LIKELY = 8
"""Most amounts of a role that are combined in triples."""
COMPUTED = 0.5
"""Factor of the weight of a net that is the sum of the rates' bases."""


class TaxCandidates:
    """The taxes of a bill's rates: their sums, and what is no net, tax or total of the bill."""

    def __init__(self, taxes: Sequence[Tax], mentions: Sequence[Mention]) -> None:
        self._mentions = mentions
        self._taxes = [tax for tax in taxes if tax.is_named]
        self._rated = {tax.amount.entity: tax for tax in taxes if tax.amount is not None and tax.percent is not None}
        several = [tax for tax in self._taxes if tax.tax]
        is_shared = len({(tax.percent, tax.name) for tax in several}) > 1
        self.parts = {tax.amount.entity for tax in several if tax.amount is not None} if is_shared else set()
        """Numbers of the mentions of taxes of several rates, or names."""
        self.bases = {each.entity for tax in taxes for each in (tax.base, tax.gross) if each is not None}
        rates = {tax.rate.start for tax in taxes if tax.rate is not None}
        self.bases |= {each.entity for each in mentions if each.start in rates}
        self.bases_with_tax = {amount(tax.base) for tax in taxes if tax.base is not None and tax.percent}
        self.is_several = len(self._taxes) > 1
        self.is_taxed = bool(several)

    def candidates(self, likely: Weighted, own: Weighted) -> Weighted:
        """Return the taxes that a rate alone makes likely, and the sum of several."""
        rated = [found for found in likely if found[0].entity in self._rated and found not in own]
        amounts = [tax.amount for tax in self._taxes if tax.amount is not None and tax.tax]
        return [*rated[:MOST_LIKELY], *self._sum_of(TAX, amounts)]

    def sum_of_bases(self) -> Weighted:
        """Return the sum of the bases of several rates, if all are stated."""
        bases = [tax.base for tax in self._taxes if tax.base is not None]
        return (
            [(each, COMPUTED * weight) for each, weight in self._sum_of(NET, bases)]
            if len(bases) == len(self._taxes)
            else []
        )

    def _sum_of(self, role: str, parts: Sequence[Mention]) -> Weighted:
        """Return the sum of several parts: an amount of the text, if it states the sum, or a computed one."""
        if len(parts) < 2:
            return []
        together = sum((amount(each) or Decimal() for each in parts), Decimal())
        found = derived_amount(role, together, parts)
        return [(next((each for each in self._mentions if amount(each) == together), found), found.score)]

    def included_tax(self, total: Decimal | None) -> dict[str, Choice]:
        """Choose the sum of the taxes that are contained in sums which together are the total."""
        stated = [tax for tax in self._taxes if tax.amount is not None]
        grosses = [tax.with_tax for tax in stated]
        if not stated or total is None or None in grosses or sum(filter(None, grosses), Decimal()) != total:
            return {}
        found = self._sum_of(TAX, [tax.amount for tax in stated if tax.amount is not None])
        return {TAX: choice_of(found[0][0], found, Reason.SUM)} if found else {}

    def allow(self, net: Decimal, tax: Mention) -> bool:
        """True unless an amount that nothing calls a tax is not the rate before it of the net."""
        rated = self._rated.get(tax.entity)
        return rated is None or rated.is_named or rated.fits(net)
