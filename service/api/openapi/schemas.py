"""JSON schemas for OpenAPI, made from the types that requests are checked by and answers are written from."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from service.api.problems import Problem
from service.api.schemas import OPTION_CHARACTERS, DocumentLine, ExtractJson, ExtractResult, Options
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
    written = {name: _present(schema) for name, schema in properties.items()}
    for schema in written.values():
        if schema["type"] == "array":
            del schema["items"]
            schema.update(type="string", maxLength=OPTION_CHARACTERS)
    return written


def extract_answer() -> Schema:
    """Of the answer to /extract."""
    return inline(msgspec.json.schema(ExtractResult))


def line_answer() -> Schema:
    """Of one document's answer by itself."""
    return inline(msgspec.json.schema(DocumentLine))


def models_answer() -> Schema:
    """Of the answer to /models, which says of a model all but where it lies."""
    model = inline(msgspec.json.schema(ModelStatus))
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
    return inline(msgspec.json.schema(Problem))


def _present(schema: Schema) -> Schema:
    """The schema of a value that is not null, without the default of one that may be left out."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind.get("type") != "null"]
    found = {**(kinds[0] if kinds else schema), **{name: schema[name] for name in ("description",) if name in schema}}
    return found


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
