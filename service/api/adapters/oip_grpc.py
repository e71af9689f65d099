"""The Open Inference Protocol v2 over gRPC, on a port of its own, in every worker.

Keys come as metadata (`authorization` or `x-api-key`), deadlines as gRPC's own. An error has the status that stands for
its HTTP status, with `retry-after` among the trailing metadata, and in words. Workers share the port. The messages are
built from their fields' numbers (`open_inference_grpc.proto`), so that no generated code is kept: only what the six
methods need, as protobuf keeps, and ignores, fields of requests that are not named.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from service.api import problems
from service.api.adapters.oip import (
    DATATYPE,
    EXTENSIONS,
    OUTPUT,
    InferRequest,
    entities_json,
    find,
    joined_bytes,
    metadata,
    read_input,
    refuse,
    sentence,
    split_bytes,
)
from service.api.adapters.protocol_adapter import ProtocolAdapter, results, text_body
from service.api.calls import AppState, RequestContext, authorize
from service.api.engine.routing import is_serving
from service.api.http.response import CLIENT_CLOSED_REQUEST, REVISION_HEADER
from service.core.errors import GleanerError, InternalError, MalformedRequest, ModelError, Overloaded
from service.settings import Settings
from service.signals.routes import GRPC_ROUTE, OTHER

DRAIN_SECONDS = 5.0
MOST_AT_ONCE = 1_024
"""Calls that one worker answers at a time."""
_CODES = {
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
    507: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""gRPC's status by that of HTTP; all others are INVALID_ARGUMENT."""

PACKAGE, SERVICE = "inference", "inference.GRPCInferenceService"
_TYPES = {"double": 1, "int64": 3, "uint64": 4, "bool": 8, "string": 9, "message": 11, "bytes": 12}
_TENSOR = "name:1:string datatype:2:string shape:3:*int64 parameters:4:%InferParameter contents:5:InferTensorContents"
_METADATA = "name:1:string datatype:2:string shape:3:*int64"
_MESSAGES = {
    "ServerLiveRequest": "",
    "ServerLiveResponse": "live:1:bool",
    "ServerReadyRequest": "",
    "ServerReadyResponse": "ready:1:bool",
    "ModelReadyRequest": "name:1:string version:2:string",
    "ModelReadyResponse": "ready:1:bool",
    "ServerMetadataRequest": "",
    "ServerMetadataResponse": "name:1:string version:2:string extensions:3:*string",
    "ModelMetadataRequest": "name:1:string version:2:string",
    "TensorMetadata": _METADATA,
    "ModelMetadataResponse": "name:1:string versions:2:*string platform:3:string inputs:4:*TensorMetadata "
    "outputs:5:*TensorMetadata",
    "InferParameter": "bool_param:1:|bool int64_param:2:|int64 string_param:3:|string double_param:4:|double "
    "uint64_param:5:|uint64",
    "InferTensorContents": "bytes_contents:8:*bytes",
    "InferInputTensor": _TENSOR,
    "InferRequestedOutputTensor": "name:1:string parameters:2:%InferParameter",
    "InferOutputTensor": _TENSOR,
    "ModelInferRequest": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "inputs:5:*InferInputTensor outputs:6:*InferRequestedOutputTensor raw_input_contents:7:*bytes",
    "ModelInferResponse": "model_name:1:string model_version:2:string id:3:string parameters:4:%InferParameter "
    "outputs:5:*InferOutputTensor raw_output_contents:6:*bytes",
}
"""`name:number:type` of each field; `*` repeats it, `%` maps strings to it, `|` puts it into the one choice."""

log = logging.getLogger("gleaner.access")

_Method = Callable[[Any, Any], Awaitable[Any]]


class InferenceService:
    """The methods of the service, in one worker."""

    def __init__(self, state: AppState) -> None:
        self._state = state
        self._messages = message_classes()

    def handlers(self) -> Any:
        """All methods as gRPC's server takes them."""
        methods: dict[str, tuple[_Method, bool]] = {
            "ServerLive": (self._server_live, False),
            "ServerReady": (self._server_ready, False),
            "ServerMetadata": (self._server_metadata, False),
            "ModelReady": (self._model_ready, False),
            "ModelMetadata": (self._model_metadata, False),
            "ModelInfer": (self._model_infer, True),
        }
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                name: grpc.unary_unary_rpc_method_handler(
                    self._answering(method, works),
                    request_deserializer=self._messages[f"{name}Request"].FromString,
                    response_serializer=self._messages[f"{name}Response"].SerializeToString,
                )
                for name, (method, works) in methods.items()
            },
        )

    def _answering(self, method: _Method, works: bool) -> _Method:
        """A method whose errors become statuses, counted as the routes of HTTP are."""
        worker = self._state.worker

        async def answer(request: Any, rpc: Any) -> Any:
            begun, status = time.monotonic(), CLIENT_CLOSED_REQUEST
            worker.active_requests.count += works
            try:
                answered = await method(request, rpc)
                status = 200
                return answered
            except GleanerError as error:
                status = problems.STATUS[error.code]
                await _abort(rpc, error.with_traceback(None))
            except Exception as error:
                if isinstance(error, grpc.aio.AbortError):
                    raise
                status = 500
                log.exception("a gRPC call failed")
                await _abort(rpc, InternalError(f"The service failed over this ({type(error).__name__})."))
            finally:
                seconds, route = time.monotonic() - begun, GRPC_ROUTE if works else OTHER
                worker.active_requests.count -= works
                worker.metrics.requests.labels(route, str(status)).inc()
                worker.metrics.request_seconds.labels(route).observe(seconds)
                facts = {"route": route, "status": status, "milliseconds": round(seconds * 1000, 1)}
                log.log(logging.INFO if works else logging.DEBUG, "request", extra=facts)

        return answer

    def _authorize(self, rpc: Any) -> RequestContext:
        sent = {key: value for key, value in rpc.invocation_metadata() or () if isinstance(value, str)}
        kind, _, address = rpc.peer().partition(":")
        host = address.rpartition(":")[0].strip("[]%5BD") if kind in ("ipv4", "ipv6") else None
        return authorize(self._state, sent, host, time.monotonic())

    async def _server_live(self, _request: Any, _rpc: Any) -> Any:
        return self._messages["ServerLiveResponse"](live=True)

    async def _server_ready(self, _request: Any, _rpc: Any) -> Any:
        engine = self._state.worker.engine
        return self._messages["ServerReadyResponse"](ready=is_serving(engine.status, engine.connected))

    async def _server_metadata(self, _request: Any, rpc: Any) -> Any:
        self._authorize(rpc)
        version = importlib.metadata.version("gleaner")
        return self._messages["ServerMetadataResponse"](name="gleaner", version=version, extensions=EXTENSIONS)

    async def _model_ready(self, request: Any, rpc: Any) -> Any:
        find(self._authorize(rpc), request.name, request.version)
        return self._messages["ModelReadyResponse"](ready=True)

    async def _model_metadata(self, request: Any, rpc: Any) -> Any:
        context = self._authorize(rpc)
        said = metadata(context, find(context, request.name, request.version))
        return self._messages["ModelMetadataResponse"](**said)

    async def _model_infer(self, request: Any, rpc: Any) -> Any:
        context = self._authorize(rpc)
        asked = _asked(request, context.body_limits.documents)
        body = text_body(asked.input.texts, context, **asked.options, model=asked.reference)
        left = [seconds for seconds in (asked.timeout_seconds, rpc.time_remaining()) if seconds is not None]
        call = context.call(body, left_seconds=max(min(left), 0.001) if left else None)
        outcomes = await call.outcomes()
        elements = await asyncio.to_thread(entities_json, results(outcomes))
        rpc.set_trailing_metadata(((REVISION_HEADER.lower(), call.revision),))
        output = self._messages["InferOutputTensor"](name=OUTPUT, datatype=DATATYPE, shape=asked.input.shape)
        return self._messages["ModelInferResponse"](
            model_name=call.request.model.name,
            model_version=call.revision,
            id=request.id,
            outputs=[output],
            raw_output_contents=[joined_bytes(elements)],
        )


def _asked(request: Any, most: int) -> InferRequest:
    if len(request.inputs) != 1 or len(request.raw_input_contents) > 1:
        raise MalformedRequest("A request has one input.")
    (tensor,) = request.inputs
    raw = request.raw_input_contents
    texts = split_bytes(raw[0], most) if raw else list(tensor.contents.bytes_contents)
    parameters = {name: _value(each) for name, each in request.parameters.items()}
    found = read_input(tensor.name, tensor.datatype, list(tensor.shape), texts)
    return InferRequest(request.model_name, request.model_version, request.id, found, parameters)


def _value(parameter: Any) -> Any:
    chosen = parameter.WhichOneof("parameter_choice")
    return getattr(parameter, chosen) if chosen else None


async def _abort(rpc: Any, error: GleanerError) -> NoReturn:
    """End a call with the status of an error; always raises."""
    code = _CODES.get(problems.STATUS[error.code], grpc.StatusCode.INVALID_ARGUMENT)
    hints = [("x-gleaner-code", error.code)]
    if isinstance(error, Overloaded):
        hints.append(("retry-after", str(problems.retry_after_seconds(error))))
    await rpc.abort(code, sentence(error), tuple(hints))
    raise AssertionError("a call that was ended goes on")


@asynccontextmanager
async def serving(state: AppState, settings: Settings) -> AsyncIterator[None]:
    """Serve gRPC on the settings' port while the context is open.

    Raises:
        ModelError: the port cannot be listened on.
    """
    options = (
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", 1),
    )
    server = grpc.aio.server(options=options, maximum_concurrent_rpcs=MOST_AT_ONCE)
    server.add_generic_rpc_handlers((InferenceService(state).handlers(),))
    address = f"{settings.host}:{settings.grpc_port}"
    try:
        if settings.tls_certificate is not None and settings.tls_key is not None:
            pair = (settings.tls_key.read_bytes(), settings.tls_certificate.read_bytes())
            server.add_secure_port(address, grpc.ssl_server_credentials((pair,)))
        else:
            server.add_insecure_port(address)
    except RuntimeError as error:
        raise ModelError(f"gRPC cannot listen on {address}: {error}") from error
    await server.start()
    try:
        yield
    finally:
        await server.stop(DRAIN_SECONDS)


def message_classes() -> dict[str, Any]:
    """The class of each message, in a pool of its own."""
    file = descriptor_pb2.FileDescriptorProto(name="open_inference.proto", package=PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        _describe(file.message_type.add(name=name), name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}")) for name in _MESSAGES
    }


def _describe(message: Any, name: str, fields: str) -> None:
    for described in fields.split():
        field, number, kind = described.split(":")
        mark, kind = (kind[0], kind[1:]) if kind[0] in "*%|" else ("", kind)
        added = message.field.add(name=field, number=int(number), label=3 if mark in ("*", "%") else 1)
        if mark == "%":
            entry = message.nested_type.add(name=f"{field.title()}Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, label=1, type=_TYPES["string"])
            _typed(entry.field.add(name="value", number=2, label=1), f".{PACKAGE}.{kind}")
            kind = f"{name}.{entry.name}"
        if mark == "|":
            if not message.oneof_decl:
                message.oneof_decl.add(name="parameter_choice")
            added.oneof_index = 0
        _typed(added, kind if kind in _TYPES else f".{PACKAGE}.{kind}")


def _typed(field: Any, kind: str) -> None:
    field.type = _TYPES.get(kind, _TYPES["message"])
    if kind not in _TYPES:
        field.type_name = kind


ADAPTER = ProtocolAdapter(GRPC_ROUTE, (), refuse, serving)
