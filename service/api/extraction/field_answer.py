"""A document's fields as they are answered: the entities that were chosen, each as it stands in `entities`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.api.schemas import (
    CheckResult,
    EducationResult,
    EntityResult,
    FieldResult,
    FieldsResult,
    JobResult,
    LineItemResult,
)
from service.core.fields.choice import Choice
from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.kinds import DocumentKind
from service.core.fields.mention import Mention
from service.documents.document import Document


def answer_fields(document: Document, entities: Sequence[EntityResult], starts: Sequence[int]) -> FieldsResult | None:
    """The fields of a document with these entities; None where no kind of document fits them.

    Args:
        entities: in order, as they are answered.
        starts: where each begins in the text, in code points.
    """
    mentions = [
        Mention(index, each.label, each.text, start, start + len(each.text), each.score, each.page, tuple(each.boxes))
        for index, (each, start) in enumerate(zip(entities, starts, strict=True))
    ]
    found = find_fields(document.text, mentions)
    return None if found is None else _answer(found, entities)


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
            jobs=[JobResult(of(each.what), of(each.where), all_of(each.dates)) for each in found.jobs],
            educations=[
                EducationResult(of(each.what), of(each.where), all_of(each.dates)) for each in found.educations
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
    )
