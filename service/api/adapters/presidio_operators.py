"""Operators that Presidio's /anonymize applies to ranges of a text.

The rule: every character of every marked range is gone from the text, whatever ranges overlap. A range within another
one is part of it; of two that cross, the later begins where the earlier ends, or belongs to it if both are of one kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from service.core.errors import DocumentTooLarge
from service.core.redaction import RedactedSpan, replaced_text

HASHES = ("sha256", "sha512")
MOST_NEW_CHARACTERS = 16_000_000
"""Characters of all texts together that replace findings."""
OPERATORS = ("replace", "redact", "mask", "hash", "keep")


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
    """Replace by a given text, or by the kind in angle brackets."""
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
    """Replace by the hexadecimal digest of the text and a salt; one of `HASHES`."""

    def apply(_kind: str, text: str) -> str:
        return hashlib.new(algorithm, text.encode(errors="surrogatepass") + salt).hexdigest()

    return Operator("hash", apply)


def without_overlaps(ranges: Iterable[MarkedRange]) -> list[MarkedRange]:
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
    spans = [RedactedSpan(*each) for each in without_overlaps(ranges)]
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
