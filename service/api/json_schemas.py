"""JSON schemas of requests and answers, made from the types that check the ones and write the others.

`of` makes a schema that stands alone, for protocols without shared definitions. `components` are OpenAPI's shared ones,
under the names that generated types get; `reference` points to one.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from service.api.options import ExtractJson, ExtractOptions, Options
from service.api.problems import STATUS, Problem
from service.api.redaction.schemas import RedactJson, RedactOptions, RedactResult
from service.api.schemas import DocumentLine, ExtractResult
from service.core.types import Phase
from service.wire import ModelStatus

Schema = dict[str, Any]

NAMES = {
    "CheckLineResult": "CheckLine",
    "CheckResult": "SumCheck",
    "ContradictionResult": "Contradiction",
    "DocumentLine": "ExtractLine",
    "DocumentResult": "ExtractedDocument",
    "EducationResult": "Education",
    "EmbeddedResult": "EmbeddedInvoice",
    "EntityResult": "Entity",
    "ExtractResult": "ExtractResponse",
    "FieldResult": "Field",
    "FieldsResult": "Fields",
    "ContractPartyResult": "ContractParty",
    "JobResult": "Job",
    "LineItemResult": "LineItem",
    "ModelName": "ModelRevision",
    "ModelStatus": "ServedModel",
    "PaperResult": "Paper",
    "PartlyReadResult": "PartlyRead",
    "Problem": "Error",
    "Reason": "FieldReason",
    "RecordResult": "Record",
    "RedactResult": "RedactResponse",
    "RedactedContent": "RedactedFile",
    "RedactedResult": "RedactedDocument",
    "Source": "EntitySource",
    "TaxResult": "Tax",
}
"""The names of components whose types have others."""
_PREFIX = "#/components/schemas/"
_TEMPLATE = f"{_PREFIX}{{name}}"


def reference(name: str) -> Schema:
    """A pointer to the component of this name."""
    return {"$ref": f"{_PREFIX}{name}"}


@cache
def components() -> dict[str, Schema]:
    """The shared schemas by name; not to be changed."""
    found = {
        **_requests({"ExtractRequest": ExtractJson, "RedactRequest": RedactJson}),
        **_answers(ExtractResult, DocumentLine, RedactResult, ModelStatus, Problem),
        "ExtractForm": _form(ExtractOptions),
        "RedactForm": _form(RedactOptions),
        "Models": _object(models={"type": "array", "items": reference("ServedModel")}, **_MODELS),
        "Readiness": _object(phase=reference("Phase"), **_READINESS),
        "Phase": {"type": "string", "enum": [*Phase]},
        "ErrorCode": {"type": "string", "enum": [*STATUS]},
    }
    found["Error"]["properties"]["code"] = reference("ErrorCode")
    model = found["ServedModel"]
    del model["properties"]["folder"]
    model["properties"] |= {"labels": _names(_TAGS), "entity_labels": _names(_LABELS)}
    model["required"] = [*model["properties"]]
    return {name: found[name] for name in sorted(found)}


_TAGS = "The model's tags: `B-PERSON` begins an entity, `I-PERSON` goes on with it. Empty with `free_labels`."
_LABELS = "The labels of its entities, which the option `labels` takes. Empty with `free_labels`: it takes any."
_MODELS: Schema = {
    "device": {"type": "string"},
    "dtype": {"type": "string"},
    "start_seconds": {
        "type": "object",
        "additionalProperties": {"type": "number"},
        "description": "Seconds that each step of the engine's start took.",
    },
    "fields_fitted_on": {
        "type": "string",
        "description": "Documents (the built-in model's card describes them), and the number of values in each, that "
        "the scores of roles were fitted on.",
    },
}
_READINESS: Schema = {
    "percent": {"type": "integer", "minimum": 0, "maximum": 100},
    "detail": {"type": "string"},
}


def _is_said_of(key: str, value: Any) -> bool:
    """True for a schema's own title and default; False for a member that is called so."""
    return key in ("title", "default") and not (isinstance(value, dict) and value)


def _names(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


def _answers(*kinds: type) -> dict[str, Schema]:
    """The schemas of what msgspec writes. A member with a default is always there; a titled part is a component."""
    _, found = msgspec.json.schema_components(kinds, ref_template=_TEMPLATE)
    parts: dict[str, Schema] = {}

    def renamed(node: Any, *, within: bool = True) -> Any:
        if isinstance(node, list):
            return [renamed(each) for each in node]
        if not isinstance(node, dict):
            return node
        name = str(node.get("$ref", "")).removeprefix(_PREFIX)
        members = {key: renamed(value) for key, value in node.items() if not _is_said_of(key, value)}
        if name:
            return {**members, **reference(NAMES.get(name, name))}
        title = node.get("title")
        if not within or not isinstance(title, str):
            return members
        parts[title] = members
        return reference(title)

    for name, schema in found.items():
        shown = renamed(schema, within=False)
        shown["description"] = inspect.cleandoc(schema.get("description", ""))
        if "enum" in schema:
            shown["type"] = "string"
        if properties := schema.get("properties"):
            needed = schema["required"]
            shown["required"] = [key for key, each in properties.items() if key in needed or "default" in each]
        parts[NAMES.get(name, name)] = shown
    return parts


def _requests(kinds: Mapping[str, type[Options]]) -> dict[str, Schema]:
    """The schemas of JSON bodies, and of what they refer to.

    None has a `default`: generators of types take a member with one for a member that is always there.
    """
    found: dict[str, Schema] = {}
    for name, kind in kinds.items():
        schema = _plain(kind.model_json_schema(ref_template=_TEMPLATE.replace("{name}", "{model}")))
        found |= schema.pop("$defs")
        found[name] = _one_of(schema, ("text", "pages", "documents"))
    found["TextDocument"] = _one_of(found["TextDocument"], ("text", "pages"))
    return found


def _one_of(schema: Schema, names: Sequence[str]) -> Schema:
    """The schema of an object that has one of these members, and no empty list."""
    properties: Schema = {**schema["properties"]}
    for name in names:
        properties[name] = _present(properties[name])
        if properties[name].get("type") == "array":
            properties[name]["minItems"] = 1
    return {**schema, "properties": properties, "oneOf": [{"required": [name]} for name in names]}


def _plain(node: Any) -> Any:
    """A schema by pydantic without the titles of its members, and with defaults in the descriptions."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _plain(value) for key, value in node.items() if not _is_said_of(key, value)}
    default = node.get("default")
    if default is not None and "description" in node:
        said = default if isinstance(default, str) else msgspec.json.encode(default).decode()
        plain["description"] += f" Default: `{said}`."
    return plain


def _form(kind: type[Options]) -> Schema:
    """The schema of a form: one or more files, with the options as fields."""
    files = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}}
    options = {name: {**schema} for name, schema in written_options(kind).items()}
    for schema in options.values():
        schema.pop("default", None)
    return {
        "type": "object",
        "required": ["file"],
        "properties": {"file": files, **options},
        "additionalProperties": False,
    }


def written_options(kind: type[Options]) -> dict[str, Schema]:
    """The schema of each option as text, as in a query or a form; lists are separated by commas, objects are JSON."""
    properties: dict[str, Schema] = _inline(kind.model_json_schema())["properties"]
    return {name: _present(schema, besides=("null", "array", "object")) for name, schema in properties.items()}


def _present(schema: Schema, besides: Sequence[str] = ("null",)) -> Schema:
    """The schema of a value of other types than these."""
    if "anyOf" not in schema:
        return schema
    kinds = [kind for kind in schema["anyOf"] if kind.get("type") not in besides]
    said = {name: schema[name] for name in ("description", "default") if schema.get(name) is not None}
    return {**(kinds[0] if len(kinds) == 1 else {"anyOf": kinds}), **said}


def of(kind: type) -> Schema:
    """The schema of what msgspec decodes or encodes as this type, with nothing beside it."""
    return _inline(msgspec.json.schema(kind))


def _inline(schema: Schema) -> Schema:
    """The schema with each `$ref` replaced by its definition."""
    definitions = schema.pop("$defs", {})

    def resolve(node: Any) -> Any:
        if isinstance(node, dict):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            rest = {key: resolve(value) for key, value in node.items() if key != "$ref"}
            if kinds := rest.pop("prefixItems", None):
                rest["items"] = kinds[0]  # Of tuples here all elements are of one kind; draft 7 knows no others.
            return {**resolve(definitions[name]), **rest} if name else rest
        return [resolve(each) for each in node] if isinstance(node, list) else node

    inlined: Schema = resolve(schema)
    return inlined
