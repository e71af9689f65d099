"""The schemas of /redact: its options and its answer."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from pydantic import Field

from service.api.options import ExtractOptions, InputPage, Options, TextDocument
from service.api.problems import Problem
from service.api.schemas import Box, ModelName, Offset, PageSize, WordRange
from service.core.decoding.offsets import OffsetUnit
from service.core.redaction import RedactionMode


class RedactOutput(StrEnum):
    """`document`: a file of the same format; `text`: its text."""

    DOCUMENT = "document"
    TEXT = "text"


class RedactOptions(Options):
    """The options of /redact. `labels`: those of the entities that go; all if absent."""

    mode: RedactionMode = Field(
        RedactionMode.REPLACE,
        description="What stands in a text instead: `replace`: `<LABEL>`; `mask`: asterisks; `hash`: a keyed hash, "
        "equal for equal values. In a file there is a black bar.",
    )
    repeats: bool = Field(
        True, description="Also redact other places where the same words stand (of 4 characters or more)."
    )
    output: RedactOutput = Field(
        RedactOutput.DOCUMENT,
        description="`document`: a PDF or a picture comes back in its format; `text`: the text of any file.",
    )
    raw: bool = Field(False, description="The answer is the redacted document itself, without a report; of one only.")
    allow_unread: bool = Field(
        False, description="Let what was not read of a file's pages stay as it is; otherwise it is refused."
    )

    def for_extraction(self) -> ExtractOptions:
        """The common ones, but offsets are of code points until the end, and the text is needed."""
        common: dict[str, Any] = {name: getattr(self, name) for name in Options.model_fields}
        return ExtractOptions(**{**common, "offsets": OffsetUnit.CODEPOINT, "include_text": True})


class RedactJson(RedactOptions):
    """A JSON body: `text`, `pages`, or `documents`, with the options beside it."""

    text: str | None = None
    pages: list[InputPage] | None = None
    documents: list[TextDocument] | None = None


class RedactedEntity(msgspec.Struct, frozen=True):
    """One range that went: `start`, `end` in the document's text; `new_start`, `new_end` in the text that comes back.

    `score` is null for one that the model did not find, and that repeats another. `text`, what stood there, only with
    `include_text`.
    """

    label: str
    start: Offset
    end: Offset
    new_start: Offset | None
    new_end: Offset | None
    replacement: str | None
    score: float | None
    page: int | None
    boxes: list[Box]
    words: WordRange | msgspec.UnsetType = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET


class RedactedContent(msgspec.Struct, frozen=True):
    """A redacted file; `data` in base64."""

    media_type: str
    data: bytes


class RasterizedPage(msgspec.Struct, frozen=True):
    """A page that is a picture now, and why: it was read by OCR, or could not be rewritten exactly."""

    page: int
    reason: str


class RedactedResult(msgspec.Struct, frozen=True):
    """One document without what was to go, or its error: `text`, or of a PDF or picture `file`.

    `rasterized_pages` became pictures; what was not read of `unread_pages` was left alone, as `allow_unread` says.
    `removed`: what went of a file beside its text (metadata, attachments, form fields …).
    """

    id: str
    characters: int
    tokens: int
    entities: list[RedactedEntity]
    text: str | None
    file: RedactedContent | None
    pages: int | None
    rasterized_pages: list[RasterizedPage]
    unread_pages: list[int]
    removed: list[str]
    error: Problem | None
    page_sizes: list[PageSize] | msgspec.UnsetType = msgspec.UNSET
    original_text: str | msgspec.UnsetType = msgspec.UNSET


class RedactTiming(msgspec.Struct, frozen=True):
    """Milliseconds by stage, summed over the documents; `total_ms` is the request's own time."""

    parse_ms: float = 0.0
    tokenize_ms: float = 0.0
    queue_ms: float = 0.0
    compute_ms: float = 0.0
    decode_ms: float = 0.0
    redact_ms: float = 0.0
    total_ms: float = 0.0


class RedactedLine(msgspec.Struct, frozen=True):
    """One document's answer by itself."""

    model: ModelName
    document: RedactedResult
    timing: RedactTiming


class RedactResult(msgspec.Struct, frozen=True):
    """The JSON answer to one request."""

    model: ModelName
    documents: list[RedactedResult]
    timing: RedactTiming
