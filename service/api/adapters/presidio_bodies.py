"""Bodies of Presidio's analyzer and anonymizer, and the operators that /anonymize applies to ranges of a text.

The rule: every character of every marked range is gone from the text, whatever ranges overlap. A range within another
one is part of it; of two that cross, the later begins where the earlier ends, or belongs to it if both are of one kind.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Literal, NamedTuple, Self

import msgspec

from service.api.bodies.kinds import Content
from service.core.errors import DocumentTooLarge, InvalidOptions
from service.core.redaction import RedactedSpan, replaced_text

HASHES = ("sha256", "sha512")
FLAGS = int(re.DOTALL | re.MULTILINE | re.IGNORECASE)
"""Presidio's own for patterns (`PatternRecognizer`); the module `regex` has the same numbers."""
LONGEST_PATTERN = 2_000
LONGEST_WORD = 1_000
"""Characters of a word of a deny list."""
LONGEST_NAME = 200
"""Characters of the name of a kind of entity."""
MOST_LISTED = 10_000
"""Entries of the lists of a request, but for findings, of which there may be ten times as many."""
MOST_NEW_CHARACTERS = 16_000_000
"""Of all texts together that replace findings."""
OPERATORS = ("replace", "redact", "mask", "hash", "keep")

_Name = Annotated[str, msgspec.Meta(max_length=LONGEST_NAME)]
_Score = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Source = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_PATTERN)]


class MarkedRange(NamedTuple):
    """A range `[start, end)` of a text, in code points, and what kind of thing stands there."""

    kind: str
    start: int
    end: int
    score: float = 0.0


class Replaced(NamedTuple):
    """A replacement at `[start, end)` of the new text. `operator`: its maker's name."""

    kind: str
    start: int
    end: int
    text: str
    operator: str


class Operator(NamedTuple):
    """An operation on a range: its name, and a function of the kind and the text that stands there."""

    name: str
    apply: Callable[[str, str], str]


def replace_by(new: str | None) -> Operator:
    """By the same text everywhere, or by the kind in angle brackets."""
    return Operator("replace", lambda kind, _: f"<{kind}>" if new is None else new)


REDACT = Operator("redact", lambda _kind, _text: "")
KEEP = Operator("keep", lambda _kind, text: text)


def mask_with(character: str, count: int, *, from_end: bool) -> Operator:
    """So many characters by this one, from the beginning or the end."""

    def apply(_kind: str, text: str) -> str:
        masked = min(max(count, 0), len(text))
        rest = len(text) - masked
        return text[:rest] + character * masked if from_end else character * masked + text[masked:]

    return Operator("mask", apply)


def hash_with(algorithm: str, salt: bytes) -> Operator:
    """By the hexadecimal digest of the text and a salt; one of `HASHES`."""

    def apply(_kind: str, text: str) -> str:
        return hashlib.new(algorithm, text.encode(errors="surrogatepass") + salt).hexdigest()

    return Operator("hash", apply)


def settled(ranges: Iterable[MarkedRange]) -> list[MarkedRange]:
    """The ranges in order and without overlaps; together they cover the same characters."""
    found: list[MarkedRange] = []
    for each in sorted(ranges, key=lambda marked: (marked.start, -marked.end, -marked.score)):
        last = found[-1] if found else None
        if last is None or each.start >= last.end:
            found.append(each)
        elif each.end > last.end and each.kind == last.kind:
            found[-1] = last._replace(end=each.end)
        elif each.end > last.end:
            found.append(each._replace(start=last.end))
    return [each for each in found if each.start < each.end]


def anonymize(
    text: str, ranges: Iterable[MarkedRange], operator_of: Callable[[str], Operator]
) -> tuple[str, list[Replaced]]:
    """The text without its marked ranges, and what stands there instead, in order.

    Raises:
        DocumentTooLarge: what stands there would be too long.
    """
    spans = [RedactedSpan(*each) for each in settled(ranges)]
    left = MOST_NEW_CHARACTERS

    def replaced(kind: str, part: str) -> str:
        nonlocal left
        new = operator_of(kind).apply(kind, part)
        left -= len(new)
        if left < 0:
            raise DocumentTooLarge(f"What replaces the findings has more than {MOST_NEW_CHARACTERS:,} characters.")
        return new

    new_text, made = replaced_text(text, spans, replaced)
    return new_text, [
        Replaced(kind := each.span.label, each.new_start, each.new_end, each.replacement, operator_of(kind).name)
        for each in made
    ]


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
    global_regex_flags: Annotated[int, msgspec.Meta(ge=0)] = FLAGS


class AnalyzeRequest(msgspec.Struct, frozen=True):
    """The body of /analyze."""

    text: str | list[str]
    language: str | None = None
    entities: Annotated[list[_Name], msgspec.Meta(max_length=MOST_LISTED)] | None = None
    score_threshold: _Score | None = None
    ad_hoc_recognizers: Annotated[list[AdHocRecognizer], msgspec.Meta(max_length=MOST_LISTED)] | None = None
    allow_list: Annotated[list[Source], msgspec.Meta(max_length=MOST_LISTED)] | None = None
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
    """An instruction for one kind of finding."""

    type: str
    new_value: Annotated[str, msgspec.Meta(max_length=100_000)] | None = None
    masking_char: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] = "*"
    chars_to_mask: int = 0
    from_end: bool = False
    hash_type: str = "sha256"
    salt: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None

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

    entity_type: _Name
    start: Annotated[int, msgspec.Meta(ge=0)]
    end: Annotated[int, msgspec.Meta(ge=0)]
    score: float = 0.0


class AnonymizeRequest(msgspec.Struct, frozen=True):
    """The body of /anonymize."""

    text: str
    analyzer_results: Annotated[list[AnalyzerResult], msgspec.Meta(max_length=10 * MOST_LISTED)]
    anonymizers: Annotated[dict[str, Anonymizer], msgspec.Meta(max_length=MOST_LISTED)] | None = None

    def contents(self) -> list[Content]:
        return [self.text]

    def filled(self, contents: Sequence[Content]) -> Self:
        return msgspec.structs.replace(self, text=contents[0])
