"""GLiNER2's API, as its `GLiNER2API` speaks it: entities by label, of one text or several.

    POST /gliner-2 and /{model}/gliner-2    {"task", "text": text or texts, "schema", "threshold"?, …} → {"result": …}

Of its tasks entities are answered: `extract_entities`, and a `schema` that asks for nothing else. Source: gliner2 2.1
(`api_client.py`, `inference/runtime.py`: how answers are formatted).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.gliner import labels_body
from service.api.adapters.gliner_bodies import EntityType, Gliner2Request
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
from service.api.calls import authorize_request
from service.api.http.response import DocumentOutcome
from service.api.schemas import DocumentResult, EntityResult
from service.core.decoding.spans import Overlaps


async def _answer(request: Request, model: str | None = None) -> Response:
    context = authorize_request(request)
    asked = await decode_body(await receive_body(request, context), context, Gliner2Request)
    kinds = asked.entity_types()
    labels = {name: {"description": each.description, "min_score": each.threshold} for name, each in kinds.items()}
    body = labels_body(context, asked.texts, model, Overlaps.PER_LABEL, labels=labels, min_score=asked.threshold)
    call = context.call(body)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [_spelled(each, kinds, asked) for each in results(outcomes)]
        return {"result": found[0] if isinstance(asked.text, str) else found}

    return await respond(request, call, render)


def _spelled(document: DocumentResult, kinds: Mapping[str, EntityType], asked: Gliner2Request) -> dict[str, Any]:
    """A document's entities by label, the surest first; without their places each text once, in any case."""
    found: dict[str, dict[object, EntityResult]] = {name: {} for name in kinds}
    for each in sorted(document.entities, key=lambda each: -each.score):
        is_told_apart = asked.include_spans or not asked.format_results
        found[each.label].setdefault(each.start if is_told_apart else each.text.lower(), each)
    spelled = {
        name: next((_entity(each, asked) for each in found[name].values()), None)
        if kind.dtype == "str"
        else [_entity(each, asked) for each in found[name].values()]
        for name, kind in kinds.items()
    }
    return {"entities": spelled if asked.format_results else [spelled]}


def _entity(entity: EntityResult, asked: Gliner2Request) -> str | dict[str, Any]:
    more: dict[str, Any] = {"confidence": entity.score} if asked.include_confidence else {}
    if asked.include_spans:
        more |= {"start": entity.start, "end": entity.end}
    return {"text": entity.text, **more} if more else entity.text


_ANSWER = {"type": "object", "required": ["result"]}
_OPERATION = operation(
    "GLiNER2: entities by label",
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
