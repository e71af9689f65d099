"""Options of a request: pydantic checks them, and `ExtractJson` is what OpenAPI shows of a JSON body.

`json_body` decodes the body itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from functools import cache
from typing import Annotated, Any, TypeVar, cast, overload

import msgspec
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)

from service.api.json_body import ID_CHARACTERS, unknown_option
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.offsets import OffsetUnit
from service.core.decoding.records import Cardinality
from service.core.decoding.spans import Overlaps
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.core.labels.label_set import (
    DESCRIPTION_CHARACTERS,
    LIMITS_PATTERN,
    NAME_CHARACTERS,
    ScoreLimits,
    read_labels,
    read_limits,
)
from service.core.labels.record_schema import read_schema
from service.core.types import Ocr, Priority
from service.documents.placed_pages import LEAST_SIDE, MOST_SIDE, MOST_WORD_CHARACTERS, MOST_WORDS

OPTION_CHARACTERS = 65_536
"""Longest value of an option in a form or a query."""
_MOST_SENTENCES = 3


def _labels(value: object) -> object:
    """A list of names, from a text too; an object as it is. A form's field may hold the JSON of both."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"Input should be labels, or the JSON of a list or an object: {error}") from None
    read = read_labels(value)
    names = None if read is None else [each.name for each in read]
    return dict(zip(names, value.values(), strict=True)) if names and isinstance(value, dict) else names


def _schema(value: object) -> object:
    """An object as it came, if it says what records are asked for; a form's field holds its JSON."""
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"Input should be the JSON of an object: {error}") from None
    read_schema(value)
    return value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not true or false")
    return value


_LABEL: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "maxLength": DESCRIPTION_CHARACTERS},
        {
            "type": "object",
            "properties": {
                "description": {"type": "string", "maxLength": DESCRIPTION_CHARACTERS},
                "kind": {"type": "string", "enum": [*ValueKind]},
                "min_score": {"type": "number", "minimum": 0, "maximum": 1},
            },
            "additionalProperties": False,
        },
    ]
}
_LABELS = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {"type": "object", "additionalProperties": _LABEL},
        {"type": "string", "maxLength": OPTION_CHARACTERS},
        {"type": "null"},
    ]
}
_FIELD = {
    "anyOf": [
        {"type": "string", "maxLength": NAME_CHARACTERS},
        {
            **_LABEL["anyOf"][1],
            "properties": {
                "name": {"type": "string", "maxLength": NAME_CHARACTERS},
                **_LABEL["anyOf"][1]["properties"],
                "cardinality": {"type": "string", "enum": [*Cardinality]},
            },
            "required": ["name"],
        },
    ]
}
_SCHEMA = {
    "anyOf": [
        {"type": "object", "additionalProperties": {"type": "array", "items": _FIELD, "minItems": 1}},
        {"type": "string", "maxLength": OPTION_CHARACTERS},
        {"type": "null"},
    ]
}
_MIN_SCORE = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": LIMITS_PATTERN, "maxLength": OPTION_CHARACTERS},
    ]
}


class Options(BaseModel, ABC):
    """The options of every route; JSON keys, form fields and query parameters have these names."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_enum_values=False)

    model: str | None = Field(
        None, max_length=512, description="`name`, `name@tag` or `name@sha256:…`; the first served if absent."
    )
    labels: Annotated[list[str] | dict[str, Any] | None, PlainValidator(_labels), WithJsonSchema(_LABELS)] = Field(
        None,
        description="Keep only entities with these labels: a list, or one text with commas between them. A model with "
        "`free_labels` is given them; an object says more of each name: a description, which it reads in place of the "
        "name, or an object with `description`, `kind` (the form of its values) and `min_score`.",
    )
    overlaps: Overlaps = Field(
        Overlaps.FLAT,
        description="Of a model with `free_labels`: entities share no words (`flat`), one may be inside another "
        "(`nested`), or those of different labels do not mind each other (`per_label`). `flat_multi_label` and "
        "`nested_multi_label`: besides, the same words may have several labels.",
    )
    min_score: Annotated[
        ScoreLimits, PlainValidator(read_limits), PlainSerializer(asdict), WithJsonSchema(_MIN_SCORE)
    ] = Field(
        ScoreLimits(),
        description="Keep only entities with at least this score: a number, or `PERSON:0.8,IBAN:0.5` with a number "
        "among them for all other labels. 0.5 if absent, of a model with `free_labels`, else 0. "
        "Scores of a calibrated model are the share that is right. Fields are chosen from all entities nevertheless.",
        json_schema_extra=lambda schema: cast(None, schema.pop("default", None)),
    )
    aggregation: Aggregation = Field(
        Aggregation.CONSTRAINED,
        description="`constrained`: the best valid tag path; the others as transformers' pipeline has them.",
    )
    offsets: OffsetUnit = Field(OffsetUnit.CODEPOINT, description="What `start` and `end` count.")
    deadline_ms: Annotated[int | None, BeforeValidator(_number)] = Field(
        None, ge=1, le=3_600_000, description="Give up after this many milliseconds."
    )
    priority: Priority = Field(Priority.INTERACTIVE, description="`batch` yields to `interactive`.")
    include_text: bool = Field(False, description="Return each document's text, so that offsets can be checked.")
    ocr: Ocr = Field(
        Ocr.AUTO,
        description="Recognize text in pictures: `auto`: of pages and pictures whose text is not in the file; `off`; "
        "`force`: of all pages of a PDF, in place of its text.",
    )

    @abstractmethod
    def for_extraction(self) -> ExtractOptions:
        """The options by which the documents are extracted."""


class ExtractOptions(Options):
    """The options of /extract."""

    records: Annotated[dict[str, Any] | None, PlainValidator(_schema), WithJsonSchema(_SCHEMA)] = Field(
        None,
        alias="schema",
        description="Of a model with `finds_records`: return records in place of entities: names of records, each with "
        "the list of its fields. A field is a name, or an object with `name`, `description`, `kind`, `min_score` and "
        "`cardinality` (how many values it has). A record begins with a value of its first field.",
    )
    fields: bool = Field(
        False,
        description="Divide a file into its papers; return what its invoices, credit notes, receipts and résumés say: "
        "the best value for each role, rows, taxes, checks. `labels` and `min_score` do not change it.",
    )

    def for_extraction(self) -> ExtractOptions:
        return self


_EXAMPLE_PAGE: dict[str, Any] = {
    "width": 595,
    "height": 842,
    "words": [{"text": "Jane", "box": [50, 50, 80, 62]}, {"text": "Doe", "box": [85, 50, 110, 62]}],
}
_Side = Annotated[float, Field(ge=LEAST_SIDE, le=MOST_SIDE)]


class InputWord(BaseModel):
    """A word, and its box on the page."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: str = Field(
        min_length=1,
        max_length=MOST_WORD_CHARACTERS,
        json_schema_extra={"pattern": r"[^\s\x1c-\x1f\x85]"},  # White space is what `str.isspace` says.
        description="Not white space alone.",
    )
    box: tuple[float, float, float, float] = Field(
        description="`[left, top, right, bottom]` in the unit of the page's `width` and `height`, from its top left."
    )


class InputPage(BaseModel):
    """A page of words with their boxes, in any unit, and its picture."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE_PAGE]})

    width: _Side
    height: _Side
    words: list[InputWord] = Field(
        max_length=MOST_WORDS,
        description="In reading order. The text has a space between two words, or a line end if the box of the "
        "second one begins a line.",
    )
    image: str | None = Field(
        None,
        min_length=1,
        json_schema_extra={"contentEncoding": "base64"},
        description="The picture file of the page in base64 (PNG, JPEG …), for models that see pictures.",
    )


class TextDocument(BaseModel):
    """One document of a JSON batch: `text`, or `pages`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = Field(None, max_length=ID_CHARACTERS, description="Comes back with the result.")
    text: str | None = None
    pages: list[InputPage] | None = None


class ExtractJson(ExtractOptions):
    """A JSON body: `text`, `pages`, or `documents`, with the options beside it."""

    text: str | None = None
    pages: list[InputPage] | None = None
    documents: list[TextDocument] | None = None


_Kind = TypeVar("_Kind", bound=Options)


@overload
def read_options(values: dict[str, Any]) -> ExtractOptions: ...


@overload
def read_options(values: dict[str, Any], kind: type[_Kind]) -> _Kind: ...


def read_options(values: dict[str, Any], kind: type[Options] = ExtractOptions) -> Options:
    """Validated options of a route.

    Raises:
        InvalidOptions: an unknown name or a bad value; names it, and the next two if there are more.
    """
    for name, value in values.items():
        if isinstance(value, str) and len(value) > OPTION_CHARACTERS:
            raise InvalidOptions(f"{name[:100]}: longer than {OPTION_CHARACTERS:,} characters.")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        raise InvalidOptions("; ".join(_sentence(each, kind) for each in wrong[:_MOST_SENTENCES])) from None


@cache
def option_names(kind: type[Options]) -> tuple[str, ...]:
    """The names of all options of a route, sorted."""
    return tuple(sorted(field.alias or name for name, field in kind.model_fields.items()))


def _sentence(error: Any, kind: type[Options]) -> str:
    where = ".".join(map(str, error["loc"])) or "body"
    if error["type"] == "extra_forbidden":
        return unknown_option(where, option_names(kind)).detail
    return f"{where[:100]}: {error['msg'].removeprefix('Value error, ')}"
