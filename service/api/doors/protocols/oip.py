"""The Open Inference Protocol v2 over REST, as KServe's and Triton's clients speak it; over gRPC it is `oip_grpc`.

    GET  /v2, /v2/health/live, /v2/health/ready
    GET  /v2/models/{model}[/versions/{version}][/ready]
    POST /v2/models/{model}[/versions/{version}]/infer

A version is a revision (`sha256:…`) or a tag. Tensors come and go as JSON, or in binary behind it, which Triton's
clients ask for by default. What tensors hold: `oip_tensors`.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api.bodies.oip import InferBody
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.doors.answering import Formed, answer, asked, read, results, text_body
from service.api.doors.doorway import JSON, DoorRoute, Doorway, refusal
from service.api.doors.operation import BINARY, operation, with_parameters
from service.api.doors.protocols.oip_tensors import (
    DATATYPE,
    EXTENSIONS,
    INPUT,
    OUTPUT,
    InferRequest,
    entities_json,
    joined_bytes,
    read_input,
    sentence,
    split_bytes,
)
from service.api.engine.routing import find_model, is_serving
from service.api.http.response import DocumentOutcome
from service.core.errors import GleanerError, MalformedRequest, UnsupportedFormat
from service.settings import Settings
from service.wire import ModelStatus

OCTETS = "application/octet-stream"
JSON_BYTES = "Inference-Header-Content-Length"
"""The header that says how much of a body is JSON; tensors in binary follow."""


async def _infer(request: Request, model: str, version: str = "") -> Response:
    context = authorize_request(request)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise UnsupportedFormat("Bodies are taken uncompressed.")
    received = await read(request, context)
    head, tail = received.divided(_json_bytes(request, len(received)))
    sent = await asked(head, context, InferBody)
    data = await tail.whole()
    read_tensor = partial(_wanted, sent, data, model, version, context.state.body_limits.documents)
    wanted = read_tensor() if tail.is_short else await asyncio.to_thread(read_tensor)
    body = text_body(wanted.input.texts, context, **wanted.options, model=wanted.reference)
    call = context.call(body, left_seconds=wanted.timeout_seconds)
    binary = _wants_binary(sent)

    def form(outcomes: list[DocumentOutcome]) -> Any:
        elements = entities_json(results(outcomes))
        output: dict[str, Any] = {"name": OUTPUT, "datatype": DATATYPE, "shape": wanted.input.shape}
        said = {"model_name": call.request.model.name, "model_version": call.revision, "id": sent.id}
        if not binary:
            output["data"] = [each.decode() for each in elements]
            return {**said, "outputs": [output]}
        tail = joined_bytes(elements)
        output["parameters"] = {"binary_data_size": len(tail)}
        head = msgspec.json.encode({**said, "outputs": [output]})
        return Formed(head + tail, OCTETS, {JSON_BYTES: str(len(head))})

    return await answer(request, call, form)


def _json_bytes(request: Request, body_bytes: int) -> int:
    declared = request.headers.get(JSON_BYTES)
    if declared is None:
        return body_bytes
    if not declared.isdecimal() or len(declared) > 12 or int(declared) > body_bytes:
        raise MalformedRequest(f"`{JSON_BYTES}` is no length within the body.")
    return int(declared)


def _wanted(sent: InferBody, tail: bytes, model: str, version: str, most: int) -> InferRequest:
    (tensor,) = sent.inputs
    size = tensor.parameters.binary_data_size if tensor.parameters else None
    if (size is None) == (tensor.data is None) or len(tail) != (size or 0):
        raise MalformedRequest("The input needs either `data`, or `binary_data_size` bytes behind the JSON.")
    texts: Sequence[bytes | str] = split_bytes(tail, most) if tensor.data is None else tensor.texts
    found = read_input(tensor.name, tensor.datatype, tensor.shape, texts)
    return InferRequest(model, version, sent.id, found, sent.parameters)


def _wants_binary(sent: InferBody) -> bool:
    """Whether the output is to follow in binary."""
    for each in sent.outputs or ():
        if each.name != OUTPUT:
            raise MalformedRequest(f"The output is `{OUTPUT}`, not {each.name[:40]!r}.")
        if each.parameters is not None and each.parameters.binary_data is not None:
            return each.parameters.binary_data
    return sent.parameters.get("binary_data_output") is True


async def _server(request: Request) -> Response:
    authorize_request(request)
    said = {"name": "gleaner", "version": importlib.metadata.version("gleaner"), "extensions": EXTENSIONS}
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
    """What the protocol says of a model."""
    versions = [each.revision for each in context.state.worker.engine.status.models if each.name == model.name]
    return {
        "name": model.name,
        "versions": list(dict.fromkeys(versions)),
        "platform": "gleaner",
        "inputs": [{"name": INPUT, "datatype": DATATYPE, "shape": [-1]}],
        "outputs": [{"name": OUTPUT, "datatype": DATATYPE, "shape": [-1]}],
    }


def _json(said: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(said), status, media_type=JSON)


def refuse(error: GleanerError) -> Response:
    """An error as the protocol puts it."""
    return refusal(error, {"error": sentence(error)})


@asynccontextmanager
async def _running(state: AppState, settings: Settings) -> AsyncIterator[None]:
    if not settings.grpc_port:
        yield
        return
    async with import_module("service.api.doors.protocols.oip_grpc").serving(state, settings):
        yield


_ERROR = {JSON: {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}}
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
    error=_ERROR,
)


def _get(summary: str) -> dict[str, Any]:
    return operation(f"Open Inference Protocol: {summary}", answer={JSON: {"type": "object"}}, error=_ERROR)


_MODEL = "/v2/models/{model}"
_VERSION = "/v2/models/{model}/versions/{version}"
DOOR = Doorway(
    "oip",
    (
        DoorRoute("GET", "/v2", _server, _get("the server"), works=False),
        DoorRoute("GET", "/v2/health/live", _live, _get("alive?"), works=False),
        DoorRoute("GET", "/v2/health/ready", _ready, _get("ready?"), works=False),
        DoorRoute("GET", _MODEL, _model, with_parameters(_get("a model"), "model"), works=False),
        DoorRoute("GET", _VERSION, _model, with_parameters(_get("a version"), "model", "version"), works=False),
        DoorRoute("GET", f"{_MODEL}/ready", _model_ready, with_parameters(_get("ready?"), "model"), works=False),
        DoorRoute(
            "GET", f"{_VERSION}/ready", _model_ready, with_parameters(_get("ready?"), "model", "version"), works=False
        ),
        DoorRoute("POST", f"{_MODEL}/infer", _infer, with_parameters(_INFER, "model")),
        DoorRoute("POST", f"{_VERSION}/infer", _infer, with_parameters(_INFER, "model", "version")),
    ),
    refuse,
    _running,
)
