"""Result of a document: entities found in its logits, filtered by the options, placed on pages, and its fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from service.api.engine.pending import InferenceResult
from service.api.extraction.request import DocumentInput, ExtractRequest
from service.api.schemas import (
    CheckResult,
    DocumentResult,
    EducationResult,
    EntityResult,
    FieldResult,
    FieldsResult,
    JobResult,
    LineItemResult,
    PartlyReadResult,
)
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.decoding.offsets import OffsetMap
from service.core.decoding.value import Value
from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.kinds import DocumentKind
from service.core.fields.mentions import Choice, Mention
from service.core.score_limits import ScoreLimits
from service.documents.document import Document
from service.text.pipeline import Prepared, WordStarts, apply_rules, decode_merged, decode_word_scores, keyword_entities
from service.text.tokenizer import TextTokenizer
from service.text.values.reading import read_values


def answer_fields(
    document: Document,
    found: Sequence[Entity],
    values: Sequence[Value],
    answered: Sequence[EntityResult],
    *,
    by_keyword: int = 0,
) -> FieldsResult | None:
    """The fields of a document with these entities; None where no kind of document fits them.

    Args:
        found: in order.
        values: one of each.
        answered: the same as they are answered.
        by_keyword: how many of the last ones are values of the key-value fallback, not entities; in their own order.
    """
    count = len(found) - by_keyword
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
            tuple(said.boxes),
            by_keyword=index >= count,
        )
        for index, (each, value, said) in enumerate(zip(found, values, answered, strict=True))
    ]
    fields = find_fields(document.text, mentions[:count], mentions[count:])
    return None if fields is None else _answer(fields, answered)


def _answer(found: DocumentFields, entities: Sequence[EntityResult]) -> FieldsResult:
    def of(mention: Mention | None) -> EntityResult | None:
        return None if mention is None else entities[mention.entity]

    def all_of(mentions: Sequence[Mention]) -> list[EntityResult]:
        return [entities[mention.entity] for mention in mentions]

    def role(choice: Choice) -> FieldResult:
        best = entities[choice.best.entity]
        chosen = {name: getattr(best, name) for name in EntityResult.__struct_fields__}
        return FieldResult(**chosen, reason=choice.reason, alternatives=all_of(choice.alternatives))

    common = FieldsResult(
        kind=found.found.kind,
        evidence=found.found.evidence,
        roles={name: role(choice) for name, choice in found.roles.items()},
    )
    if found.found.kind is DocumentKind.RESUME:
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
    return msgspec.structs.replace(
        common,
        currency=found.currency,
        line_items=[
            LineItemResult(entities[each.description.entity], of(each.quantity), of(each.unit_price), of(each.amount))
            for each in found.line_items
        ],
        checks=[CheckResult(each.rule, each.holds, str(each.difference)) for each in found.checks],
        bills=found.bills,
    )


SCORE_DIGITS = 6
"""Digits of a score in the answer; `min_score` is compared with the rounded score."""

_Labelled = TypeVar("_Labelled", Entity, EntityResult)


def build_result(
    source: DocumentInput,
    document: Document,
    request: ExtractRequest,
    prepared: Prepared,
    found: list[Entity],
) -> DocumentResult:
    """The result of one document, in which these entities were found.

    Fields are chosen from entities of all labels: `labels` says which are listed, not what a document is.
    """
    options, text = request.options, document.text
    labels = None if options.labels is None else frozenset(options.labels)
    kept = _scored(found, options.min_score)
    if not options.fields:
        kept = _listed(kept, labels)
    by_keyword = _scored(keyword_entities(prepared, found), options.min_score) if options.fields else []
    shown, offsets = [*kept, *by_keyword], OffsetMap(text, options.offsets)
    values = read_values(prepared.context, shown)
    answered = [_entity(each, value, document, offsets) for each, value in zip(shown, values, strict=True)]
    fields = (
        answer_fields(document, shown, values, answered, by_keyword=len(by_keyword))
        if options.fields
        else msgspec.UNSET
    )
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
        charset=document.charset or msgspec.UNSET,
        text=text if options.include_text else msgspec.UNSET,
        fields=fields,
    )


def find_entities(
    source: DocumentInput,
    document: Document,
    tokenizer: TextTokenizer,
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


def _scored(found: list[Entity], limits: ScoreLimits) -> list[Entity]:
    """The entities with at least the score that is wanted of their label."""
    return [each for each in found if limits.keeps(each.label, round(each.score, SCORE_DIGITS))]


def _listed(entities: list[_Labelled], labels: frozenset[str] | None) -> list[_Labelled]:
    """The entities with one of the labels that a request asks for; all of them if it names none."""
    return entities if labels is None else [each for each in entities if each.label in labels]


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
