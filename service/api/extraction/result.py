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
from service.text.pipeline import Prepared, decode_merged
from service.text.tokenizer import TextTokenizer

SCORE_DIGITS = 6
"""Digits of a score in the answer; `min_score` is compared with the rounded score."""


def build_result(
    source: DocumentInput,
    document: Document,
    request: ExtractRequest,
    tokenizer: TextTokenizer,
    prepared: Prepared,
    inference: InferenceResult,
) -> DocumentResult:
    """The result of one document.

    Raises:
        ModelError: the logits are not finite numbers.
    """
    options, text = request.options, document.text
    found = decode_merged(tokenizer, prepared, inference.logits, request.model.labels, options.aggregation)
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
