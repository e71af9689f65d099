"""Document fields: the kind of one document, the best mention for each role, line items, and checked sums.

Knows labels and positions only: not the model, the decoding, or the format of an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from service.core.decoding.value import ValueKind
from service.core.fields.amount_keywords import AmountKeyword, amount_keywords
from service.core.fields.headings import CORRECTION, CREDIT, bill_spans, heading_kind
from service.core.fields.kinds import DocumentKind, KindMatch, decide_kind, is_letter
from service.core.fields.line_items import LineItem, find_line_items
from service.core.fields.lines import TextLines
from service.core.fields.mentions import Choice, Mention, amount, choose, currency, ranked
from service.core.fields.named_roles import choose_named, currency_of_key, named_currency
from service.core.fields.parties import choose_parties, choose_tax_id
from service.core.fields.resume import Entry, choose_person, distinct, find_entries
from service.core.fields.roles import AMOUNTS, ORDER, RECEIVER, TAX_ID, TOTAL, RoleGroup, labels_of
from service.core.fields.totals import SumCheck, settle_totals

MOST_ENTITIES = 10_000
"""Most entities of a document with fields: the rows of a larger one would be an answer of megabytes."""
TOTALS = frozenset((AmountKeyword.TOTAL, AmountKeyword.GROSS, AmountKeyword.TO_PAY, AmountKeyword.ROUNDED))
"""Keywords of a bill's last sum."""
INVOICE, CREDIT_NOTE, CORRECTED = "380", "381", "384"
"""Codes of UNTDID 1001."""


@dataclass(frozen=True, slots=True)
class DocumentFields:
    """The fields of one document; roles without a choice are left out.

    `bills`: how many bills the text seems to hold; of several, the first one's fields are here.
    `document_type`: of a bill but a receipt, a code of UNTDID 1001.
    """

    found: KindMatch
    roles: dict[str, Choice]
    currency: str | None = None
    line_items: tuple[LineItem, ...] = ()
    checks: tuple[SumCheck, ...] = ()
    bills: int = 1
    document_type: str | None = None
    jobs: tuple[Entry, ...] = ()
    educations: tuple[Entry, ...] = ()
    skills: tuple[Mention, ...] = ()
    languages: tuple[Mention, ...] = ()


def find_fields(
    text: str,
    mentions: Sequence[Mention],
    keyword_mentions: Sequence[Mention] = (),
    pages: Sequence[int] = (),
    currency_codes: Collection[str] = (),
) -> DocumentFields | None:
    """The fields of a document; None where no kind fits.

    Args:
        mentions: its entities, in order.
        keyword_mentions: values of the key-value fallback, for roles and rows of a bill; in order.
        pages: where the pages begin.
        currency_codes: those in the text (ISO 4217).
    """
    if len(mentions) > MOST_ENTITIES or (found := decide_kind(mentions)) is None:
        return None
    if found.kind is DocumentKind.RESUME:
        return None if is_letter(text) else _resume(found, mentions, TextLines(text))
    everything = sorted([*mentions, *keyword_mentions], key=lambda each: each.start)
    words = amount_keywords(everything, TextLines(text))
    totals = (each.start for each in everything if words.get(each.entity) in TOTALS)
    first, *others = bill_spans(everything, totals, text, pages)
    if others:
        text = text[: first[1]]
        mentions, keyword_mentions = (
            [each for each in some if each.end <= len(text)] for some in (mentions, keyword_mentions)
        )
        found = decide_kind(mentions) or found
    return replace(_bill(found, mentions, keyword_mentions, text, currency_codes), bills=1 + len(others))


def _bill(
    found: KindMatch, mentions: Sequence[Mention], by_keyword: Sequence[Mention], text: str, codes: Collection[str]
) -> DocumentFields:
    lines = TextLines(text)
    everything = sorted([*mentions, *by_keyword], key=lambda each: each.start)
    by_label = choose_parties(everything, lines)
    if found.kind is DocumentKind.RECEIPT and RECEIVER in by_label:
        if by_label[RECEIVER].best.by_keyword:
            found = replace(found, kind=DocumentKind.INVOICE)
        else:
            del by_label[RECEIVER]
    words = amount_keywords(everything, lines)
    amounts, checks = settle_totals([*mentions, *(each for each in by_keyword if each.entity in words)], words)
    by_label |= amounts | choose_named(everything, lines)
    for label in labels_of(RoleGroup.ACCOUNT):
        if choice := _by_label(mentions, label):
            by_label[label] = choice
    if number := choose_tax_id(mentions, lines, by_label.get(RECEIVER)):
        by_label[TAX_ID] = number
    taken = {by_label[label].best.entity for label in labels_of(RoleGroup.SUM) if label in by_label}
    currencies = Counter(code for each in everything if (code := currency(each)))
    stated = (each.start for each in everything if each.label in AMOUNTS)
    found, document_type = _named_kind(found, heading_kind(text), by_label.get(TOTAL))
    return DocumentFields(
        found,
        {label.lower(): by_label[label] for label in ORDER if label in by_label},
        named_currency(text)
        or (currencies.most_common(1)[0][0] if currencies else None)
        or next((code for start in stated if (code := currency_of_key(lines, start)) in codes), None),
        find_line_items(everything, lines, taken | {each.entity for each in by_keyword if each.entity in words}),
        checks,
        document_type=document_type,
    )


def _named_kind(found: KindMatch, heading: str | None, total: Choice | None) -> tuple[KindMatch, str | None]:
    """The kind that a bill's heading names, and its code in UNTDID 1001."""
    is_negative = total is not None and (amount(total.best) or 0) < 0
    if heading == CREDIT or (heading == CORRECTION and is_negative):
        return replace(found, kind=DocumentKind.CREDIT_NOTE), CREDIT_NOTE
    return found, CORRECTED if heading == CORRECTION else INVOICE if found.kind is DocumentKind.INVOICE else None


def _resume(found: KindMatch, mentions: Sequence[Mention], lines: TextLines) -> DocumentFields:
    jobs, educations = find_entries(mentions, lines)
    return DocumentFields(
        found,
        choose_person(mentions),
        jobs=jobs,
        educations=educations,
        skills=distinct(mentions, "SKILL"),
        languages=distinct(mentions, "LANGUAGE"),
    )


def _by_label(mentions: Sequence[Mention], label: str) -> Choice | None:
    """The best mention of a label that was read as what it names: no text that is none of them."""
    read = (each for each in mentions if each.label == label and each.value.kind is not ValueKind.TEXT)
    return choose(ranked(read, lambda each: each.score))
