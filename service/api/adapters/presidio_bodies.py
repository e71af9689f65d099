"""Bodies of Presidio's analyzer and anonymizer."""

from __future__ import annotations

import re
from typing import Annotated, Literal

import msgspec

from service.api.adapters.presidio_operators import (
    HASHES,
    KEEP,
    OPERATORS,
    REDACT,
    Operator,
    hash_with,
    mask_with,
    replace_by,
)
from service.core.errors import InvalidOptions

FLAGS = int(re.DOTALL | re.MULTILINE | re.IGNORECASE)
"""Flags of patterns in Presidio (`PatternRecognizer`); the module `regex` has the same numbers."""
LONGEST_PATTERN = 2_000
"""Characters of a pattern."""
LONGEST_WORD = 1_000
"""Characters of a word of a deny list."""
LONGEST_NAME = 200
"""Characters of the name of a kind of entity."""
MOST_LISTED = 10_000
"""Entries of the lists of a request, but for findings, of which there may be ten times as many."""

_Name = Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)]
_Flags = Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
_Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Source = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATTERN)]


class AdHocPattern(msgspec.Struct, frozen=True):
    """One pattern, with the score of what it matches."""

    regex: Source
    score: _Score
    name: str = ""


class AdHocRecognizer(msgspec.Struct, frozen=True):
    """Patterns, or words, that mean one kind of entity."""

    supported_entity: Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_NAME)]
    name: str = ""
    patterns: Annotated[list[AdHocPattern], msgspec.Meta(max_length=MOST_LISTED)] = []
    deny_list: Annotated[
        list[Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_WORD)]], msgspec.Meta(max_length=MOST_LISTED)
    ] = []
    deny_list_score: _Score = 1.0
    global_regex_flags: _Flags = FLAGS


class AnalyzeRequest(msgspec.Struct, frozen=True):
    """The body of /analyze."""

    text: str | list[str]
    language: str | None = None
    entities: Annotated[list[_Name], msgspec.Meta(max_length=MOST_LISTED)] | None = None
    score_threshold: _Score | None = None
    ad_hoc_recognizers: Annotated[list[AdHocRecognizer], msgspec.Meta(max_length=MOST_LISTED)] | None = None
    allow_list: Annotated[list[Source], msgspec.Meta(max_length=MOST_LISTED)] | None = None
    allow_list_match: Literal["exact", "regex"] | None = None
    regex_flags: _Flags | None = None

    @property
    def texts(self) -> list[str]:
        return [self.text] if isinstance(self.text, str) else self.text


class Anonymizer(msgspec.Struct, frozen=True):
    """An instruction for one kind of finding."""

    type: str
    new_value: Annotated[str, msgspec.Meta(max_length=100_000)] | None = None
    masking_char: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] = "*"
    chars_to_mask: int = 0
    from_end: bool = False
    hash_type: str = "sha256"
    salt: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None

    def operator(self, salt: bytes) -> Operator:
        """Make the operator's function; raises InvalidOptions for an unknown name."""
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

    entity_type: _Name
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: Annotated[int, msgspec.Meta(ge=0)]
    score: float = 0.0


class AnonymizeRequest(msgspec.Struct, frozen=True):
    """The body of /anonymize."""

    text: str
    analyzer_results: Annotated[list[AnalyzerResult], msgspec.Meta(max_length=10 * MOST_LISTED)]
    anonymizers: Annotated[dict[str, Anonymizer], msgspec.Meta(max_length=MOST_LISTED)] | None = None
