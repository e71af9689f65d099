"""Result of a document: entities found in its logits, filtered by the options, placed on pages, and its fields."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from service.api.engine.resubmission import InferenceResult
from service.api.extraction.field_answers import SCORE_DIGITS, FieldAnswers
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import DocumentResult, EntityResult, PartlyReadResult, RecordResult
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.offsets import OffsetMap
from service.core.labels.label_set import LabelSet
from service.core.score_limits import ScoreLimits
from service.documents.document import Document
from service.text.pipeline import Prepared, WordStarts, apply_rules, decode_merged, decode_word_scores, keyword_entities
from service.text.tokenizer import TextTokenizer
from service.text.tokenizers import ModelTokenizer
from service.text.values.reading import read_values, reading_label, reading_labels
from service.text.words.word_tokenizer import PreparedWords, Record, decode_records, decode_spans

_Labelled = TypeVar("_Labelled", Entity, EntityResult)


def build_result(
    source: DocumentInput,
    document: Document,
    request: ExtractRequest,
    prepared: Prepared,
    found: list[Entity],
    records: list[Record] | None = None,
) -> DocumentResult:
    """The result of one document, in which these entities were found, or these records, if they are asked for.

    Fields are chosen from entities of all labels: `labels` says which are listed, not what a document is.
    """
    options, text = request.options, document.text
    labels = None if options.labels is None else frozenset(options.labels)
    kept = _scored(found, options.min_score) if request.labels is None else found  # Which have limits of their own.
    if not options.fields:
        kept = _listed(kept, labels)
    by_keyword = _scored(keyword_entities(prepared, found), options.min_score) if options.fields else []
    shown = [*kept, *by_keyword]
    answers = FieldAnswers(document, prepared.context, OffsetMap(text, options.offsets))
    values = read_values(prepared.context, shown, reading_labels(request.labels))
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
        partly_read=[PartlyReadResult(each.page, each.reason, list(each.boxes)) for each in document.partly_read],
        page_sizes=[(round(each.width, 1), round(each.height, 1)) for each in document.pages or ()] or msgspec.UNSET,
        ocr_pages=list(document.recognized) or msgspec.UNSET,
        unread_attachments=list(document.unread_attachments) or msgspec.UNSET,
        charset=document.charset or msgspec.UNSET,
        text=text if options.include_text else msgspec.UNSET,
        fields=fields,
        records=msgspec.UNSET if records is None else _record_results(records, request.labels, prepared, answers),
    )


def find_entities(
    source: DocumentInput,
    document: Document,
    tokenizer: ModelTokenizer,
    prepared: Prepared,
    words: WordStarts | None,
    inference: InferenceResult,
    request: ExtractRequest,
) -> list[Entity]:
    """The entities of one document; `words`: those whose tags were asked for.

    Rules belong to `constrained`; the other strategies give what transformers' pipeline gives.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    labels, options = request.model.labels, request.options
    if request.wants_records:
        return []
    if request.labels is not None:
        assert isinstance(prepared, PreparedWords), "as its tokenizer prepares it"
        return decode_spans(prepared, inference.spans, request.labels)
    assert isinstance(tokenizer, TextTokenizer), "labels are free where it is none"
    if request.decoder is not None:
        return request.decoder(source, document, tokenizer, prepared, inference.logits)
    if words is None:
        found = decode_merged(tokenizer, prepared, inference.logits, labels, options.aggregation)
    else:
        scores = inference.logits if inference.tags is None else inference.tags
        found = decode_word_scores(tokenizer, prepared, words, scores, labels)
    if options.aggregation is not Aggregation.CONSTRAINED:
        return found
    return apply_rules(tokenizer, prepared, found, labels, options.labels or ())


def find_records(prepared: Prepared, inference: InferenceResult, request: ExtractRequest) -> list[Record] | None:
    """The records of one document; None where none are asked for."""
    if request.labels is None or not request.wants_records:
        return None
    assert isinstance(prepared, PreparedWords), "as its tokenizer prepares it"
    return decode_records(prepared, inference.spans, request.labels)


def _record_results(
    records: list[Record], labels: LabelSet | None, prepared: Prepared, answers: FieldAnswers
) -> dict[str, list[RecordResult]]:
    """The answers of records, by kind; a value is read as the words of its field, or the request, say."""
    assert labels is not None, "they are its kinds"
    results: dict[str, list[RecordResult]] = {}
    for kind in labels.records:
        fields = [labels.labels[number] for number in kind.fields]
        readings = [{each.name: reading_label(each)} for each in fields]
        results[kind.name] = [
            RecordResult(
                round(record.score, SCORE_DIGITS),
                {
                    field.name: list(map(answers.entity, found, read_values(prepared.context, found, reading)))
                    for field, found, reading in zip(fields, record.fields, readings, strict=True)
                },
            )
            for record in records
            if record.kind == kind.name
        ]
    return results


def _scored(found: list[Entity], limits: ScoreLimits) -> list[Entity]:
    """The entities with at least the score that is wanted of their label."""
    return [each for each in found if limits.keeps(each.label, round(each.score, SCORE_DIGITS))]


def _listed(entities: list[_Labelled], labels: frozenset[str] | None) -> list[_Labelled]:
    """The entities with one of the labels that a request asks for; all of them if it names none."""
    return entities if labels is None else [each for each in entities if each.label in labels]
