"""Hugging Face token classification, as `huggingface_hub.InferenceClient` and hosted endpoints speak it.

    POST / and /models/{name}    {"inputs": text or texts, "parameters": {…}} → entities in transformers' spelling

Texts of any length are read in overlapping windows whether or not `stride` asks for that; how far windows overlap is
the service's setting. Source: huggingface_hub 2.4 (`inference/_client.py`), transformers' pipeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.protocol_adapter import (
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
from service.api.http.response import DocumentOutcome
from service.core.arrays import Logits
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Entity
from service.core.errors import GleanerError, InvalidOptions, NotReady
from service.documents.document import Document
from service.text.pipeline import Prepared
from service.text.token_classification import TokenGroup, classify
from service.text.tokenizer import TextTokenizer

Strategy = Literal["none", "simple", "first", "average", "max"]


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of the pipeline beside its inputs; a null is as good as nothing."""

    aggregation_strategy: Strategy | None = None
    ignore_labels: list[str] | None = None
    stride: Annotated[int, msgspec.Meta(ge=0, lt=1 << 20)] | None = None


class TokenClassificationInput(msgspec.Struct, frozen=True):
    """A request's body; older clients also send `options`, which say nothing of the answer."""

    inputs: str | list[str]
    parameters: Parameters | None = None

    @property
    def texts(self) -> Sequence[str]:
        """The inputs as a list."""
        return (self.inputs,) if isinstance(self.inputs, str) else self.inputs


class GroupEntity(msgspec.Struct, frozen=True):
    """An entity of tokens that were put together."""

    entity_group: str
    score: float
    word: str
    start: int
    end: int


class TokenEntity(msgspec.Struct, frozen=True):
    """A token with its label, of the strategy `none`."""

    entity: str
    score: float
    index: int
    word: str
    start: int
    end: int


class PipelineDecoder:
    """Decodes the documents of one request as the pipeline does, and keeps what it found by document."""

    reads_as_written = True

    def __init__(self, asked: Parameters, labels: tuple[str, ...], default: Strategy) -> None:
        strategy = asked.aggregation_strategy or default
        self._strategy = None if strategy == "none" else Aggregation(strategy)
        self._ignored = frozenset(("O",) if asked.ignore_labels is None else asked.ignore_labels)
        self._labels = labels
        self._found: dict[str, list[TokenGroup]] = {}
        if self._strategy is None and asked.stride is not None:
            raise InvalidOptions("`stride` puts windows together, which aggregation_strategy `none` does not.")

    def __call__(
        self, id_: str, _: Document, tokenizer: TextTokenizer, prepared: Prepared, logits: Logits, /
    ) -> list[Entity]:
        """The entities of a document, also as plain ones."""
        found = classify(tokenizer, prepared, logits, self._labels, self._strategy, self._ignored)
        self._found[id_] = found
        return [
            Entity(each.label, prepared.text[each.start : each.end], each.start, each.end, each.score) for each in found
        ]

    def spelled(self, document: str) -> list[GroupEntity] | list[TokenEntity]:
        """What was found in a document."""
        found = self._found.get(document, [])
        if self._strategy is None:
            return [TokenEntity(e.label, e.score, e.index, e.word, e.start, e.end) for e in found]
        return [GroupEntity(e.label, e.score, e.word, e.start, e.end) for e in found]


async def classify_tokens(
    request: Request, context: RequestContext, body: bytes, *, model: str | None, default: Strategy
) -> Response:
    """The answer to a body with `inputs`; `default`: the strategy where none is asked for."""
    wanted = decode_body(body, context, TokenClassificationInput)
    parameters = wanted.parameters or Parameters()
    texts = text_body(wanted.texts, context, **({"model": model} if model else {}))
    decoder = PipelineDecoder(parameters, context.model(texts).labels, default)
    call = context.call(texts, decoder=decoder)
    single = isinstance(wanted.inputs, str)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [decoder.spelled(each.id) for each in results(outcomes)]
        return found[0] if single else found

    return await respond(request, call, render)


async def _classify(request: Request, model: str | None = None) -> Response:
    context = authorize_request(request)
    return await classify_tokens(request, context, await receive_body(request, context), model=model, default="simple")


def refuse(error: GleanerError) -> Response:
    """An error as Hugging Face's endpoints put it; a service that still loads says for how long."""
    said: dict[str, Any] = {"error": problems.problem(error)["detail"], "error_type": error.code}
    if isinstance(error, NotReady):
        said["estimated_time"] = float(problems.retry_after_seconds(error))
    return refusal(error, said)


_ENTITY = {"anyOf": [json_schemas.of(GroupEntity), json_schemas.of(TokenEntity)]}
ANSWER_SCHEMA = {"type": "array", "items": {"anyOf": [_ENTITY, {"type": "array", "items": _ENTITY}]}}
BODY_SCHEMA = json_schemas.of(TokenClassificationInput)
ERROR_SCHEMA = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
_OPERATION = operation(
    "Hugging Face: token classification",
    body={JSON: BODY_SCHEMA},
    answer={JSON: ANSWER_SCHEMA},
    error={JSON: ERROR_SCHEMA},
)

ADAPTER = ProtocolAdapter(
    "huggingface",
    (
        AdapterRoute("POST", "/", _classify, _OPERATION),
        AdapterRoute("POST", "/models/{model:path}", _classify, with_parameters(_OPERATION, "model")),
    ),
    refuse,
)
