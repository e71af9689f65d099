"""Result of a document: entities found in its logits, filtered by the options, placed on pages, and its papers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from service.api.extraction.field_answers import SCORE_DIGITS, FieldAnswers
from service.api.extraction.paper_answers import PaperAnswers
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import DocumentResult, EntityResult, FieldsResult, PaperResult, PartlyReadResult, RecordResult
from service.core.decoding.entities import Entity
from service.core.decoding.offsets import OffsetMap
from service.core.decoding.value import Value
from service.core.fields.stated_entities import stated_entities, within_parts
from service.core.labels.label_set import ScoreLimits
from service.documents.document import Document
from service.families.processor import Findings, Record, RecordTable
from service.text.pipeline import Prepared
from service.text.values.context import DocumentContext
from service.text.values.reading import read_value, read_values, reading_label

_Labelled = TypeVar("_Labelled", Entity, EntityResult)


def build_result(
    source: DocumentInput, document: Document, request: ExtractRequest, prepared: Prepared, findings: Findings
) -> DocumentResult:
    """The result of one document, in which this was found.

    Fields are chosen from all entities: `labels` and `min_score` say which are listed, not what a document is.
    """
    options, text, context = request.options, document.text, prepared.context
    labels = None if options.labels is None else frozenset(options.labels)
    offsets = OffsetMap(text, options.offsets)
    answers = FieldAnswers(document, context, offsets)
    papers: list[PaperResult] | msgspec.UnsetType = msgspec.UNSET
    fields: FieldsResult | msgspec.UnsetType | None = msgspec.UNSET
    if document.stated:
        findings = _stated(document, request, context, findings)
    if options.fields or (document.invoice is not None and not document.stated):
        answered, chosen = PaperAnswers(document, request, context, offsets).answer(findings.entities)
        entities = _listed(answered, request.task.limits, labels)
        if options.fields:
            papers, fields = chosen, next((paper.fields for paper in chosen if paper.fields is not None), None)
    else:
        kept = _listed(findings.entities, request.task.limits, labels)
        page_starts = [page.start for page in document.pages or ()]
        entities = list(map(answers.entity, kept, read_values(context, kept, request.task.reading_labels, page_starts)))
    return DocumentResult(
        id=source.id,
        pages=len(document.pages) if document.pages else None,
        unread_pages=list(document.unread_pages),
        characters=len(text),
        tokens=len(prepared.tokens.ids),
        windows=len(prepared.windows),
        truncated=False,
        entities=entities,
        error=None,
        partly_read=[
            PartlyReadResult(each.page, each.reason, list(each.boxes), each.characters) for each in document.partly_read
        ],
        page_sizes=page_sizes(document) or msgspec.UNSET,
        ocr_pages=list(document.recognized) or msgspec.UNSET,
        unread_attachments=list(document.unread_attachments) or msgspec.UNSET,
        charset=document.charset or msgspec.UNSET,
        text=text if options.include_text else msgspec.UNSET,
        fields=fields,
        papers=papers,
        records=_record_results(findings.records, context, answers),
    )


def page_sizes(document: Document) -> list[tuple[float, float]]:
    """Width and height of each page: rounded points, or as sent with pages of words."""
    sizes = [(page.width, page.height) for page in document.pages or ()]
    return sizes if document.words is not None else [(round(wide, 1), round(high, 1)) for wide, high in sizes]


def _stated(document: Document, request: ExtractRequest, context: DocumentContext, findings: Findings) -> Findings:
    """What an invoice's XML states, and what is found in its words; nothing in those that its reader wrote."""
    text, parts = document.text, document.stated

    def read(label: str, part: str) -> Value:
        return read_value(label, part, context)

    entities = stated_entities(text, parts, findings.entities, request.task.answered, read)
    if request.keeps_found:
        entities = sorted([*entities, *within_parts(text, parts, findings.entities)], key=lambda entity: entity.start)
    if findings.records is None:
        return Findings(entities)

    def cut(record: Record) -> Record:
        return record._replace(fields=tuple(within_parts(text, parts, values) for values in record.fields))

    tables = [
        table._replace(records=[each for each in map(cut, table.records) if each.fields[0]])
        for table in findings.records
    ]
    return Findings(entities, tables)


def _record_results(
    tables: list[RecordTable] | None, context: DocumentContext, answers: FieldAnswers
) -> dict[str, list[RecordResult]] | msgspec.UnsetType:
    """The answers of records, by kind; a value is read as the words of its field, or the request, say."""
    if tables is None:
        return msgspec.UNSET
    results: dict[str, list[RecordResult]] = {}
    for kind in tables:
        readings = [{each.name: reading_label(each)} for each in kind.fields]
        results[kind.name] = [
            RecordResult(
                round(record.score, SCORE_DIGITS),
                {
                    field.name: list(map(answers.entity, found, read_values(context, found, reading)))
                    for field, found, reading in zip(kind.fields, record.fields, readings, strict=True)
                },
            )
            for record in kind.records
        ]
    return results


def _listed(entities: Sequence[_Labelled], limits: ScoreLimits, labels: frozenset[str] | None) -> list[_Labelled]:
    """The entities of at least the score that their label needs, with one of the labels that a request asks for.

    All labels count if a request names none.
    """
    return [
        each
        for each in entities
        if (labels is None or each.label in labels) and limits.keeps(each.label, round(each.score, SCORE_DIGITS))
    ]
