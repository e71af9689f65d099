"""Result of a document: entities found in its logits, filtered by the options, placed on pages, and its fields."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from service.api.extraction.field_answers import SCORE_DIGITS, FieldAnswers
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import DocumentResult, EntityResult, PartlyReadResult, RecordResult
from service.core.decoding.entities import Entity
from service.core.decoding.offsets import OffsetMap
from service.core.labels.label_set import ScoreLimits
from service.documents.document import Document
from service.families.processor import Findings, RecordTable
from service.text.pipeline import Prepared, keyword_entities
from service.text.values.context import DocumentContext
from service.text.values.reading import read_values, reading_label

_Labelled = TypeVar("_Labelled", Entity, EntityResult)


def build_result(
    source: DocumentInput, document: Document, request: ExtractRequest, prepared: Prepared, findings: Findings
) -> DocumentResult:
    """The result of one document, in which this was found.

    Fields are chosen from entities of all labels: `labels` says which are listed, not what a document is.
    """
    options, task, text, found = request.options, request.task, document.text, findings.entities
    labels = None if options.labels is None else frozenset(options.labels)
    kept = _scored(found, task.limits)
    if not options.fields:
        kept = _listed(kept, labels)
    by_keyword = _scored(keyword_entities(prepared, found), options.min_score) if options.fields else []
    shown = [*kept, *by_keyword]
    answers = FieldAnswers(document, prepared.context, OffsetMap(text, options.offsets))
    page_starts = [page.start for page in document.pages or ()]
    values = read_values(prepared.context, shown, task.reading_labels, page_starts)
    answered = list(map(answers.entity, shown, values))
    fields = answers.fields(shown, values, answered, by_keyword=len(by_keyword)) if options.fields else msgspec.UNSET
    return DocumentResult(
        id=source.id,
        pages=len(document.pages) if document.pages else None,
        unread_pages=list(document.unread_pages),
        characters=len(text),
        tokens=len(prepared.tokens.ids),
        windows=len(prepared.windows),
        truncated=False,
        entities=_listed(answered[: len(kept)], labels),
        error=None,
        partly_read=[
            PartlyReadResult(each.page, each.reason, list(each.boxes), each.characters) for each in document.partly_read
        ],
        page_sizes=[(round(each.width, 1), round(each.height, 1)) for each in document.pages or ()] or msgspec.UNSET,
        ocr_pages=list(document.recognized) or msgspec.UNSET,
        unread_attachments=list(document.unread_attachments) or msgspec.UNSET,
        charset=document.charset or msgspec.UNSET,
        text=text if options.include_text else msgspec.UNSET,
        fields=fields,
        records=_record_results(findings.records, prepared.context, answers),
    )


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


def _scored(found: list[Entity], limits: ScoreLimits) -> list[Entity]:
    """The entities with at least the score that their label needs."""
    return [each for each in found if limits.keeps(each.label, round(each.score, SCORE_DIGITS))]


def _listed(entities: list[_Labelled], labels: frozenset[str] | None) -> list[_Labelled]:
    """The entities with one of the labels that a request asks for; all of them if it names none."""
    return entities if labels is None else [each for each in entities if each.label in labels]
