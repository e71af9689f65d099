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
from service.core.decoding.entities import Entity
from service.core.decoding.value import Value
from service.core.fields.choice import Choice
from service.core.fields.document_fields import DocumentFields, find_fields
from service.core.fields.kinds import DocumentKind
from service.core.fields.mention import Mention
from service.documents.document import Document


def answer_fields(
    document: Document,
    found: Sequence[Entity],
    values: Sequence[Value],
    answered: Sequence[EntityResult],
    *,
    written: int = 0,
) -> FieldsResult | None:
    """The fields of a document with these entities; None where no kind of document fits them.

    Args:
        found: in order.
        values: one of each.
        answered: the same as they are answered.
        written: so many of the last ones, in an order of their own, are no entities, but written where a role has them.
    """
    count = len(found) - written
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
            written=index >= count,
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
