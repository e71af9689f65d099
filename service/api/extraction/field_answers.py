"""Answers of entities and fields: fields are chosen from entities, or stated by an electronic invoice's XML."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial

import msgspec
from msgspec.structs import replace

from service.api.schemas import (
    CheckLineResult,
    CheckResult,
    ContractPartyResult,
    ContradictionResult,
    EducationResult,
    EmbeddedResult,
    EntityResult,
    FieldResult,
    FieldsResult,
    JobResult,
    LineItemResult,
    TaxResult,
)
from service.core.decoding.entities import Entity, Source
from service.core.decoding.offsets import OffsetMap
from service.core.decoding.value import Value, ValueKind
from service.core.fields.checks import SumCheck
from service.core.fields.currencies import CurrencyReader
from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.electronic_invoice import InvoiceFields, PlacedValue, invoice_fields
from service.core.fields.kinds import BILL_KINDS, PaperKind
from service.core.fields.lines import TextLines
from service.core.fields.mentions import DERIVED, Choice, Mention, Reason
from service.core.fields.paper_kind import PaperMatch
from service.core.fields.role_scores import MOST_DOUBTED
from service.core.fields.stated_entities import restated_labels
from service.core.fields.stated_invoice import ElectronicInvoice
from service.documents.document import Box, Document
from service.documents.words import shown_boxes, words_of
from service.text.values.context import DocumentContext
from service.text.values.currencies import currency_of_word, home_currency
from service.text.values.reading import read_value, shielded

SCORE_DIGITS = 6
"""Digits of a score in the answer; `min_score` is compared with the rounded score."""


class FieldAnswers:
    """Answers the entities and the fields of one paper."""

    def __init__(self, document: Document, context: DocumentContext, offsets: OffsetMap, first: int = 0) -> None:
        """Take the context of the paper's text, which begins at `first` in the document's."""
        self._document = document
        self._context = context
        self._offsets = offsets
        self._first = first

    @cached_property
    def lines(self) -> TextLines:
        """Lines of the paper's text."""
        return TextLines(self._context.text, self._document.line_extents(self._first))

    def entity(self, found: Entity, value: Value) -> EntityResult:
        """An entity with its value and its places in the document; its own are those in the paper."""
        start, end = self._first + found.start, self._first + found.end
        confidence = self._document.confidence(start, end)
        return EntityResult(
            label=found.label,
            text=found.text,
            start=self._offsets[start],
            end=self._offsets[end],
            score=round(found.score, SCORE_DIGITS),
            value=value.text,
            page=self._document.page_at(start),
            boxes=shown_boxes(self._document, start, end),
            words=words_of(self._document, start, end) or msgspec.UNSET,
            kind=value.kind,
            source=found.source,
            valid=msgspec.UNSET if value.valid is None else value.valid,
            ambiguous=list(value.ambiguous) or msgspec.UNSET,
            number=msgspec.UNSET if value.number is None else format(value.number, "f"),
            unit=msgspec.UNSET if value.unit is None else value.unit,
            ocr_confidence=msgspec.UNSET if confidence is None else round(confidence, SCORE_DIGITS),
        )

    def fields(
        self,
        paper: PaperMatch,
        found: Sequence[Entity],
        values: Sequence[Value],
        answered: Sequence[EntityResult],
        *,
        by_keyword: int = 0,
        answered_labels: Collection[str] = (),
    ) -> tuple[FieldsResult | None, dict[int, tuple[str, bool]]]:
        """The fields of a paper with these entities, None where it has none, and `restated_labels` of the entities.

        Args:
            paper: what it is.
            found: in order.
            values: one of each.
            answered: the same as they are answered.
            by_keyword: how many of the last ones are values of the key-value fallback, not entities; in their own
                order.
            answered_labels: labels that an attached invoice may give to entities.
        """
        count = len(found) - by_keyword
        pages = [each for each in self._document.recognized if not each.box]
        turned = {page.page for page in pages if page.turned or page.skew}  # rows are not level
        mentions = [
            Mention(
                index,
                each.label,
                each.text,
                each.start,
                each.end,
                said.score,
                value,
                said.page,
                () if said.page in turned else self._boxes(each, said),
                by_keyword=index >= count,
            )
            for index, (each, value, said) in enumerate(zip(found, values, answered, strict=True))
        ]

        def answer_of(mention: Mention) -> EntityResult:
            if mention.entity == DERIVED:
                return self._derived(mention)
            valid = mention.value.valid
            return answered[mention.entity] if valid is None else replace(answered[mention.entity], valid=valid)

        text, invoice = self._context.text, self._document.invoice

        def choose() -> DocumentFields | None:
            return find_fields(text, mentions[:count], mentions[count:], self._currencies(), self.lines, paper)

        fields = shielded(self._context, "find_fields", choose, None)
        shown = None if fields is None else _answer(fields, answer_of)
        if invoice is None:
            return shown, {}
        roles = {} if fields is None else fields.roles
        stated = shielded(
            self._context, "invoice_fields", partial(invoice_fields, invoice, text, mentions, roles), None
        )
        if stated is None:
            return shown, {}
        contradictions = [
            ContradictionResult(each.role, each.stated.text, answer_of(each.shown)) for each in stated.contradictions
        ]
        restated = restated_labels(stated, mentions[:count], answered_labels)
        return self._stated(invoice, stated, contradictions, shown), restated

    def _boxes(self, found: Entity, said: EntityResult) -> tuple[Box, ...]:
        """Boxes of an entity in points, even if the answer has them in another unit."""
        if self._document.words is None:
            return tuple(said.boxes)
        return tuple(self._document.boxes(self._first + found.start, self._first + found.end))

    def _currencies(self) -> CurrencyReader:
        return CurrencyReader(partial(currency_of_word, context=self._context), home_currency(self._context))

    def _stated(
        self,
        invoice: ElectronicInvoice,
        stated: InvoiceFields,
        contradictions: list[ContradictionResult],
        shown: FieldsResult | None,
    ) -> FieldsResult:
        """The XML's roles, rows and checks; of the page only rows, where an attached XML has none."""
        page = shown if shown is not None and shown.kind in BILL_KINDS else None
        shown_rows = page.line_items if page and invoice.file is not None else []
        rows = [
            LineItemResult(self._of(row.description), *map(self._part, (row.quantity, row.unit_price, row.amount)))
            for row in stated.rows
        ]
        return FieldsResult(
            kind=PaperKind.CREDIT_NOTE if invoice.is_credit_note else PaperKind.INVOICE,
            evidence=page.evidence if page else {},
            roles={name: self._role(placed) for name, placed in stated.roles.items()},
            currency=invoice.currency or (page.currency if page else None),
            line_items=rows or shown_rows,
            taxes=[TaxResult(*map(self._part, (each.rate, each.base, each.amount))) for each in stated.taxes],
            checks=list(map(_check, stated.checks)),
            bills=1,
            document_type=invoice.type_code,
            embedded=EmbeddedResult(
                invoice.syntax,
                invoice.profile,
                invoice.file,
                invoice.type_code,
                contradictions,
                None if invoice.amount_due is None else invoice.amount_due.text,
            ),
        )

    def _derived(self, mention: Mention) -> EntityResult:
        """A sum of amounts, which has no place, or a rate that is no entity."""
        entity = Entity(mention.label, mention.text, mention.start, mention.end, mention.score, Source.RULE)
        answer = self.entity(entity, mention.value)
        return answer if mention.text else msgspec.structs.replace(answer, page=None)

    def _role(self, placed: PlacedValue) -> FieldResult:
        answer = _role(self._of(placed), Reason.EMBEDDED)
        return msgspec.structs.replace(answer, score=MOST_DOUBTED) if answer.valid is False else answer

    def _part(self, placed: PlacedValue | None) -> EntityResult | None:
        return None if placed is None else self._of(placed)

    def _of(self, placed: PlacedValue) -> EntityResult:
        value, text = placed.value, self._context.text[placed.start : placed.end]
        if value.kind in (ValueKind.IBAN, ValueKind.BIC, ValueKind.TAX_ID):
            read = read_value(placed.label, value.text, self._context)
            value = read if read.kind is value.kind else value
        entity = Entity(placed.label, text, placed.start, placed.end, 1.0, Source.EMBEDDED)
        answer = self.entity(entity, value)
        return answer if text else msgspec.structs.replace(answer, page=None)


def _role(best: EntityResult, reason: Reason) -> FieldResult:
    chosen = {name: getattr(best, name) for name in EntityResult.__struct_fields__}
    return FieldResult(**chosen, reason=reason, alternatives=[])


def _check(check: SumCheck) -> CheckResult:
    lines = [CheckLineResult(name, format(value, "f")) for name, value in check.lines]
    return CheckResult(check.rule, check.holds, str(check.difference), lines)


def _in_currency(answer: EntityResult, currency: str | None) -> EntityResult:
    """Give an amount that names no currency that of its paper."""
    is_open = answer.kind is ValueKind.MONEY and answer.number is not msgspec.UNSET and answer.unit is msgspec.UNSET
    if currency is None or not is_open:
        return answer
    return msgspec.structs.replace(answer, value=f"{answer.number} {currency}", unit=currency)


def _answer(found: DocumentFields, answer_of: Callable[[Mention], EntityResult]) -> FieldsResult:
    def answered(mention: Mention) -> EntityResult:
        return _in_currency(answer_of(mention), found.currency)

    def of(mention: Mention | None) -> EntityResult | None:
        return None if mention is None else answered(mention)

    def all_of(mentions: Sequence[Mention]) -> list[EntityResult]:
        return list(map(answered, mentions))

    def role(choice: Choice) -> FieldResult:
        return msgspec.structs.replace(
            _role(answered(choice.best), choice.reason),
            score=round(choice.score, SCORE_DIGITS),
            alternatives=all_of(choice.alternatives),
            evidence=dict(choice.evidence) or msgspec.UNSET,
        )

    common = FieldsResult(
        kind=found.kind,
        evidence=found.evidence,
        roles={name: role(choice) for name, choice in found.roles.items()},
    )
    if found.kind is PaperKind.RESUME:
        return msgspec.structs.replace(
            common,
            jobs=[JobResult(of(each.what), of(each.where), all_of(each.dates), each.is_ongoing) for each in found.jobs],
            educations=[
                EducationResult(of(each.what), of(each.where), all_of(each.dates), each.is_ongoing)
                for each in found.educations
            ],
            skills=all_of(found.skills),
            languages=all_of(found.languages),
        )
    if found.kind is PaperKind.CONTRACT:
        return msgspec.structs.replace(
            common, parties=[ContractPartyResult(answer_of(each.name), of(each.called)) for each in found.parties]
        )
    return msgspec.structs.replace(
        common,
        currency=found.currency,
        line_items=[
            LineItemResult(answered(each.description), of(each.quantity), of(each.unit_price), of(each.amount))
            for each in found.line_items
        ],
        taxes=[TaxResult(of(each.rate), of(each.base), of(each.amount)) for each in found.taxes],
        checks=list(map(_check, found.checks)),
        bills=1,
        document_type=found.document_type,
    )
