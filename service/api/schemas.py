"""The schemas of HTTP bodies: request options (pydantic) and results (msgspec).

`ExtractJson` is what OpenAPI shows of a JSON body; `bodies/json_body` decodes it."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

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

from service.api.bodies.json_body import ID_CHARACTERS, known_options
from service.api.problems import Problem
from service.core.decoding.aggregation_strategies import Aggregation
from service.core.decoding.entities import Source
from service.core.decoding.offsets import OffsetUnit
from service.core.decoding.value import ValueKind
from service.core.errors import InvalidOptions
from service.core.fields.kinds import DocumentKind
from service.core.fields.mentions import Reason
from service.core.score_limits import PATTERN, ScoreLimits, read_limits
from service.core.types import Priority
from service.documents.document import Charset, UnreadReason

OPTION_CHARACTERS = 65_536
"""Longest value of an option in a form or a query."""
_MOST_SENTENCES = 3


def _labels(value: object) -> object:
    """A comma-separated string as a list; of a list with anything but strings, the first is named."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
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
    what = error["msg"].removeprefix("Value error, ")
    return f"{where[:100]}: {what}{known_options(option_names(kind)) if error['type'] == 'extra_forbidden' else ''}"


class ModelName(msgspec.Struct, frozen=True):
    """The model that the answer is from."""

    name: str
    revision: str


class EntityResult(msgspec.Struct, frozen=True):
    """One entity; `text` is exactly the document's characters `[start:end]`.

    `kind` is the form of `value`, and `source` says whether the model or a rule found it. What there is nothing to say
    about is left out: `valid` where there is no checksum, `ambiguous` (all readings) where there is one reading, and
    `number` and `unit` where the value has none.
    `score`: with `constrained`, of a calibrated model (`/models`), the share of such entities whose span and label are
    right; of others the mean probability that the model gave its words.
    """

    label: str
    text: str
    start: int
    end: int
    score: float
    value: str
    page: int | None
    boxes: list[tuple[float, float, float, float]]
    kind: ValueKind = ValueKind.TEXT
    source: Source = Source.MODEL
    valid: bool | msgspec.UnsetType = msgspec.UNSET
    ambiguous: list[str] | msgspec.UnsetType = msgspec.UNSET
    number: str | msgspec.UnsetType = msgspec.UNSET
    unit: str | msgspec.UnsetType = msgspec.UNSET


class FieldResult(EntityResult, frozen=True, kw_only=True):
    """The entity chosen for a role, and those with other values, best first.

    With `source: rule` and a label of no role (MONEY, DATE, ID_NUMBER) it may be none of `entities`: a value that the
    model has not found, beside words for the role. `score` is then judged by the kind of words, and not calibrated.
    `reason`: what decided: its label and score, amounts that add up (`sum`), or words and place (`context`).
    With `source: embedded` the value is the one that the XML of an electronic invoice states; `text` is then empty
    where the page does not show it.
    """

    reason: Reason
    alternatives: list[EntityResult]


class LineItemResult(msgspec.Struct, frozen=True):
    """One row of a bill."""

    description: EntityResult
    quantity: EntityResult | None
    unit_price: EntityResult | None
    amount: EntityResult | None


class CheckResult(msgspec.Struct, frozen=True):
    """A sum that was checked; `difference`: its left side less its right one."""

    rule: str
    holds: bool
    difference: str


class JobResult(msgspec.Struct, frozen=True):
    """One job of a résumé. `ongoing`: the document says that it lasts ("present")."""

    title: EntityResult | None
    employer: EntityResult | None
    dates: list[EntityResult]
    ongoing: bool


class EducationResult(msgspec.Struct, frozen=True):
    """One education of a résumé. `ongoing`: the document says that it lasts."""

    degree: EntityResult | None
    school: EntityResult | None
    dates: list[EntityResult]
    ongoing: bool


class ContradictionResult(msgspec.Struct, frozen=True):
    """A role for which an invoice's XML states one value (`embedded`) and the page shows another (`page`)."""

    role: str
    embedded: str
    page: EntityResult


class EmbeddedResult(msgspec.Struct, frozen=True):
    """The XML of an electronic invoice, of which the fields are: an attachment (`file`), or the document itself.

    `profile`: the guideline that it names; `document_type`: of UNTDID 1001: 380 an invoice, 381 a credit note.
    `contradictions`: where page and XML say different things, as in a fraud or a mistake of the sender.
    """

    syntax: str
    profile: str
    file: str | None
    document_type: str
    contradictions: list[ContradictionResult]


class FieldsResult(msgspec.Struct, frozen=True):
    """The fields of one document, by role. `evidence`: the labels that decided its kind, with the best score of each.

    Bills have `currency`, `line_items`, `checks` and `bills`, résumés the lists after them. `bills`: how many the text
    seems to hold; over 1, the roles are chosen from all of them, and the file is better split.
    """

    kind: DocumentKind
    evidence: dict[str, float]
    roles: dict[str, FieldResult]
    currency: str | msgspec.UnsetType | None = msgspec.UNSET
    line_items: list[LineItemResult] | msgspec.UnsetType = msgspec.UNSET
    checks: list[CheckResult] | msgspec.UnsetType = msgspec.UNSET
    bills: int | msgspec.UnsetType = msgspec.UNSET
    embedded: EmbeddedResult | msgspec.UnsetType = msgspec.UNSET
    jobs: list[JobResult] | msgspec.UnsetType = msgspec.UNSET
    educations: list[EducationResult] | msgspec.UnsetType = msgspec.UNSET
    skills: list[EntityResult] | msgspec.UnsetType = msgspec.UNSET
    languages: list[EntityResult] | msgspec.UnsetType = msgspec.UNSET


class PartlyReadResult(msgspec.Struct, frozen=True):
    """Part of a page that was not read: why (`image`, `outlines`, `unmapped`), and boxes around it in points."""

    page: int
    reason: UnreadReason
    boxes: list[tuple[float, float, float, float]]


class DocumentResult(msgspec.Struct, frozen=True, omit_defaults=False):
    """One document's entities, or its error.

    `unread_pages`: numbers of the pages of which nothing was read, or next to nothing: scans, also with a stamp.
    `partly_read`: what was not read of pages with text; all others were read in full.
    `charset`: the character encoding that a text or HTML file was read in, how it was found, and how surely.
    `fields`: null where no kind of document fits; absent unless asked for.
    """

    id: str
    pages: int | None
    unread_pages: list[int]
    characters: int
    tokens: int
    windows: int
    truncated: bool
    entities: list[EntityResult]
    error: Problem | None
    partly_read: list[PartlyReadResult] = []
    charset: Charset | msgspec.UnsetType = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET
    fields: FieldsResult | msgspec.UnsetType | None = msgspec.UNSET


class Timing(msgspec.Struct, frozen=True):
    """Milliseconds by stage, summed over the documents; `total_ms` is the request's own time."""

    parse_ms: float = 0.0
    tokenize_ms: float = 0.0
    queue_ms: float = 0.0
    compute_ms: float = 0.0
    decode_ms: float = 0.0
    total_ms: float = 0.0


class ExtractResult(msgspec.Struct, frozen=True):
    """The JSON answer to one request."""

    model: ModelName
    documents: list[DocumentResult]
    timing: Timing


class DocumentLine(msgspec.Struct, frozen=True):
    """One line of an NDJSON answer."""

    model: ModelName
    document: DocumentResult
    timing: Timing
