"""Options of a request: pydantic checks them, and `ExtractJson` is what OpenAPI shows of a JSON body.

`bodies/json_body` decodes the body itself."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

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

from service.api.bodies.json_body import ID_CHARACTERS, unknown_option
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.offsets import OffsetUnit
from service.core.errors import InvalidOptions
from service.core.score_limits import PATTERN, ScoreLimits, read_limits
from service.core.types import Ocr, Priority

OPTION_CHARACTERS = 65_536
"""Longest value of an option in a form or a query."""
_MOST_SENTENCES = 3


def _labels(value: object) -> object:
    """A comma-separated string as a list, a blank one as none; in a list, the first that is no string is named."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()] or None
    if (
        isinstance(value, list)
        and (wrong := next((i for i, each in enumerate(value) if type(each) is not str), -1)) >= 0
    ):
        raise ValueError(f"Element {wrong} should be a valid string")
    return value


def _number(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("Input should be a number, not true or false")
    return value


_LABELS = {
    "anyOf": [
        {"type": "array", "items": {"type": "string"}},
        {"type": "string", "maxLength": OPTION_CHARACTERS},
        {"type": "null"},
    ]
}
_MIN_SCORE = {
    "anyOf": [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "string", "pattern": PATTERN, "maxLength": OPTION_CHARACTERS},
    ]
}


class Options(BaseModel):
    """The options of a request; JSON keys, form fields and query parameters have these names."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_enum_values=False)

    model: str | None = Field(
        None, max_length=512, description="`name`, `name@tag` or `name@sha256:…`; the first served if absent."
    )
    labels: Annotated[list[str] | None, BeforeValidator(_labels), WithJsonSchema(_LABELS)] = Field(
        None, description="Keep only entities with these labels: a list, or one text with commas between them."
    )
    min_score: Annotated[
        ScoreLimits, PlainValidator(read_limits), PlainSerializer(asdict), WithJsonSchema(_MIN_SCORE)
    ] = Field(
        ScoreLimits(),
        description="Keep only entities with at least this score: a number, or `PERSON:0.8,IBAN:0.5` with a number "
        "among them for all other labels. Scores of a calibrated model are the share that is right.",
        json_schema_extra={"default": 0.0},
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
    fields: bool = Field(
        False, description="Return what invoices, receipts and résumés say: the best value for each role, rows, checks."
    )


class TextDocument(BaseModel):
    """One document of a JSON batch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str | None = Field(None, max_length=ID_CHARACTERS, description="Comes back with the result.")
    text: str


class ExtractJson(Options):
    """A JSON body: `text`, or `documents`, with the options beside it."""

    text: str | None = None
    documents: list[TextDocument] | None = None


def read_options(values: dict[str, Any], kind: type[Options] = Options) -> Options:
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
    return tuple(sorted(kind.model_fields))


def _sentence(error: Any, kind: type[Options]) -> str:
    where = ".".join(map(str, error["loc"])) or "body"
    if error["type"] == "extra_forbidden":
        return unknown_option(where, option_names(kind)).detail
    return f"{where[:100]}: {error['msg'].removeprefix('Value error, ')}"
