"""Bodies of GLiNER's server and of GLiNER2's API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

import msgspec

from service.api.bodies.kinds import Content
from service.core.decoding.records import Cardinality
from service.core.errors import InvalidOptions

Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
ENTITIES, RECORDS = "extract_entities", "extract_json"
OTHER_TASKS = ("classifications", "relations")
"""Parts of a schema that no model here answers."""


class GlinerRequest(msgspec.Struct, frozen=True):
    """A body of GLiNER's server. `labels`: names, or each name with a description."""

    text: str
    labels: list[str] | dict[str, str]
    threshold: Score | None = None
    flat_ner: bool = True
    multi_label: bool = False
    relations: list[str] | None = None
    adapter_id: str | None = None

    def contents(self) -> list[Content]:
        return [self.text]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, text=contents[0])


class EntityType(msgspec.Struct, frozen=True):
    """What GLiNER2's schema says of one label. `dtype`: all its entities, or the best one."""

    description: str | None = None
    dtype: Literal["list", "str"] | None = None
    threshold: Score | None = None


class FieldSpec(msgspec.Struct, frozen=True):
    """What GLiNER2's schema says of one field of a structure. `dtype`: several values, or one that is always there."""

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

    def contents(self) -> list[Content]:
        return [*self.texts]

    def filled(self, contents: Sequence[Content]) -> Self:
        text = contents[0] if isinstance(self.text, str) else list(contents)
        return msgspec.structs.replace(self, text=text)

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
