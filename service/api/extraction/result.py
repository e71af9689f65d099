"""Builds a document's result from its logits: entities found, filtered by the options, placed on pages."""

from __future__ import annotations

import msgspec

from service.api.engine.pending import InferenceResult
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import DocumentResult, EntityResult
from service.core.decoding.entities import Entity
from service.core.decoding.normalize import normalize
from service.core.decoding.offsets import OffsetMap
from service.documents.document import Document
from service.text.pipeline import MarkedWords, Prepared, decode_marked, decode_merged
from service.text.tokenizer import TextTokenizer

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
    scored = ((each, round(each.score, SCORE_DIGITS)) for each in found)
    labels = None if options.labels is None else frozenset(options.labels)
    entities = [
        _entity(each, score, document, offsets)
        for each, score in scored
        if score >= options.min_score and (labels is None or each.label in labels)
    ]
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

    Raises:
        ModelError: the logits are not finite numbers.
    """
    labels = request.model.labels
    if request.decoder is not None:
        return request.decoder(source, document, tokenizer, prepared, inference.logits)
    if words is None:
        return decode_merged(tokenizer, prepared, inference.logits, labels, request.options.aggregation)
    return decode_marked(prepared, words, inference.logits if inference.tags is None else inference.tags, labels)


def _entity(entity: Entity, score: float, document: Document, offsets: OffsetMap) -> EntityResult:
    return EntityResult(
        label=entity.label,
        text=entity.text,
        start=offsets[entity.start],
        end=offsets[entity.end],
        score=score,
        value=normalize(entity.label, entity.text),
        page=document.page_at(entity.start),
        boxes=document.boxes(entity.start, entity.end),
    )
