"""Model Context Protocol over streamable HTTP at /mcp, by the official SDK, with the tools that agents may call.

Each request stands alone, so any worker may answer it: there are no sessions, and no stream from the server (GET). Keys
are those of /extract, in `Authorization`. What is refused at admission is a JSON-RPC error under its own HTTP status;
what a tool refuses is the tool's result, for a model to read, and both say when to come back. A document comes as text
or as a file in base64; URLs are not fetched, because a service inside a network must not be sent to its neighbours.
"""

from __future__ import annotations

import asyncio
import binascii
import logging
from base64 import b64decode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Annotated, Any, NoReturn, Self

import msgspec
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api import json_schemas, problems
from service.api.adapters.protocol_adapter import JSON, AdapterRoute, ProtocolAdapter, operation, refusal
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body, read_all
from service.api.options import ExtractOptions, Options, read_options
from service.api.redaction.answers import redact_timing, redacted_outcomes
from service.api.redaction.schemas import RedactedLine, RedactOptions, RedactOutput
from service.api.schemas import DocumentLine, ModelName
from service.core.errors import GleanerError, InternalError, MalformedRequest, Overloaded, WrongMethod
from service.core.redaction import RedactionMode
from service.environment import distribution_version
from service.settings import Settings
from service.wire import SERVING

MOST_BODY_BYTES = 4 << 20
"""Most bytes of a message, which the SDK decodes on the event loop: 4 MiB are its own default."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_INTERNAL, _REFUSED = -32603, -32000
"""JSON-RPC's codes; the last is of the range that servers define."""
_CONTEXT = "mcp_context"
log = logging.getLogger(__name__)

Arguments = Mapping[str, Any]


def _about(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class ServedModel(msgspec.Struct, frozen=True):
    """A model that is served."""

    name: str
    tag: str
    revision: str
    labels: tuple[str, ...]


class ServedModels(msgspec.Struct, frozen=True):
    """The result of `list_models`."""

    models: list[ServedModel]


class ToolArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of all tools: one document, and the options that are named like those of /extract."""

    text: Annotated[str, _about("The document's text; a message may have 4 MiB.")] | None = None
    base64: Annotated[str, _about("Or a file (PDF, DOCX, HTML, text, picture) in base64.")] | None = None
    file_name: Annotated[str, _about("The file's name; its ending tells the format.")] | None = None
    model: Annotated[str, _about("`name`, `name@tag` or `name@sha256:…`; see list_models.")] | None = None
    labels: Annotated[list[str], _about("Keep only entities with these labels.")] | None = None
    min_score: Annotated[float, msgspec.Meta(ge=0.0, le=1.0, description="Keep only surer entities.")] = 0.0

    @classmethod
    def read(cls, arguments: Arguments) -> Self:
        """The arguments of a call; raises MalformedRequest."""
        try:
            return msgspec.convert(arguments, cls)
        except msgspec.ValidationError as error:
            raise MalformedRequest(f"{str(error)[:200]}.") from None

    def source(self) -> DocumentInput:
        """The document.

        Raises:
            MalformedRequest: there is none, there are two, or it is not base64.
        """
        if (self.text is None) == (self.base64 is None):
            raise MalformedRequest("Give either `text` or `base64`.")
        if self.base64 is None:
            return DocumentInput("0", text=self.text)
        try:
            return DocumentInput("0", data=b64decode(self.base64, validate=True), name=self.file_name)
        except binascii.Error as error:
            raise MalformedRequest(f"`base64` is not that: {error}.") from None

    def body(self, kind: type[Options]) -> Body:
        """The document with these options; raises MalformedRequest as `source`, InvalidOptions for a bad value."""
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        options = {name: value for name, value in given.items() if name in kind.model_fields}
        return Body((self.source(),), read_options(options, kind), batch=False)


class ExtractArguments(ToolArguments, frozen=True, forbid_unknown_fields=True):
    """The arguments of `extract`."""

    fields: Annotated[bool, _about("Also its papers, and what bills and résumés among them say, by role.")] = False


class RedactArguments(ToolArguments, frozen=True, forbid_unknown_fields=True):
    """The arguments of `redact`."""

    labels: Annotated[list[str], _about("Only entities with these labels go.")] | None = None
    min_score: Annotated[float, msgspec.Meta(ge=0.0, le=1.0, description="Only surer entities go.")] = 0.0
    mode: RedactionMode = RedactionMode.REPLACE
    repeats: bool = True
    output: RedactOutput = RedactOutput.DOCUMENT
    allow_unread: bool = False


async def _extract(context: RequestContext, arguments: Arguments) -> object:
    body = await asyncio.to_thread(ExtractArguments.read(arguments).body, ExtractOptions)
    call = context.call(body)
    (outcome,) = await call.outcomes()
    if outcome.error is not None:
        raise outcome.error
    model = call.request.model
    return DocumentLine(ModelName(model.name, model.revision), outcome.result, outcome.timer.timing(0.0))


async def _redact(context: RequestContext, arguments: Arguments) -> object:
    body = await asyncio.to_thread(RedactArguments.read(arguments).body, RedactOptions)
    worker, options = context.state.worker, body.options
    assert isinstance(options, RedactOptions), "read as such"
    worker.redactor.check(options)
    call = context.call(body)
    call.refuse_again()
    with worker.engine.leases.hold(call.revision):
        (outcome,) = await redacted_outcomes(worker.redactor, worker.metrics, body, call.request, options)
    if outcome.error is not None:
        raise outcome.error
    model = call.request.model
    return RedactedLine(ModelName(model.name, model.revision), outcome.result, redact_timing(outcome.timer, 0.0))


async def _list_models(context: RequestContext, _arguments: Arguments) -> object:
    served = context.state.worker.engine.status.models
    return ServedModels(
        [ServedModel(each.name, each.tag, each.revision, each.labels) for each in served if each.state == SERVING]
    )


def _schema(kind: type[ToolArguments]) -> dict[str, Any]:
    """The schema of arguments, without the nulls and defaults of what may be left out."""
    properties, redact_options = json_schemas.of(kind)["properties"], json_schemas.written_options(RedactOptions)
    for name, value in properties.items():
        first = next(each for each in value.get("anyOf", (value,)) if each.get("type") != "null")
        own = {key: each for key, each in first.items() if key != "default"}
        properties[name] = own if name in ExtractArguments.__struct_fields__ else redact_options[name]
    return {"type": "object", "additionalProperties": False, "properties": properties}


_TOOLS: tuple[tuple[Tool, Callable[[RequestContext, Arguments], Awaitable[object]]], ...] = (
    (
        Tool(
            name="extract",
            description="Find entities (persons, dates, amounts, ids, …) in a document, with exact offsets, "
            "scores and, in a PDF, pages and boxes. Nothing is ever truncated.",
            input_schema=_schema(ExtractArguments),
            output_schema=json_schemas.of(DocumentLine),
        ),
        _extract,
    ),
    (
        Tool(
            name="redact",
            description="Take what `extract` finds out of a document: a text comes back with labels, asterisks or "
            "hashes instead, a PDF or picture (in base64) with bars where words were, which are gone. What cannot be "
            "redacted in full is refused.",
            input_schema=_schema(RedactArguments),
            output_schema=json_schemas.of(RedactedLine),
        ),
        _redact,
    ),
    (
        Tool(
            name="list_models",
            description="List the models that are served, with their labels.",
            input_schema={"type": "object", "properties": {}},
            output_schema=json_schemas.of(ServedModels),
        ),
        _list_models,
    ),
)
"""The tools with the functions that answer them; a function's result becomes a JSON object."""
_CALLS = {tool.name: call for tool, call in _TOOLS}


class McpServer:
    """The protocol's server in one worker."""

    def __init__(self) -> None:
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self, _state: AppState, settings: Settings) -> AsyncIterator[None]:
        """Answer requests while the context is open."""
        logging.getLogger("mcp").setLevel(logging.CRITICAL)  # Its sentences may hold what was sent.
        server: Server[Any] = Server(
            "gleaner",
            version=distribution_version(),
            instructions="Entities with exact offsets from documents; a message may have 4 MiB.",
            on_list_tools=_list_tools,
            on_call_tool=_call_tool,
        )
        self._manager = StreamableHTTPSessionManager(
            server,
            json_response=True,
            stateless=True,
            security_settings=_security(settings),
            max_request_body_size=MOST_BODY_BYTES,
        )
        async with self._manager.run():
            yield

    async def serve(self, request: Request) -> Any:
        """The SDK's application for a request that was let in.

        Raises:
            DocumentTooLarge: the message is too long.
        """
        assert self._manager is not None, "requests come while the worker runs"
        request.scope["state"][_CONTEXT] = context = authorize_request(request)
        own = context.body_limits
        body = await read_all(request, replace(own, request_bytes=min(own.request_bytes, MOST_BODY_BYTES)))
        return _with_body(self._manager.asgi_app, body)

    async def refuse_method(self, request: Request) -> NoReturn:
        """There is neither a stream from the server nor a session to end."""
        raise WrongMethod(f"/mcp does not take {request.method}: it has no sessions.")


def _with_body(app: ASGIApp, body: bytes) -> ASGIApp:
    """An application for a request whose body was read."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_again() -> Message:
            return unread.pop() if unread else await receive()

        await app(scope, receive_again, send)

    return answer


def _security(settings: Settings) -> TransportSecuritySettings | None:
    """On the loopback, the names by which it may be called, so that no page of another site can."""
    if settings.host not in LOOPBACK:
        return None
    names = ["127.0.0.1:*", "localhost:*", "[::1]:*"]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=names,
        allowed_origins=[f"{scheme}://{name}" for name in names for scheme in ("http", "https")],
    )


async def _list_tools(_call: Any, _parameters: Any) -> ListToolsResult:
    return ListToolsResult(tools=[tool for tool, _ in _TOOLS])


async def _call_tool(call: Any, parameters: CallToolRequestParams) -> CallToolResult:
    context: RequestContext = call.request.scope["state"][_CONTEXT]
    if (answer := _CALLS.get(parameters.name)) is None:
        return _result({"code": "unknown_tool", "detail": f"There are {', '.join(_CALLS)}."}, failed=True)
    try:
        return _result(msgspec.to_builtins(await answer(context, parameters.arguments or {})), failed=False)
    except GleanerError as known:
        error = known.with_traceback(None)
    except Exception as unknown:
        log.exception("a tool failed")
        error = InternalError(f"The service failed over this ({type(unknown).__name__}).")
    if context.trace is not None:
        context.trace.code = error.code
    return _result(_said(error), failed=True)


def _result(value: Any, *, failed: bool) -> CallToolResult:
    text = TextContent(type="text", text=msgspec.json.encode(value).decode())
    return CallToolResult(content=[text], structured_content=value, is_error=failed)


def _said(error: GleanerError) -> dict[str, Any]:
    said: dict[str, Any] = {**problems.problem(error)}
    if isinstance(error, Overloaded):
        said["retry_after_seconds"] = problems.retry_after_seconds(error)
    return said


def refuse(error: GleanerError) -> Response:
    """An error of the whole request, as JSON-RPC puts it."""
    said = _said(error)
    code = _INTERNAL if isinstance(error, InternalError) else _REFUSED
    wait = f" Retry after {said['retry_after_seconds']} s." if "retry_after_seconds" in said else ""
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": f"{said['detail']}{wait}", "data": said}}
    response = refusal(error, body)
    if isinstance(error, WrongMethod):
        response.headers["Allow"] = "POST"
    return response


_ERROR = {JSON: {"type": "object", "required": ["jsonrpc", "error"]}}
_CALL = operation(
    "Model Context Protocol: streamable HTTP, JSON-RPC",
    body={JSON: {"type": "object", "required": ["jsonrpc", "method"]}},
    answer={JSON: {"type": "object"}},
    error=_ERROR,
)
_OPERATION = {
    **_CALL,
    "responses": {
        **_CALL["responses"],
        "202": {"description": "A notification was taken; there is no answer."},
        "406": {**_CALL["responses"]["4XX"], "description": "`Accept` lacks what the protocol asks for."},
        "421": {"description": "The service was called by a name that is not its own."},
    },
}
"""The operation of a call, with the SDK's own statuses."""
_NONE = operation("Model Context Protocol: refused", answer=_ERROR, error=_ERROR, status=405)
_SERVER = McpServer()
ADAPTER = ProtocolAdapter(
    "mcp",
    (
        AdapterRoute("POST", "/mcp", _SERVER.serve, _OPERATION),
        AdapterRoute("GET", "/mcp", _SERVER.refuse_method, _NONE, works=False),
        AdapterRoute("DELETE", "/mcp", _SERVER.refuse_method, _NONE, works=False),
    ),
    refuse,
    _SERVER.running,
)
