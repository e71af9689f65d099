"""The Open Inference Protocol v2 over gRPC, on a port of its own, in every worker.

Keys come as metadata (`authorization` or `x-api-key`), deadlines as gRPC's own. An error has the status that stands for
its HTTP status, with `retry-after` among the trailing metadata, and in words. Workers share the port. A message is
read only after its key was accepted (`oip_grpc_messages`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import grpc

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
from service.api.adapters.oip_grpc_messages import SERVICE, MessageReader
from service.api.adapters.protocol_adapter import ProtocolAdapter, results, text_body
from service.api.calls import AppState, RequestContext, authorize
from service.api.engine.routing import is_serving
from service.api.extraction.trace import RequestTrace
from service.api.http.response import CLIENT_CLOSED_REQUEST, REVISION_HEADER
from service.core.errors import GleanerError, InternalError, MalformedRequest, ModelError, Overloaded
from service.environment import address_of, distribution_version
from service.settings import Settings
from service.signals.routes import GRPC_ROUTE, OTHER

DRAIN_SECONDS = 5.0
MOST_AT_ONCE = 1_024
"""Calls that one worker answers at a time."""
MOST_STREAMS = 128
"""Calls of one connection at a time."""
HANDSHAKE_MILLISECONDS = 10_000
PING_MILLISECONDS = 1_000
"""Clients may ask this often whether their connection lives: several do each 10 s, and calls take up to 300 s."""
PING_STRIKES = 20
"""Sooner pings that a connection may send: those of a busy client come bunched."""
_CODES = {
    401: grpc.StatusCode.UNAUTHENTICATED,
    404: grpc.StatusCode.NOT_FOUND,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
    504: grpc.StatusCode.DEADLINE_EXCEEDED,
    507: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
"""gRPC's status by that of HTTP; all others are INVALID_ARGUMENT."""

log = logging.getLogger("gleaner.access")

_Method = Callable[[Any, RequestTrace], Awaitable[Any]]


class InferenceService:
    """The methods of the service, in one worker."""

    def __init__(self, state: AppState, reader: MessageReader) -> None:
        self._state = state
        self._reader = reader
        self._messages = reader.classes

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
                name: grpc.stream_unary_rpc_method_handler(
                    self._answering(method, works),
                    response_serializer=self._messages[f"{name}Response"].SerializeToString,
                )
                for name, (method, works) in methods.items()
            },
        )

    def _answering(self, method: _Method, works: bool) -> Callable[[Any, Any], Awaitable[Any]]:
        """A method whose errors become statuses, counted as the routes of HTTP are."""
        worker = self._state.worker

        async def answer(_unread: Any, rpc: Any) -> Any:
            begun, status = time.monotonic(), CLIENT_CLOSED_REQUEST
            trace = RequestTrace("", begun)
            worker.active_requests.count += works
            try:
                answered = await method(rpc, trace)
                status = 200
                return answered
            except GleanerError as error:
                status, trace.code = problems.STATUS[error.code], error.code
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
                worker.metrics.answered(route, status, None if trace.is_batch else seconds)
                facts = {"route": route, "status": status, "milliseconds": round(seconds * 1000, 1), **trace.facts}
                log.log(logging.INFO if works else logging.DEBUG, "request", extra=facts)

        return answer

    def _authorize(self, rpc: Any, trace: RequestTrace) -> RequestContext:
        sent = {key: value for key, value in rpc.invocation_metadata() or () if isinstance(value, str)}
        sent.pop("content-length", None)  # Bytes are charged as they are read.
        kind, _, address = rpc.peer().partition(":")
        host = address.rpartition(":")[0].strip("[]%5BD") if kind in ("ipv4", "ipv6") else None
        return authorize(self._state, sent, host, time.monotonic(), trace)

    @asynccontextmanager
    async def _read(self, rpc: Any, kind: str, trace: RequestTrace) -> AsyncIterator[tuple[RequestContext, Any]]:
        """An authorized call, and its message."""
        context = self._authorize(rpc, trace)
        async with self._reader.read(rpc, kind, context) as message:
            yield context, message

    async def _server_live(self, _rpc: Any, _trace: RequestTrace) -> Any:
        return self._messages["ServerLiveResponse"](live=True)

    async def _server_ready(self, _rpc: Any, _trace: RequestTrace) -> Any:
        engine = self._state.worker.engine
        return self._messages["ServerReadyResponse"](ready=is_serving(engine.status, engine.connected))

    async def _server_metadata(self, rpc: Any, trace: RequestTrace) -> Any:
        self._authorize(rpc, trace)
        version = distribution_version()
        return self._messages["ServerMetadataResponse"](name="gleaner", version=version, extensions=EXTENSIONS)

    async def _model_ready(self, rpc: Any, trace: RequestTrace) -> Any:
        async with self._read(rpc, "ModelReadyRequest", trace) as (context, request):
            find(context, request.name, request.version)
        return self._messages["ModelReadyResponse"](ready=True)

    async def _model_metadata(self, rpc: Any, trace: RequestTrace) -> Any:
        async with self._read(rpc, "ModelMetadataRequest", trace) as (context, request):
            said = metadata(context, find(context, request.name, request.version))
        return self._messages["ModelMetadataResponse"](**said)

    async def _model_infer(self, rpc: Any, trace: RequestTrace) -> Any:
        async with self._read(rpc, "ModelInferRequest", trace) as (context, request):
            return await self._inferred(context, request, rpc)

    async def _inferred(self, context: RequestContext, request: Any, rpc: Any) -> Any:
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
    reader = MessageReader(settings.max_request_bytes, settings.max_held_bytes)
    options = (
        ("grpc.max_receive_message_length", reader.most_bytes),
        ("grpc.max_send_message_length", -1),
        ("grpc.so_reuseport", 1),
        ("grpc.max_concurrent_streams", MOST_STREAMS),
        ("grpc.max_connection_idle_ms", settings.keep_alive_seconds * 1000),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MILLISECONDS),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", PING_MILLISECONDS),
        ("grpc.http2.max_ping_strikes", PING_STRIKES),
        ("grpc.keepalive_permit_without_calls", 1),
    )
    server = grpc.aio.server(options=options, maximum_concurrent_rpcs=MOST_AT_ONCE)
    server.add_generic_rpc_handlers((InferenceService(state, reader).handlers(),))
    address = address_of(settings.host, settings.grpc_port)
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


ADAPTER = ProtocolAdapter(GRPC_ROUTE, (), refuse, serving)
