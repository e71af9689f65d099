"""The tools of the MCP door: each a name, the schemas of its arguments and its result, and a function.

`TOOLS` is the one place where a tool is added. A document comes as text or as a file in base64; URLs are not fetched,
because a service inside a network must not be sent to its neighbours.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from service.api.calls import Visit
from service.api.extraction.request import DocumentInput
from service.api.http.request_body import Body
from service.api.openapi import schemas
from service.api.schemas import DocumentLine, ModelName, read_options
from service.core.errors import MalformedRequest
from service.wire import SERVING

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class McpTool:
    """One tool. `call` gets the visit and the arguments, and returns a value that becomes a JSON object."""

    name: str
    description: str
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    call: Callable[[Visit, Arguments], Awaitable[object]]


class ExtractArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of `extract`."""

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


async def _extract(visited: Visit, arguments: Arguments) -> object:
    try:
        asked = msgspec.convert(arguments, ExtractArguments)
    except msgspec.ValidationError as error:
        raise MalformedRequest(f"{str(error)[:200]}.") from None
    options = {name: value for name in ("model", "labels") if (value := getattr(asked, name)) is not None}
    body = Body((asked.source(),), read_options({**options, "min_score": asked.min_score}), batch=False)
    call = visited.call(body)
    (outcome,) = await call.outcomes()
    if outcome.error is not None:
        raise outcome.error
    model = call.request.model
    return DocumentLine(ModelName(model.name, model.revision), outcome.result, outcome.timer.timing(0.0))


async def _list_models(visited: Visit, _arguments: Arguments) -> object:
    served = visited.state.worker.engine.status.models
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
_EXTRACT_ARGUMENTS = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "text": {"type": "string", "description": "The document's text, of any length."},
        "base64": {"type": "string", "description": "Or a file (PDF, DOCX, HTML, text) in base64."},
        "file_name": {"type": "string", "description": "The file's name; its ending tells the format."},
        "model": {"type": "string", "description": "`name`, `name@tag` or `name@sha256:…`; see list_models."},
        "labels": {"type": "array", "items": _STRING, "description": "Keep only entities with these labels."},
        "min_score": {"type": "number", "minimum": 0, "maximum": 1, "description": "Keep only surer entities."},
    },
}

TOOLS: tuple[McpTool, ...] = (
    McpTool(
        "extract",
        "Find entities and fields (persons, dates, amounts, ids, …) in a document, with exact offsets, scores and, in "
        "a PDF, pages and boxes. Nothing is ever truncated.",
        _EXTRACT_ARGUMENTS,
        schemas.line_answer(),
        _extract,
    ),
    McpTool(
        "list_models",
        "List the models that are served, with their labels.",
        {"type": "object", "properties": {}},
        {"type": "object", "required": ["models"], "properties": {"models": {"type": "array", "items": _MODEL}}},
        _list_models,
    ),
)
