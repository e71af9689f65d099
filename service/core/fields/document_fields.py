"""Document fields: the kind of one document, the best mention for each role, line items, and checked sums.

Knows labels and positions only: not the model, the decoding, or the format of an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from service.core.fields.accounts import choose_accounts
from service.core.fields.amount_keywords import AmountKeyword, Keywords, amount_keywords
from service.core.fields.checks import ADDED, SumCheck, Term, check_rows, terms_of
from service.core.fields.contract import Party, find_contract
from service.core.fields.currencies import NO_READER, CurrencyReader, choose_currency
from service.core.fields.kinds import BILL_KINDS, PaperKind
from service.core.fields.line_items import LineItem, find_line_items
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Choice, Mention, amount
from service.core.fields.named_roles import choose_named
from service.core.fields.paper_kind import PaperMatch, paper_kind
from service.core.fields.parties import choose_parties
from service.core.fields.payment import early_payment_discount, settle_payment
from service.core.fields.resume import Entry, choose_person, distinct, find_entries
from service.core.fields.role_scores import scored
from service.core.fields.roles import (
    EARLY_PAYMENT_DISCOUNT,
    NET,
    ORDER,
    RECEIVER,
    TAX,
    TOTAL,
    RoleGroup,
    labels_of,
)
from service.core.fields.tax_numbers import choose_tax_numbers
from service.core.fields.tax_rows import Tax
from service.core.fields.taxes import PERCENT, find_taxes, settled_taxes
from service.core.fields.totals import settle_totals

MOST_ENTITIES = 10_000
"""Most entities of a document with fields; the rows of a larger one would make an answer of megabytes."""
CREDIT_NOTE, CORRECTED = "381", "384"
"""Codes of UNTDID 1001."""


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """The fields of one paper; roles without a choice are left out.

    `document_type`: code of UNTDID 1001; None where no heading says one.
    """

    kind: PaperKind
    evidence: dict[str, float]
    roles: dict[str, Choice]
    currency: str | None = None
    line_items: tuple[LineItem, ...] = ()
    checks: tuple[SumCheck, ...] = ()
    taxes: tuple[Tax, ...] = ()
    document_type: str | None = None
    jobs: tuple[Entry, ...] = ()
    educations: tuple[Entry, ...] = ()
    skills: tuple[Mention, ...] = ()
    languages: tuple[Mention, ...] = ()
    parties: tuple[Party, ...] = ()


def find_fields(
    text: str,
    mentions: Sequence[Mention],
    keyword_mentions: Sequence[Mention] = (),
    currencies: CurrencyReader = NO_READER,
    lines: TextLines | None = None,
    paper: PaperMatch | None = None,
) -> DocumentFields | None:
    """Choose the fields of a paper; None where it is no bill, contract or résumé.

    Args:
        text: the paper's own; offsets of mentions are places in it.
        mentions: the paper's entities, in order.
        keyword_mentions: values of the key-value fallback, for roles and rows of a bill; in order.
        currencies: reader of currencies in the document's context.
        lines: of the text, if they are known.
        paper: what the paper is; told by its text and mentions if left out.
    """
    if len(mentions) > MOST_ENTITIES:
        return None
    paper, lines = paper or paper_kind(text, mentions), lines or TextLines(text)
    if paper.kind is PaperKind.RESUME:
        return _resume(paper, mentions, lines)
    if paper.kind is PaperKind.CONTRACT:
        parties, roles = find_contract(lines, mentions)
        return DocumentFields(paper.kind, paper.evidence, roles, parties=parties)
    if paper.kind not in BILL_KINDS:
        return None
    return _bill(paper, mentions, keyword_mentions, lines, currencies)


def _bill(
    paper: PaperMatch,
    mentions: Sequence[Mention],
    by_keyword: Sequence[Mention],
    lines: TextLines,
    currencies: CurrencyReader,
) -> DocumentFields:
    kind = paper.kind or PaperKind.INVOICE
    everything = sorted([*mentions, *by_keyword], key=lambda mention: mention.start)
    choices = choose_parties(everything, lines)
    if kind is PaperKind.RECEIPT and RECEIVER in choices:
        if choices[RECEIVER].best.by_keyword and paper.heading is None:
            kind = PaperKind.INVOICE
        else:
            del choices[RECEIVER]
    words = amount_keywords(everything, lines)
    sums = _sums(everything, mentions, by_keyword, lines, words)
    choices |= sums.roles | choose_named(everything, lines, is_credit=kind is PaperKind.CREDIT_NOTE)
    if discount := early_payment_discount(lines, everything):
        choices[EARLY_PAYMENT_DISCOUNT] = discount
    choices |= choose_accounts(mentions, lines)
    choices |= choose_tax_numbers(everything, lines, choices)
    taken = {choices[label].best.entity for label in labels_of(RoleGroup.SUM) if label in choices}
    rows = find_line_items(everything, lines, taken | sums.by_keyword)
    checks = (*sums.checks, *sums.payment_checks)
    choices = scored(choices, checks, everything, lines, words, is_named=paper.heading is not None)
    document_type = paper.document_type
    if document_type == CORRECTED and TOTAL in choices and (amount(choices[TOTAL].best) or 0) < 0:
        kind, document_type = PaperKind.CREDIT_NOTE, CREDIT_NOTE
    return DocumentFields(
        kind,
        paper.evidence,
        {label.lower(): choices[label] for label in ORDER if label in choices},
        choose_currency(lines, everything, choices[TOTAL].best if TOTAL in choices else None, currencies),
        rows,
        (*checks, *sums.check_rows(rows)),
        sums.taxes,
        document_type=document_type,
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of a bill.

    Attributes:
        checks: whether net and tax add up to the total.
        payment_checks: whether the total and the payments leave the amount due.
        terms: lines between the sums.
        by_keyword: values of the key-value fallback that are sums.
    """

    roles: dict[str, Choice]
    taxes: tuple[Tax, ...]
    checks: tuple[SumCheck, ...]
    payment_checks: tuple[SumCheck, ...]
    terms: tuple[Term, ...]
    by_keyword: frozenset[int]

    def value(self, role: str) -> Decimal | None:
        return amount(self.roles[role].best) if role in self.roles else None

    def check_rows(self, rows: Sequence[LineItem]) -> tuple[SumCheck, ...]:
        return check_rows(rows, self.value(NET), self.value(TOTAL), self.terms, is_taxed=bool(self.taxes))


def _sums(
    everything: Sequence[Mention],
    mentions: Sequence[Mention],
    by_keyword: Sequence[Mention],
    lines: TextLines,
    words: Keywords,
) -> _Sums:
    rates = find_taxes(everything, lines, words)
    named = words.keys() | {each.entity for tax in rates for each in (tax.base, tax.amount) if each is not None}
    stated = [*mentions, *(mention for mention in by_keyword if mention.entity in named)]
    words = {**{each.amount.entity: AmountKeyword.TAX for each in rates if each.amount and each.is_named}, **words}
    roles, checks = settle_totals(stated, words, rates)
    net, tax, total = (roles[role].best if role in roles else None for role in (NET, TAX, TOTAL))
    percentages = [each for each in everything if each.label == PERCENT]
    payments, payment_checks = settle_payment(stated, words, total)
    return _Sums(
        roles | payments,
        settled_taxes(rates, lines, net, tax, percentages, total),
        checks,
        payment_checks,
        terms_of(stated, words, ADDED | {AmountKeyword.DISCOUNT}),
        frozenset(mention.entity for mention in by_keyword if mention.entity in named),
    )


def _resume(paper: PaperMatch, mentions: Sequence[Mention], lines: TextLines) -> DocumentFields:
    jobs, educations = find_entries(mentions, lines)
    return DocumentFields(
        PaperKind.RESUME,
        paper.evidence,
        {role: replace(choice, score=choice.best.score) for role, choice in choose_person(mentions).items()},
        jobs=jobs,
        educations=educations,
        skills=distinct(mentions, "SKILL"),
        languages=distinct(mentions, "LANGUAGE"),
    )
