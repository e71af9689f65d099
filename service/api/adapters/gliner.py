"""GLiNER's server, as its `GLiNERClient` speaks it: entities of any label in a text.

    POST /gliner, /gliner/{model}    {"text", "labels", "threshold"?, "flat_ner"?, "multi_label"?} → {"entities": […]}

Texts of any length are read in full. Relations and LoRA adapters are refused. Source: gliner 0.2.29 (`serve/client.py`,
`serve/server.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.protocol_adapter import (
    ERROR_TEXT,
    JSON,
    AdapterRoute,
    ProtocolAdapter,
    decode_body,
    operation,
    receive_body,
    refusal,
    respond,
    results,
    text_body,
    with_parameters,
)
from service.api.calls import RequestContext, authorize_request
from service.api.http.request_body import Body
from service.api.http.response import DocumentOutcome
from service.core.decoding.spans import Overlaps
from service.core.errors import GleanerError, InvalidOptions
from service.core.labels.label_set import DEFAULT_LIMIT
from service.wire import SERVING

_OVERLAPS = {
    (True, False): Overlaps.FLAT,
    (False, False): Overlaps.NESTED,
    (True, True): Overlaps.FLAT_MULTI_LABEL,
    (False, True): Overlaps.NESTED_MULTI_LABEL,
}
"""Overlaps by `flat_ner` and `multi_label`."""


Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class GlinerRequest(msgspec.Struct, frozen=True):
    """A body of GLiNER's server. `labels`: names, or each name with a description."""

    text: str
    labels: list[str] | dict[str, str]
    threshold: Score | None = None
    flat_ner: bool = True
    multi_label: bool = False
    relations: list[str] | None = None
    adapter_id: str | None = None


class GlinerEntity(msgspec.Struct, frozen=True):
    """One entity of an answer."""

    start: int
    end: int
    text: str
    label: str
    score: float


class GlinerAnswer(msgspec.Struct, frozen=True):
    """An answer, in the order of the text."""

    entities: list[GlinerEntity]


def labels_body(
    context: RequestContext, texts: Sequence[str], model: str | None, overlaps: Overlaps, **options: Any
) -> Body:
    """The texts as documents with these options; without a model's name for the first that takes labels, or records.

    Entities of a model that has its own labels never overlap.
    """
    extractor = context.state.worker.extractor
    served = (each for each in context.state.worker.engine.status.models if each.state == SERVING)
    prompt = "schema" if "schema" in options else "labels"
    able = (each.name for each in served if extractor.processor(each).takes(prompt, each))
    named = model or next(able, None)
    body = text_body(texts, context, model=named, **options)
    chosen = context.model(body)
    if extractor.processor(chosen).takes("overlaps", chosen):
        return text_body(texts, context, model=named, overlaps=overlaps, **options)
    return body


async def _find(request: Request, model: str | None = None) -> Response:
    context = authorize_request(request)
    asked = decode_body(await receive_body(request, context), context, GlinerRequest)
    for name in ("relations", "adapter_id"):
        if getattr(asked, name):
            raise InvalidOptions(f"{name}: there are none here; entities alone are found.")
    body = labels_body(
        context,
        (asked.text,),
        model,
        _OVERLAPS[asked.flat_ner, asked.multi_label],
        labels=asked.labels,
        min_score=DEFAULT_LIMIT if asked.threshold is None else asked.threshold,
    )

    def render(outcomes: list[DocumentOutcome]) -> GlinerAnswer:
        (found,) = results(outcomes)
        return GlinerAnswer([GlinerEntity(e.start, e.end, e.text, e.label, e.score) for e in found.entities])

    return await respond(request, context.call(body), render)


def refuse(error: GleanerError) -> Response:
    """An error as GLiNER's server puts it."""
    return refusal(error, {"error": problems.problem(error)["detail"]})


_OPERATION = operation(
    "GLiNER: entities of any label",
    body={JSON: json_schemas.of(GlinerRequest)},
    answer={JSON: json_schemas.of(GlinerAnswer)},
    error=ERROR_TEXT,
)

ADAPTER = ProtocolAdapter(
    "gliner",
    (
        AdapterRoute("POST", "/gliner", _find, _OPERATION),
        AdapterRoute("POST", "/gliner/{model:path}", _find, with_parameters(_OPERATION, "model")),
    ),
    refuse,
)
