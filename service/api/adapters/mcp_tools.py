"""Tools of the MCP adapter: each a name, the schemas of its arguments and its result, and a function.

`TOOLS` is the one place where a tool is added. A document comes as text or as a file in base64; URLs are not fetched,
because a service inside a network must not be sent to its neighbours.
"""

from __future__ import annotations

import asyncio
import binascii
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import msgspec

from service.api import openapi
from service.api.calls import RequestContext
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.redaction.answers import redact_timing, redacted_outcomes
from service.api.redaction.schemas import RedactedLine, RedactOptions, RedactOutput
from service.api.schemas import DocumentLine, ModelName, Options, read_options
from service.core.errors import MalformedRequest
from service.core.redaction.replacements import RedactionMode
from service.wire import SERVING

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool. `call` takes the request's context and the arguments; its result becomes a JSON object."""

    name: str
    description: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    call: Callable[[RequestContext, Arguments], Awaitable[object]]


class ToolArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `extract`: one document, and the options that are named like those of /extract."""

    text: str | None = None
    base64: str | None = None
    file_name: str | None = None
    model: str | None = None
    labels: list[str] | None = None
    min_score: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.0

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
        """The document with these options.

        Raises:
            MalformedRequest: as `source`.
            InvalidOptions: a bad value.
        """
        given = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        options = {name: value for name, value in given.items() if name in kind.model_fields}
        return Body((self.source(),), read_options(options, kind), batch=False)


class RedactArguments(ToolArguments, frozen=True, forbid_unknown_fields=True):
    """The arguments of `redact`."""

    mode: RedactionMode = RedactionMode.REPLACE
    repeats: bool = True
    output: RedactOutput = RedactOutput.DOCUMENT
    allow_unread: bool = False


_A = TypeVar("_A", bound=ToolArguments)


def _read(arguments: Arguments, kind: type[_A]) -> _A:
    try:
        return msgspec.convert(arguments, kind)
    except msgspec.ValidationError as error:
        raise MalformedRequest(f"{str(error)[:200]}.") from None


async def _extract(context: RequestContext, arguments: Arguments) -> object:
    body = await asyncio.to_thread(_read(arguments, ToolArguments).body, Options)
    call = context.call(body)
    (outcome,) = await call.outcomes()
    if outcome.error is not None:
        raise outcome.error
    model = call.request.model
    return DocumentLine(ModelName(model.name, model.revision), outcome.result, outcome.timer.timing(0.0))


async def _redact(context: RequestContext, arguments: Arguments) -> object:
    body = await asyncio.to_thread(_read(arguments, RedactArguments).body, RedactOptions)
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
    shown = [
        {"name": each.name, "tag": each.tag, "revision": each.revision, "labels": each.labels}
        for each in served
        if each.state == SERVING
    ]
    return {"models": shown}


_STRING = {"type": "string"}
_MODEL = {
    "type": "object",
    "required": ["name", "tag", "revision", "labels"],
    "properties": {
        "name": _STRING,
        "tag": _STRING,
        "revision": _STRING,
        "labels": {"type": "array", "items": _STRING},
    },
}
_EXTRACT_ARGUMENTS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "text": {"type": "string", "description": "The document's text; a message may have 4 MiB."},
        "base64": {"type": "string", "description": "Or a file (PDF, DOCX, HTML, text) in base64."},
        "file_name": {"type": "string", "description": "The file's name; its ending tells the format."},
        "model": {"type": "string", "description": "`name`, `name@tag` or `name@sha256:…`; see list_models."},
        "labels": {"type": "array", "items": _STRING, "description": "Keep only entities with these labels."},
        "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "Keep only surer entities."},
    },
}
_REDACT_ARGUMENTS = {
    **_EXTRACT_ARGUMENTS,
    "properties": {
        **_EXTRACT_ARGUMENTS["properties"],
        "labels": {"type": "array", "items": _STRING, "description": "Only entities with these labels go."},
        "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "Only surer entities go."},
        **{
            name: schema
            for name, schema in openapi.written_options(RedactOptions).items()
            if name in set(RedactArguments.__struct_fields__) - set(ToolArguments.__struct_fields__)
        },
    },
}

TOOLS: tuple[McpTool, ...] = (
    McpTool(
        "extract",
        "Find entities and fields (persons, dates, amounts, ids, …) in a document, with exact offsets, scores and, in "
        "a PDF, pages and boxes. Nothing is ever truncated.",
        _EXTRACT_ARGUMENTS,
        openapi.line_answer(),
        _extract,
    ),
    McpTool(
        "redact",
        "Take what `extract` finds out of a document: a text comes back with labels, asterisks or hashes instead, a "
        "PDF (in base64) with its characters gone and bars where they were. What cannot be redacted in full is "
        "refused.",
        _REDACT_ARGUMENTS,
        openapi.of(RedactedLine),
        _redact,
    ),
    McpTool(
        "list_models",
        "List the models that are served, with their labels.",
        {"type": "object", "properties": {}},
        {"type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": _MODEL}}},
        _list_models,
    ),
)
