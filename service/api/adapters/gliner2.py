"""GLiNER2's API, as its `GLiNER2API` speaks it: entities by label, or records, of one text or several.

    POST /gliner-2 and /{model}/gliner-2    {"task", "text": text or texts, "schema", "threshold"?, …} → {"result": …}

Of its tasks `extract_entities` and `extract_json` are answered, and a `schema` that asks for one of them. Source:
gliner2 2.1 (`api_client.py`, `inference/runtime.py`: what a field asks for, and how answers are formatted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.gliner import labels_body
from service.api.adapters.gliner_bodies import EntityType, FieldSpec, Gliner2Request
from service.api.adapters.protocol_adapter import (
    JSON,
    AdapterRoute,
    ProtocolAdapter,
    decode_body,
    operation,
    receive_body,
    respond,
    results,
    with_parameters,
)
from service.api.calls import RequestContext, authorize_request
from service.api.http.response import DocumentOutcome
from service.api.schemas import DocumentResult, EntityResult
from service.core.decoding.spans import Overlaps


async def _answer(request: Request, model: str | None = None) -> Response:
    context = authorize_request(request)
    asked = await decode_body(await receive_body(request, context), context, Gliner2Request)
    if (structures := asked.structures()) is not None:
        return await _answer_records(request, context, asked, structures, model)
    kinds = asked.entity_types()
    labels = {name: {"description": each.description, "min_score": each.threshold} for name, each in kinds.items()}
    body = labels_body(context, asked.texts, model, Overlaps.PER_LABEL, labels=labels, min_score=asked.threshold)
    call = context.call(body)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [_spelled(each, kinds, asked) for each in results(outcomes)]
        return {"result": found[0] if isinstance(asked.text, str) else found}

    return await respond(request, call, render)


async def _answer_records(
    request: Request,
    context: RequestContext,
    asked: Gliner2Request,
    structures: Mapping[str, Sequence[FieldSpec]],
    model: str | None,
) -> Response:
    schema = {name: [each.option() for each in fields] for name, fields in structures.items()}
    body = labels_body(context, asked.texts, model, Overlaps.FLAT, schema=schema, min_score=asked.threshold)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [_spelled_records(each, structures, asked) for each in results(outcomes)]
        return {"result": found[0] if isinstance(asked.text, str) else found}

    return await respond(request, context.call(body), render)


def _spelled_records(
    document: DocumentResult, structures: Mapping[str, Sequence[FieldSpec]], asked: Gliner2Request
) -> dict[str, Any]:
    """A document's records of the kinds that it has some of."""
    assert isinstance(document.records, dict), "they were asked for"
    spelled: dict[str, Any] = {}
    for name, found in document.records.items():
        fields = structures[name]
        for each in found:
            sure = {"confidence": each.score} if asked.include_confidence else {}
            values = {field.name: _values(each.fields[field.name], asked, one=field.is_one) for field in fields}
            spelled.setdefault(name, []).append({**values, **sure})
    return spelled


def _values(found: Sequence[EntityResult], asked: Gliner2Request, *, one: bool) -> Any:
    """The values of a field, the surest first; without their places each text once, in any case."""
    is_told_apart = asked.include_spans or not asked.format_results
    unique: dict[object, EntityResult] = {}
    for each in sorted(found, key=lambda each: -each.score):
        unique.setdefault((each.start, each.end) if is_told_apart else each.text.lower(), each)
    spelled = [_entity(each, asked) for each in unique.values()]
    return next(iter(spelled), None) if one else spelled


def _spelled(document: DocumentResult, kinds: Mapping[str, EntityType], asked: Gliner2Request) -> dict[str, Any]:
    """A document's entities by label, the surest first; without their places each text once, in any case."""
    found: dict[str, list[EntityResult]] = {name: [] for name in kinds}
    for each in document.entities:
        found[each.label].append(each)
    spelled = {name: _values(found[name], asked, one=kind.dtype == "str") for name, kind in kinds.items()}
    return {"entities": spelled if asked.format_results else [spelled]}


def _entity(entity: EntityResult, asked: Gliner2Request) -> str | dict[str, Any]:
    more: dict[str, Any] = {"confidence": entity.score} if asked.include_confidence else {}
    if asked.include_spans:
        more |= {"start": entity.start, "end": entity.end}
    return {"text": entity.text, **more} if more else entity.text


_ANSWER = {"type": "object", "required": ["result"]}
_OPERATION = operation(
    "GLiNER2: entities by label, or records",
    body={JSON: json_schemas.of(Gliner2Request)},
    answer={JSON: _ANSWER},
    error={problems.MEDIA_TYPE: json_schemas.reference("Error")},
)

ADAPTER = ProtocolAdapter(
    "gliner2",
    (
        AdapterRoute("POST", "/gliner-2", _answer, _OPERATION),
        AdapterRoute("POST", "/{model:path}/gliner-2", _answer, with_parameters(_OPERATION, "model")),
    ),
    problems.response,
    bodies=(Gliner2Request,),
)
