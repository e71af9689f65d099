"""The Model Context Protocol over streamable HTTP at /mcp, by the official SDK; what agents may call is in `mcp_tools`.

Each request stands alone, so any worker may answer it: there are no sessions, and no stream from the server (GET). Keys
are those of /extract, in `Authorization`. What is refused at admission is a JSON-RPC error under its own HTTP status;
what a tool refuses is the tool's result, for a model to read, and both say when to come back.
"""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, NoReturn

import msgspec
from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api import problems
from service.api.adapters.mcp_tools import TOOLS, McpTool
from service.api.adapters.protocol_adapter import JSON, AdapterRoute, ProtocolAdapter, operation, refusal
from service.api.calls import AppState, RequestContext, authorize_request
from service.api.http.request_body import read_all
from service.core.errors import GleanerError, InternalError, Overloaded, WrongMethod
from service.settings import Settings

MOST_BODY_BYTES = 4 << 20
"""Most bytes of a message, which the SDK decodes on the event loop: 4 MiB are its own default."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_INVALID, _INTERNAL, _REFUSED = -32600, -32603, -32000
"""JSON-RPC's codes; the last is of the range that servers define."""
_CONTEXT = "mcp_context"
log = logging.getLogger(__name__)

_BY_NAME = {tool.name: tool for tool in TOOLS}


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
            version=importlib.metadata.version("gleaner"),
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
        own = context.state.body_limits
        body = await read_all(request, replace(own, request_bytes=min(own.request_bytes, MOST_BODY_BYTES)))
        return _with_body(self._manager.asgi_app, await body.whole())

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
    return ListToolsResult(tools=[_shown(tool) for tool in TOOLS])


async def _call_tool(call: Any, parameters: CallToolRequestParams) -> CallToolResult:
    context: RequestContext = call.request.scope["state"][_CONTEXT]
    tool = _BY_NAME.get(parameters.name)
    if tool is None:
        return _result({"code": "unknown_tool", "detail": f"There are {', '.join(_BY_NAME)}."}, failed=True)
    try:
        return _result(msgspec.to_builtins(await tool.call(context, parameters.arguments or {})), failed=False)
    except GleanerError as error:
        return _result(_said(error.with_traceback(None)), failed=True)
    except Exception as error:
        log.exception("a tool failed")
        failed = InternalError(f"The service failed over this request ({type(error).__name__}).")
        return _result(_said(failed), failed=True)


def _shown(tool: McpTool) -> Tool:
    schemas = {"input_schema": dict(tool.arguments), "output_schema": dict(tool.result)}
    return Tool(name=tool.name, description=tool.description, **schemas)


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
    "Model Context Protocol (streamable HTTP, JSON-RPC)",
    body={JSON: {"type": "object", "required": ["jsonrpc", "method"]}},
    answer={JSON: {"type": "object"}},
    error=_ERROR,
)
_OPERATION = {
    **_CALL,
    "responses": {
        **_CALL["responses"],
        "202": {"description": "A notification was taken; there is no answer."},
        "406": {**_CALL["responses"]["400"], "description": "`Accept` lacks what the protocol asks for."},
        "421": {"description": "The service was called by a name that is not its own."},
    },
}
"""With the SDK's own statuses."""
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
