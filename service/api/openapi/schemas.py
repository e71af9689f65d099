"""JSON schemas for OpenAPI, made from the types that requests are checked by and answers are written from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec

from service.api.problems import Problem
from service.api.schemas import DocumentLine, ExtractJson, ExtractResult, Options
from service.core.types import Phase
from service.wire import ModelStatus

Schema = dict[str, Any]


def json_body(kind: type[Options] = ExtractJson) -> Schema:
    """Of a JSON body: `text` or `documents`, one of the two, with the options beside it."""
    schema = inline(kind.model_json_schema())
    properties: Schema = schema["properties"]
    for name in ("text", "documents"):
        properties[name] = _present(properties[name])
    properties["documents"]["minItems"] = 1
    return {**schema, "oneOf": [{"required": ["text"]}, {"required": ["documents"]}]}


def form_body(kind: type[Options] = Options) -> Schema:
    """Of a form: one or more files, with the options as fields."""
    files = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    return {
        "type": "object",
        "required": ["file"],
        "properties": {"file": files, **written_options(kind)},
        "additionalProperties": False,
    }


def written_options(kind: type[Options] = Options) -> dict[str, Schema]:
    """Of each option as text, as in a query or a form; lists are separated by commas."""
    properties: dict[str, Schema] = inline(kind.model_json_schema())["properties"]
    return {name: _present(schema, besides=("null", "array")) for name, schema in properties.items()}


def of(kind: type) -> Schema:
    """Of what msgspec decodes or encodes as this type."""
    return inline(msgspec.json.schema(kind))


def extract_answer() -> Schema:
    """Of the answer to /extract."""
    return of(ExtractResult)


def line_answer() -> Schema:
    """Of one document's answer by itself."""
    return of(DocumentLine)


def models_answer() -> Schema:
    """Of the answer to /models, which says of a model all but where it lies."""
    model = of(ModelStatus)
    del model["properties"]["folder"]
    model["required"].remove("folder")
    seconds = {"type": "object", "additionalProperties": {"type": "number"}}
    properties = {
        "models": {"type": "array", "items": model},
        "device": {"type": "string"},
        "dtype": {"type": "string"},
        "start_seconds": seconds,
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def ready_answer() -> Schema:
    """Of the answer to /readyz, ready or not."""
    properties = {
        "phase": {"type": "string", "enum": [phase.value for phase in Phase]},
        "percent": {"type": "integer", "minimum": 0, "maximum": 100},
        "detail": {"type": "string"},
    }
    return {"type": "object", "required": list(properties), "properties": properties}


@cache
def problem() -> Schema:
    """Of a problem document: one value for all who ask, not to be changed."""
    return of(Problem)


def _present(schema: Schema, besides: Sequence[str] = ("null",)) -> Schema:
    """The schema of a value of other types than these; without its default if it may be left out."""
    if "anyOf" not in schema:
        return schema
    kinds = [kind for kind in schema["anyOf"] if kind.get("type") not in besides]
    said = {name: schema[name] for name in ("description",) if name in schema}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **said}


def inline(schema: Schema) -> Schema:
    """The schema with each `$ref` replaced by its definition, so that it stands alone."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            rest = {key: resolve(value) for key, value in node.items() if key != "$ref"}
            if kinds := rest.pop("prefixItems", None):
                rest["items"] = kinds[0]  # Of tuples here all elements are of one kind, and FastAPI knows no others.
            return {**resolve(definitions[name]), **rest} if name else rest
        return [resolve(each) for each in node] if isinstance(node, list) else node

    inlined: Schema = resolve(schema)
    return inlined
