"""GLiNER2's API, as its `GLiNER2API` speaks it: entities by label, or records, of one text or several.

    POST /gliner-2 and /{model}/gliner-2    {"task", "text": text or texts, "schema", "threshold"?, …} → {"result": …}

Of its tasks `extract_entities` and `extract_json` are answered, and a `schema` that asks for one of them. Source:
gliner2 2.1 (`api_client.py`, `inference/runtime.py`: what a field asks for, and how answers are formatted).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from service.api import json_schemas, problems
from service.api.adapters.gliner import Score, labels_body
from service.api.adapters.protocol_adapter import (
    JSON,
    AdapterRoute,
    ProtocolAdapter,
    decode_body,
    operation,
    receive_body,
    respond,
    results,
    with_parameters,
)
from service.api.calls import RequestContext, authorize_request
from service.api.http.response import DocumentOutcome
from service.api.schemas import DocumentResult, EntityResult
from service.core.decoding.records import Cardinality
from service.core.decoding.spans import Overlaps
from service.core.errors import InvalidOptions

ENTITIES, RECORDS = "extract_entities", "extract_json"
OTHER_TASKS = ("classifications", "relations")
"""Parts of a schema that no model here answers."""


class EntityType(msgspec.Struct, frozen=True):
    """One label of GLiNER2's schema. `dtype`: all its entities, or the best one."""

    description: str | None = None
    dtype: Literal["list", "str"] | None = None
    threshold: Score | None = None


class FieldSpec(msgspec.Struct, frozen=True):
    """One field of a structure in GLiNER2's schema. `dtype`: several values, or one that is always there."""

    name: str
    dtype: Literal["list", "str"] = "list"
    description: str | None = None
    threshold: Score | None = None
    choices: list[str] | None = None

    @classmethod
    def read(cls, spec: str) -> FieldSpec:
        """A field as a text: its name, then any of its type, its choices and its description, with `::` between."""
        name, *more = spec.split("::")
        said: dict[str, Any] = {}
        for part in more:
            if part in ("str", "list"):
                said["dtype"] = part
            elif part.startswith("[") and part.endswith("]"):
                said["choices"] = part[1:-1].split("|")
            else:
                said["description"] = part
        return cls(name, **said)

    @property
    def is_one(self) -> bool:
        """True where it has one value."""
        return self.dtype == "str"

    def option(self) -> dict[str, object]:
        """The same in the option `schema`.

        Raises:
            InvalidOptions: it chooses among texts.
        """
        if self.choices:
            raise InvalidOptions(f"schema: {self.name[:50]!r} has choices; fields have values that are in the text.")
        cardinality = Cardinality.REQUIRED_ONE if self.is_one else Cardinality.ZERO_OR_MORE
        return {
            "name": self.name,
            "description": self.description,
            "min_score": self.threshold,
            "cardinality": cardinality.value,
        }


class Gliner2Request(msgspec.Struct, frozen=True):
    """A body of GLiNER2's API. `schema`: labels, or structures, or an object with one of them among its tasks."""

    task: str
    text: str | list[str]
    schema: list[str] | dict[str, Any]
    threshold: Score = 0.5
    include_confidence: bool = False
    include_spans: bool = False
    format_results: bool = True

    @property
    def texts(self) -> Sequence[str]:
        """The texts as a list."""
        return (self.text,) if isinstance(self.text, str) else self.text

    def structures(self) -> dict[str, list[FieldSpec]] | None:
        """The records that are asked for; None where entities are.

        Raises:
            InvalidOptions: they are no structures, or something else is asked for, too; it is named.
        """
        asked: object = self.schema
        if self.task == "schema" and isinstance(self.schema, dict):
            asked = self.schema.get("structures")
            if not asked:
                return None
            if other := next((e for e in ("entities", *OTHER_TASKS) if self.schema.get(e)), None):
                raise InvalidOptions(f"schema: {other} are not found beside structures; ask for them alone.")
        elif self.task != RECORDS:
            return None
        try:
            named = msgspec.convert(asked, dict[str, list[FieldSpec | str]])
        except msgspec.ValidationError as error:
            raise InvalidOptions(f"schema: {str(error)[:200]}.") from None
        return {
            " ".join(name.split()): [
                msgspec.structs.replace(each, name=" ".join(each.name.split()))
                for each in (FieldSpec.read(spec) if isinstance(spec, str) else spec for spec in specs)
            ]
            for name, specs in named.items()
        }

    def entity_types(self) -> dict[str, EntityType]:
        """The labels that are asked for.

        Raises:
            InvalidOptions: something else is asked for, too; it is named.
        """
        if self.task == ENTITIES:
            return _entity_types(self.schema)
        if self.task != "schema" or not isinstance(self.schema, dict):
            known = f"{ENTITIES!r}, {RECORDS!r} and 'schema'"
            raise InvalidOptions(f"task: {self.task[:50]!r} is not answered; there are {known}.")
        if other := next((each for each in OTHER_TASKS if self.schema.get(each)), None):
            raise InvalidOptions(f"schema: {other} are not found here; ask for `entities` or `structures` alone.")
        dtype, threshold = self.schema.get("entity_dtype"), self.schema.get("entity_threshold")
        return _entity_types(self.schema.get("entities"), {"dtype": dtype, "threshold": threshold})


def _entity_types(asked: object, default: Mapping[str, object] = MappingProxyType({})) -> dict[str, EntityType]:
    """The labels of a schema; what one does not say of itself, `default` does."""
    try:
        usual = msgspec.convert(default, EntityType)
        named = msgspec.convert(asked, str | list[str] | dict[str, EntityType | str | None])
    except msgspec.ValidationError as error:
        raise InvalidOptions(f"schema: {str(error)[:200]}.") from None
    if not isinstance(named, dict):
        named = dict.fromkeys([named] if isinstance(named, str) else named)
    own = {name: EntityType(each) if isinstance(each, str) else each or usual for name, each in named.items()}
    return {
        " ".join(name.split()): EntityType(
            each.description,
            each.dtype or usual.dtype,
            usual.threshold if each.threshold is None else each.threshold,
        )
        for name, each in own.items()
    }


async def _answer(request: Request, model: str | None = None) -> Response:
    context = authorize_request(request)
    asked = decode_body(await receive_body(request, context), context, Gliner2Request)
    if (structures := asked.structures()) is not None:
        return await _answer_records(request, context, asked, structures, model)
    kinds = asked.entity_types()
    labels = {name: {"description": each.description, "min_score": each.threshold} for name, each in kinds.items()}
    body = labels_body(context, asked.texts, model, Overlaps.PER_LABEL, labels=labels, min_score=asked.threshold)
    call = context.call(body)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [_spelled(each, kinds, asked) for each in results(outcomes)]
        return {"result": found[0] if isinstance(asked.text, str) else found}

    return await respond(request, call, render)


async def _answer_records(
    request: Request,
    context: RequestContext,
    asked: Gliner2Request,
    structures: Mapping[str, Sequence[FieldSpec]],
    model: str | None,
) -> Response:
    schema = {name: [each.option() for each in fields] for name, fields in structures.items()}
    body = labels_body(context, asked.texts, model, Overlaps.FLAT, schema=schema, min_score=asked.threshold)

    def render(outcomes: list[DocumentOutcome]) -> Any:
        found = [_spelled_records(each, structures, asked) for each in results(outcomes)]
        return {"result": found[0] if isinstance(asked.text, str) else found}

    return await respond(request, context.call(body), render)


def _spelled_records(
    document: DocumentResult, structures: Mapping[str, Sequence[FieldSpec]], asked: Gliner2Request
) -> dict[str, Any]:
    """A document's records of the kinds that it has some of."""
    assert isinstance(document.records, dict), "they were asked for"
    spelled: dict[str, Any] = {}
    for name, found in document.records.items():
        fields = structures[name]
        for each in found:
            sure = {"confidence": each.score} if asked.include_confidence else {}
            values = {field.name: _values(each.fields[field.name], asked, one=field.is_one) for field in fields}
            spelled.setdefault(name, []).append({**values, **sure})
    return spelled


def _values(found: Sequence[EntityResult], asked: Gliner2Request, *, one: bool) -> Any:
    """The values of a field, the surest first; without their places each text once, in any case."""
    is_told_apart = asked.include_spans or not asked.format_results
    unique: dict[object, EntityResult] = {}
    for each in sorted(found, key=lambda each: -each.score):
        unique.setdefault((each.start, each.end) if is_told_apart else each.text.lower(), each)
    spelled = [_entity(each, asked) for each in unique.values()]
    return next(iter(spelled), None) if one else spelled


def _spelled(document: DocumentResult, kinds: Mapping[str, EntityType], asked: Gliner2Request) -> dict[str, Any]:
    """A document's entities by label, the surest first; without their places each text once, in any case."""
    found: dict[str, list[EntityResult]] = {name: [] for name in kinds}
    for each in document.entities:
        found[each.label].append(each)
    spelled = {name: _values(found[name], asked, one=kind.dtype == "str") for name, kind in kinds.items()}
    return {"entities": spelled if asked.format_results else [spelled]}


def _entity(entity: EntityResult, asked: Gliner2Request) -> str | dict[str, Any]:
    more: dict[str, Any] = {"confidence": entity.score} if asked.include_confidence else {}
    if asked.include_spans:
        more |= {"start": entity.start, "end": entity.end}
    return {"text": entity.text, **more} if more else entity.text


_ANSWER = {"type": "object", "required": ["result"]}
_OPERATION = operation(
    "GLiNER2: entities by label, or records",
    body={JSON: json_schemas.of(Gliner2Request)},
    answer={JSON: _ANSWER},
    error={problems.MEDIA_TYPE: json_schemas.reference("Error")},
)

ADAPTER = ProtocolAdapter(
    "gliner2",
    (
        AdapterRoute("POST", "/gliner-2", _answer, _OPERATION),
        AdapterRoute("POST", "/{model:path}/gliner-2", _answer, with_parameters(_OPERATION, "model")),
    ),
    problems.response,
)
