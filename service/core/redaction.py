"""Text redaction: chooses the ranges to remove, repeats of them included, and replaces them. Pure.

A model may find a name once and miss it three lines on. So the texts of entities are searched again, ignoring case and
the spaces between words, except short ones such as `12`. Linear in the text, for any number of words.

Ranges never overlap: what overlaps goes as one, under the label of its longest part.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

LEAST_CHARACTERS = 4
"""Least characters, spaces not counted, of a text whose repeats are searched."""
_WORD = re.compile(r"\w+|[^\w\s]")


class Repeats:
    """The texts that are looked for, as sequences of words; found as whole words only."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_first: dict[str, set[tuple[str, ...]]] = {}
        for text in set(texts):
            if len("".join(text.split())) >= LEAST_CHARACTERS:
                words = tuple(match.group().casefold() for match in _WORD.finditer(text))
                self._by_first.setdefault(words[0], set()).add(words)

    def __bool__(self) -> bool:
        return bool(self._by_first)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each place, in order, the longest first where several begin; they do not overlap."""
        if not self._by_first:
            return
        words = list(_WORD.finditer(text))
        at = 0
        while at < len(words):
            length = self._length_at(words, at)
            if length:
                yield words[at].start(), words[at + length - 1].end()
            at += length or 1

    def are_in(self, text: str) -> bool:
        """Whether one of them stands in the text."""
        return next(self.find(text), None) is not None

    def replaced(self, text: str, by: str) -> str:
        """The text with another in each of these places."""
        parts, reached = [], 0
        for start, end in self.find(text):
            parts += [text[reached:start], by]
            reached = end
        return "".join((*parts, text[reached:]))

    def _length_at(self, words: list[re.Match[str]], at: int) -> int:
        """The words of the longest text that stands there; 0 if none does."""
        longest = 0
        for wanted in self._by_first.get(words[at].group().casefold(), ()):
            if len(wanted) > longest and wanted == tuple(
                word.group().casefold() for word in words[at : at + len(wanted)]
            ):
                longest = len(wanted)
        return longest


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """One range that goes, in code points. `score` is None where it was not found but repeats what was."""

    label: str
    start: int
    end: int
    score: float | None

    @property
    def is_repeat(self) -> bool:
        """Whether the model did not find it."""
        return self.score is None


def spans_to_redact(text: str, found: Sequence[RedactedSpan], *, repeats: bool) -> list[RedactedSpan]:
    """The ranges of a text that go, in order; `repeats`: also those that say again what was found."""
    spans = list(found)
    if repeats:
        labels = {_folded(text[span.start : span.end]): span.label for span in reversed(found)}
        places = Repeats(text[span.start : span.end] for span in found).find(text)
        spans += [RedactedSpan(labels.get(_folded(text[a:b]), ""), a, b, None) for a, b in places]
    return _merged(span for span in spans if span.start < span.end)


def _folded(text: str) -> str:
    return "".join(text.split()).casefold()


def _merged(spans: Iterable[RedactedSpan]) -> list[RedactedSpan]:
    merged: list[RedactedSpan] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end, each.is_repeat)):
        if merged and span.start < merged[-1].end:
            merged[-1] = _union(merged[-1], span)
        else:
            merged.append(span)
    return merged


def _union(first: RedactedSpan, second: RedactedSpan) -> RedactedSpan:
    scores = [each.score for each in (first, second) if each.score is not None]
    longest = max(first, second, key=lambda each: (bool(each.label), each.end - each.start))
    end = max(first.end, second.end)
    return RedactedSpan(longest.label, first.start, end, max(scores, default=None))


HASH_DIGITS = 16
"""Hexadecimal digits of a hash: among a million values, two get the same one in 1 of 37 million cases."""


class RedactionMode(StrEnum):
    """`replace`: `<PERSON>`; `mask`: an asterisk for each character; `hash`: `<PERSON:3f9a…>`."""

    REPLACE = "replace"
    MASK = "mask"
    HASH = "hash"


@dataclass(frozen=True, slots=True)
class ReplacedSpan:
    """A range that went, and the range of the new text that stands for it, both in code points."""

    span: RedactedSpan
    replacement: str
    new_start: int

    @property
    def new_end(self) -> int:
        """The end of what stands for it."""
        return self.new_start + len(self.replacement)


def replacer(mode: RedactionMode, key: bytes, value_of: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """What stands for a label's text; `key`: of the hashes, `value_of`: the value that a label's text states."""
    if mode is RedactionMode.REPLACE:
        return lambda label, _text: f"<{label}>"
    if mode is RedactionMode.MASK:
        return lambda _label, text: "".join(each if each in "\r\n" else "*" for each in text)
    return lambda label, text: f"<{label}:{hashed(key, value_of(label, text))}>"


def hashed(key: bytes, value: str) -> str:
    """The hash of a value: HMAC-SHA256 (RFC 2104), whatever its letters' case, cut.

    Keyed, since names and numbers are few enough to be tried one by one against a plain hash.
    """
    return hmac.new(key, value.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:HASH_DIGITS]


def replaced_text(
    text: str, spans: Iterable[RedactedSpan], replace: Callable[[str, str], str]
) -> tuple[str, list[ReplacedSpan]]:
    """The text with each span, in order and apart from the others, replaced; and where each replacement stands."""
    parts: list[str] = []
    made: list[ReplacedSpan] = []
    reached = length = 0
    for span in spans:
        replacement = replace(span.label, text[span.start : span.end])
        parts += [text[reached : span.start], replacement]
        length += span.start - reached
        made.append(ReplacedSpan(span, replacement, length))
        length += len(replacement)
        reached = span.end
    return "".join((*parts, text[reached:])), made
