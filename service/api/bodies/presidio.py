"""The bodies of Presidio's analyzer and anonymizer, as their REST services take them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

import msgspec

from service.api.bodies.door_json import Content
from service.core.anonymizing import HASHES, KEEP, REDACT, Operator, hash_with, mask_with, replace_by
from service.core.errors import InvalidOptions

FLAGS = int(re.DOTALL | re.MULTILINE | re.IGNORECASE)
"""Presidio's own for patterns (`PatternRecognizer`); the module `regex` has the same numbers."""
LONGEST_PATTERN = 2_000
OPERATORS = ("replace", "redact", "mask", "hash", "keep")

_Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Source = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATTERN)]


class AdHocPattern(msgspec.Struct, frozen=True):
    """One pattern, with the score of what it matches."""

    regex: Source
    score: _Score
    name: str = ""


class AdHocRecognizer(msgspec.Struct, frozen=True):
    """Patterns, or words, that mean one kind of entity."""

    supported_entity: Annotated[str, msgspec.Meta(min_length=1)]
    name: str = ""
    patterns: list[AdHocPattern] = []
    deny_list: list[Annotated[str, msgspec.Meta(min_length=1)]] = []
    deny_list_score: _Score = 1.0
    global_regex_flags: Annotated[int, msgspec.Meta(ge=0)] = FLAGS


class AnalyzeRequest(msgspec.Struct, frozen=True):
    """The body of /analyze."""

    text: str | list[str]
    language: str | None = None
    entities: list[str] | None = None
    score_threshold: _Score | None = None
    ad_hoc_recognizers: list[AdHocRecognizer] | None = None
    allow_list: list[Source] | None = None
    allow_list_match: Literal["exact", "regex"] | None = None
    regex_flags: Annotated[int, msgspec.Meta(ge=0)] | None = None

    @property
    def texts(self) -> list[str]:
        """The texts as a list."""
        return [self.text] if isinstance(self.text, str) else self.text

    def contents(self) -> list[Content]:
        return [*self.texts]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, text=contents[0] if isinstance(self.text, str) else list(contents))


class Anonymizer(msgspec.Struct, frozen=True):
    """What is to be done with one kind of finding."""

    type: str
    new_value: str | None = None
    masking_char: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] = "*"
    chars_to_mask: int = 0
    from_end: bool = False
    hash_type: str = "sha256"
    salt: str | None = None

    def operator(self, salt: bytes) -> Operator:
        """As a function; raises InvalidOptions where there is none of that name."""
        if self.type == "replace":
            return replace_by(self.new_value or None)
        if self.type == "mask":
            return mask_with(self.masking_char, self.chars_to_mask, from_end=self.from_end)
        if self.type == "hash" and self.hash_type in HASHES:
            return hash_with(self.hash_type, salt if self.salt is None else self.salt.encode())
        if self.type in ("redact", "keep"):
            return REDACT if self.type == "redact" else KEEP
        raise InvalidOptions(f"{self.type[:40]!r} is no operator here; there are {', '.join(OPERATORS)}.")


class AnalyzerResult(msgspec.Struct, frozen=True):
    """One finding, as it is sent back."""

    entity_type: str
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: Annotated[int, msgspec.Meta(ge=0)]
    score: float = 0.0


class AnonymizeRequest(msgspec.Struct, frozen=True):
    """The body of /anonymize."""

    text: str
    analyzer_results: list[AnalyzerResult]
    anonymizers: dict[str, Anonymizer] | None = None

    def contents(self) -> list[Content]:
        return [self.text]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, text=contents[0])
