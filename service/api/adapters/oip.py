"""The Open Inference Protocol v2 over REST, as KServe's and Triton's clients speak it.

    GET  /v2, /v2/health/live, /v2/health/ready
    GET  /v2/models/{model}[/versions/{version}][/ready]
    POST /v2/models/{model}[/versions/{version}]/infer

    input    `text`      BYTES [n] or [n, 1]    one text each, in UTF-8
    output   `entities`  BYTES, same shape      one JSON list each, of entities as /extract has them

A version is a revision (`sha256:…`) or a tag. Tensors come and go as JSON, or in binary behind it, which Triton's
clients ask for by default. Source: the specification (`inference_rest.md`) and its binary tensor data extension.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import problems
from service.api.adapters.oip_bodies import InferBody
from service.api.adapters.protocol_adapter import (
    BINARY,
    ERROR_TEXT,
    JSON,
    AdapterRoute,
    AnswerContent,
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
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.engine.routing import find_model, is_serving
from service.api.http.request_body import SHORT_BYTES
from service.api.http.response import DocumentOutcome
from service.api.options import Options
from service.api.schemas import DocumentResult
from service.core.errors import GleanerError, InvalidOptions, MalformedRequest, Overloaded
from service.environment import distribution_version
from service.wire import FAILED, ModelStatus

OCTETS = "application/octet-stream"
JSON_BYTES = "Inference-Header-Content-Length"
"""The header that says how much of a body is JSON; tensors in binary follow."""
INPUT, OUTPUT, DATATYPE = "text", "entities", "BYTES"
EXTENSIONS = ("binary_tensor_data",)
_LENGTH_BYTES = 4
_CLIENTS_OWN = frozenset(
    ("binary_data_output", "sequence_id", "sequence_start", "sequence_end", "priority", "timeout", "headers")
)
"""Parameters that are not options: what Triton's clients send of their own accord."""


MOST_MICROSECONDS = 10**12


@dataclass(frozen=True, slots=True)
class InferInput:
    """The texts of one request, and their tensor's shape."""

    texts: Sequence[str]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InferRequest:
    """A request for entities."""

    model: str
    version: str
    input: InferInput
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """The model as options name it; a version is a revision or a tag."""
        return f"{self.model}@{self.version}" if self.version else self.model

    @property
    def options(self) -> dict[str, Any]:
        """The parameters that are options.

        Raises:
            InvalidOptions: one that is neither.
        """
        known = Options.model_fields.keys()
        strange = self.parameters.keys() - known - _CLIENTS_OWN
        if strange or "model" in self.parameters:
            raise InvalidOptions(f"There is no parameter {min(strange or {'model'})[:60]!r}.")
        return {name: value for name, value in self.parameters.items() if name in known - _CLIENTS_OWN}

    @property
    def timeout_seconds(self) -> float | None:
        """Triton's `timeout`, which is in microseconds; None without one."""
        value = self.parameters.get("timeout")
        return min(value, MOST_MICROSECONDS) / 1e6 if isinstance(value, int) and value > 0 else None


def read_input(name: str, datatype: str, shape: Sequence[int], texts: Sequence[bytes | str]) -> InferInput:
    """The one input of a request.

    Raises:
        MalformedRequest: its name, its type or its shape is another one, or a text is not UTF-8.
    """
    if (name, datatype) != (INPUT, DATATYPE):
        raise MalformedRequest(f"The input is `{INPUT}` of {DATATYPE}, not {name[:40]!r} of {datatype[:20]!r}.")
    if len(shape) not in (1, 2) or any(size < 0 for size in shape) or math.prod(shape) != len(texts):
        raise MalformedRequest(f"The shape {list(shape)[:8]} is not that of {len(texts)} texts.")
    try:
        return InferInput([text if isinstance(text, str) else text.decode() for text in texts], tuple(shape))
    except UnicodeDecodeError:
        raise MalformedRequest("A text is not UTF-8.") from None


def split_bytes(data: bytes, most: int, at: int = 0) -> list[bytes]:
    """The elements of a BYTES tensor in binary from `at` on: each with its length before it, 32 bits, little-endian.

    Raises:
        MalformedRequest: a length points beyond the data, or there are more than `most` elements.
    """
    found = list[bytes]()
    while at < len(data):
        size = int.from_bytes(data[at : at + _LENGTH_BYTES], "little")
        start, at = at + _LENGTH_BYTES, at + _LENGTH_BYTES + size
        if start > len(data) or at > len(data) or len(found) == most:
            raise MalformedRequest(f"The binary data is not that of at most {most} texts.")
        found.append(data[start:at])
    return found


def joined_bytes(elements: Sequence[bytes]) -> bytes:
    """A BYTES tensor in binary."""
    return b"".join(part for each in elements for part in (len(each).to_bytes(_LENGTH_BYTES, "little"), each))


def entities_json(results: Sequence[DocumentResult]) -> list[bytes]:
    """The elements of the output."""
    return [msgspec.json.encode(each.entities) for each in results]


def sentence(error: GleanerError) -> str:
    """An error in words, with the hint that Triton's clients do not show otherwise."""
    said = problems.problem(error)["detail"]
    wait = f" Retry after {problems.retry_after_seconds(error)} s." if isinstance(error, Overloaded) else ""
    return f"{said}{wait}"


async def _infer(request: Request, model: str, version: str = "") -> Response:
    context = authorize_request(request)
    received = await receive_body(request, context, is_json=JSON_BYTES not in request.headers)
    json_bytes = _json_bytes(request, len(received))
    sent = decode_body(received[:json_bytes], context, InferBody)
    read_tensor = partial(_wanted, sent, received, json_bytes, model, version, context.body_limits.documents)
    is_short = len(received) - json_bytes <= SHORT_BYTES
    wanted = read_tensor() if is_short else await asyncio.to_thread(read_tensor)
    body = text_body(wanted.input.texts, context, **wanted.options, model=wanted.reference)
    call = context.call(body, left_seconds=wanted.timeout_seconds)
    binary = _wants_binary(sent)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        elements = entities_json(results(outcomes))
        output: dict[str, Any] = {"name": OUTPUT, "datatype": DATATYPE, "shape": wanted.input.shape}
        said = {"model_name": call.request.model.name, "model_version": call.revision, "id": sent.id}
        if not binary:
            output["data"] = [each.decode() for each in elements]
            return {**said, "outputs": [output]}
        tail = joined_bytes(elements)
        output["parameters"] = {"binary_data_size": len(tail)}
        head = msgspec.json.encode({**said, "outputs": [output]})
        return AnswerContent(head + tail, OCTETS, {JSON_BYTES: str(len(head))})

    return await respond(request, call, render)


def _json_bytes(request: Request, body_bytes: int) -> int:
    declared = request.headers.get(JSON_BYTES)
    if declared is None:
        return body_bytes
    if not declared.isdecimal() or len(declared) > 12 or int(declared) > body_bytes:
        raise MalformedRequest(f"`{JSON_BYTES}` is no length within the body.")
    return int(declared)


def _wanted(sent: InferBody, body: bytes, json_bytes: int, model: str, version: str, most: int) -> InferRequest:
    (tensor,) = sent.inputs
    size = tensor.parameters.binary_data_size if tensor.parameters else None
    if (size is None) == (tensor.data is None) or len(body) - json_bytes != (size or 0):
        raise MalformedRequest("The input needs either `data`, or `binary_data_size` bytes behind the JSON.")
    texts: Sequence[bytes | str] = split_bytes(body, most, json_bytes) if tensor.data is None else tensor.texts
    found = read_input(tensor.name, tensor.datatype, tensor.shape, texts)
    return InferRequest(model, version, found, sent.parameters)


def _wants_binary(sent: InferBody) -> bool:
    """True if the output is to follow in binary."""
    for each in sent.outputs or ():
        if each.name != OUTPUT:
            raise MalformedRequest(f"The output is `{OUTPUT}`, not {each.name[:40]!r}.")
        if each.parameters is not None and each.parameters.binary_data is not None:
            return each.parameters.binary_data
    return sent.parameters.get("binary_data_output") is True


async def _server(request: Request) -> Response:
    authorize_request(request)
    said = {"name": "gleaner", "version": distribution_version(), "extensions": EXTENSIONS}
    return _json(said)


async def _live(_request: Request) -> Response:
    return _json({"live": True})


async def _ready(request: Request) -> Response:
    state: AppState = request.state.app_state
    serves = is_serving(state.worker.engine.status, state.worker.engine.connected)
    return _json({"ready": serves}, 200 if serves else 503)


async def _model(request: Request, model: str, version: str = "") -> Response:
    context = authorize_request(request)
    return _json(metadata(context, find(context, model, version)))


async def _model_ready(request: Request, model: str, version: str = "") -> Response:
    found = find(authorize_request(request), model, version)
    return _json({"name": found.name, "ready": True})


def find(context: RequestContext, model: str, version: str) -> ModelStatus:
    """The model of a name and a version; raises UnknownModel."""
    return find_model(context.state.worker.engine.status.models, f"{model}@{version}" if version else model)


def metadata(context: RequestContext, model: ModelStatus) -> dict[str, Any]:
    """Describe a model in the protocol's terms."""
    versions = [
        each.revision
        for each in context.state.worker.engine.status.models
        if each.name == model.name and each.state != FAILED
    ]
    return {
        "name": model.name,
        "versions": list(dict.fromkeys(versions)),
        "platform": "gleaner",
        "inputs": [{"name": INPUT, "datatype": DATATYPE, "shape": [-1]}],
        "outputs": [{"name": OUTPUT, "datatype": DATATYPE, "shape": [-1]}],
    }


def _json(said: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(said), status, media_type=JSON)


def _refuse(error: GleanerError) -> Response:
    """An error as the protocol puts it."""
    return refusal(error, {"error": sentence(error)})


_STRING = {"type": "string"}
_TENSOR = {
    "type": "object",
    "required": ["name", "shape", "datatype", "data"],
    "properties": {
        "name": {"type": "string", "enum": [INPUT]},
        "datatype": {"type": "string", "enum": [DATATYPE]},
        "shape": {"type": "array", "items": {"type": "integer"}},
        "data": {"type": "array", "items": {"anyOf": [_STRING, {"type": "array", "items": _STRING}]}},
    },
}
_INFER = operation(
    "Open Inference Protocol: texts in, entities out",
    body={
        JSON: {
            "type": "object",
            "required": ["inputs"],
            "properties": {
                "id": {"type": "string"},
                "inputs": {"type": "array", "minItems": 1, "maxItems": 1, "items": _TENSOR},
            },
        },
        OCTETS: BINARY,
    },
    answer={JSON: {"type": "object", "required": ["model_name", "model_version", "outputs"]}, OCTETS: BINARY},
    error=ERROR_TEXT,
)


def _get(summary: str) -> dict[str, Any]:
    return operation(f"Open Inference Protocol: {summary}", answer={JSON: {"type": "object"}}, error=ERROR_TEXT)


_MODEL = "/v2/models/{model}"
_VERSION = "/v2/models/{model}/versions/{version}"
ADAPTER = ProtocolAdapter(
    "oip",
    (
        AdapterRoute("GET", "/v2", _server, _get("the server"), works=False),
        AdapterRoute("GET", "/v2/health/live", _live, _get("alive?"), works=False),
        AdapterRoute("GET", "/v2/health/ready", _ready, _get("ready?"), works=False),
        AdapterRoute("GET", _MODEL, _model, with_parameters(_get("a model"), "model"), works=False),
        AdapterRoute("GET", _VERSION, _model, with_parameters(_get("a version"), "model", "version"), works=False),
        AdapterRoute("GET", f"{_MODEL}/ready", _model_ready, with_parameters(_get("ready?"), "model"), works=False),
        AdapterRoute(
            "GET", f"{_VERSION}/ready", _model_ready, with_parameters(_get("ready?"), "model", "version"), works=False
        ),
        AdapterRoute("POST", f"{_MODEL}/infer", _infer, with_parameters(_INFER, "model")),
        AdapterRoute("POST", f"{_VERSION}/infer", _infer, with_parameters(_INFER, "model", "version")),
    ),
    _refuse,
    prefix="/v2/",
)
