"""Builds a document's result from its logits: entities found, filtered by the options, placed on pages."""

from __future__ import annotations

import msgspec

from service.api.engine.pending import InferenceResult
from service.api.extraction.field_answer import answer_fields
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import DocumentResult, EntityResult, FieldsResult
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.offsets import OffsetMap
from service.core.decoding.value import Value
from service.documents.document import Document
from service.text.pipeline import MarkedWords, Prepared, apply_rules, decode_marked, decode_merged
from service.text.tokenizer import TextTokenizer
from service.text.values.reading import read_values

SCORE_DIGITS = 6
"""Digits of a score in the answer; `min_score` is compared with the rounded score."""


def build_result(
    source: DocumentInput,
    document: Document,
    request: ExtractRequest,
    prepared: Prepared,
    found: list[Entity],
) -> DocumentResult:
    """The result of one document, in which these entities were found."""
    options, text = request.options, document.text
    offsets = OffsetMap(text, options.offsets)
    labels = None if options.labels is None else frozenset(options.labels)
    kept = [
        each
        for each in found
        if options.min_score.keeps(each.label, round(each.score, SCORE_DIGITS))
        and (labels is None or each.label in labels)
    ]
    values = read_values(text, kept)
    entities = [_entity(each, value, document, offsets) for each, value in zip(kept, values, strict=True)]
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
        text=text if options.include_text else msgspec.UNSET,
        fields=_fields(found, request, document, offsets) if options.fields else msgspec.UNSET,
    )


def find_entities(
    source: DocumentInput,
    document: Document,
    tokenizer: TextTokenizer,
    prepared: Prepared,
    words: MarkedWords | None,
    inference: InferenceResult,
    request: ExtractRequest,
) -> list[Entity]:
    """The entities of one document; `words`: those whose tags were asked for.

    Rules belong to `constrained`; the other strategies give what transformers' pipeline gives.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    labels, options = request.model.labels, request.options
    if request.decoder is not None:
        return request.decoder(source, document, tokenizer, prepared, inference.logits)
    if words is None:
        found = decode_merged(tokenizer, prepared, inference.logits, labels, options.aggregation)
    else:
        scores = inference.logits if inference.tags is None else inference.tags
        found = decode_marked(tokenizer, prepared, words, scores, labels)
    if options.aggregation is not Aggregation.CONSTRAINED:
        return found
    return apply_rules(tokenizer, prepared.text, found, labels, options.labels or ())


def _fields(
    found: list[Entity], request: ExtractRequest, document: Document, offsets: OffsetMap
) -> FieldsResult | None:
    """The fields, chosen from entities of all labels: `labels` says which are listed, not what a document is."""
    kept = [each for each in found if request.options.min_score.keeps(each.label, round(each.score, SCORE_DIGITS))]
    values = read_values(document.text, kept)
    entities = [_entity(each, value, document, offsets) for each, value in zip(kept, values, strict=True)]
    return answer_fields(document, kept, values, entities)


def _entity(entity: Entity, value: Value, document: Document, offsets: OffsetMap) -> EntityResult:
    return EntityResult(
        label=entity.label,
        text=entity.text,
        start=offsets[entity.start],
        end=offsets[entity.end],
        score=round(entity.score, SCORE_DIGITS),
        value=value.text,
        page=document.page_at(entity.start),
        boxes=document.boxes(entity.start, entity.end),
        kind=value.kind,
        source=entity.source,
        valid=msgspec.UNSET if value.valid is None else value.valid,
        ambiguous=list(value.ambiguous) or msgspec.UNSET,
        number=msgspec.UNSET if value.number is None else format(value.number, "f"),
        unit=msgspec.UNSET if value.unit is None else value.unit,
    )
