"""Text redaction: chooses the ranges to remove, repeats of them included, and replaces them. Pure.

A model may find a name once and miss it three lines on. So the texts of entities are searched again in any spelling:
letters and digits alone count, without case, accents, separators and characters that do not show (`Acme GmbH`,
`acme_gmbh`, `Ac\u00adme-GmbH`). Exceptions: short texts such as `12` are not searched, and numbers of few digits only
with their own separators (`12.50` is not `1250`). The time is that of a sorted search at each word, however many texts.

Ranges never overlap: what overlaps goes as one, under the label of its longest part.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from urllib.parse import unquote

LEAST_CHARACTERS = 4
"""Least characters, spaces not counted, of a text whose repeats are searched."""
_LEAST_DIGITS = 7
"""Least digits of a text without letters that is also found with other separators."""
_IGNORED = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\u0300-\u036f"
"""Marks and characters that do not show, within a word."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts whose words no space divides, or which add endings: each character is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_]|(?<=[^\W_])[{_IGNORED}]+(?=[^\W_]))+")
_BLANK = re.compile(rf"[\s{_IGNORED}]+")
_MOST_DECODINGS = 3
"""An address may be percent-encoded more than once."""
_WORDS_AT_ONCE = 4_096


def squeezed(text: str) -> str:
    """The letters and digits of a text, without case and accents."""
    return "".join(map(_folded, _WORD.findall(text)))


_CONFUSED = str.maketrans("OoIil", "00111")
_CONFUSED_ONLY = frozenset("OoIil")


def alike(text: str) -> str:
    """A recognized text (OCR) of which characters are the same that recognition mixes up: O and 0, I, l and 1."""
    return _WORD.sub(lambda word: _alike(word.group()), text)


def _alike(word: str) -> str:
    return word if _CONFUSED_ONLY.issuperset(word) else word.translate(_CONFUSED)


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(each for each in parts if each.isalnum()).casefold()


def _tight(text: str) -> str:
    """A number with its separators, from its first to its last digit."""
    words = list(_WORD.finditer(text))
    return _BLANK.sub("", text[words[0].start() : words[-1].end()]).casefold() if words else ""


class Repeats:
    """The texts that are looked for.

    Args:
        texts: as they were found once.
        watch: called now and then during a search; it may raise.
    """

    def __init__(self, texts: Iterable[str], watch: Callable[[], None] = lambda: None) -> None:
        self._watch = watch
        self._spellings: dict[str, set[str]] = {}
        self._short: set[str] = set()
        for text in set(texts):
            self._add(text)
        self._keys = sorted(self._spellings)
        self._longest = max(map(len, self._keys), default=0)
        self._beginnings = frozenset(key[:LEAST_CHARACTERS] for key in self._keys)
        self._lengths = frozenset(map(len, self._beginnings))
        self._within = self._prefixes()

    def _add(self, text: str) -> None:
        key = squeezed(text)
        if len("".join(text.split())) < LEAST_CHARACTERS or not key:
            self._short |= {key} if any(map(str.isalpha, key)) else set()
        elif len(key) >= (LEAST_CHARACTERS if any(map(str.isalpha, key)) else _LEAST_DIGITS):
            self._spellings[key] = set()
        else:
            self._spellings.setdefault(key, set()).add(_tight(text))

    def _prefixes(self) -> list[int]:
        """For each key the place of the longest other one that it begins with; -1 if there is none."""
        within, open_ones = list[int](), list[int]()
        for place, key in enumerate(self._keys):
            while open_ones and not key.startswith(self._keys[open_ones[-1]]):
                open_ones.pop()
            within.append(open_ones[-1] if open_ones else -1)
            open_ones.append(place)
        return within

    def __bool__(self) -> bool:
        return bool(self._keys)

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each place, as whole words, in order, the longest first; they do not overlap."""
        if not self._keys:
            return
        parts = [word.lower() if word.isascii() else _folded(word) for word in _WORD.findall(text)]
        run, places = "".join(parts), list(accumulate(map(len, parts), initial=0))
        likely = self._likely(run, places[:-1])
        if not likely:
            return
        words = [word.span() for word in _WORD.finditer(text)]
        ends: dict[int, int] = {}
        for index, length in enumerate(places[1:]):
            ends.setdefault(length, index)
        reached = 0
        for index in likely:
            for key in self._at(run, places[index]) if index >= reached else ():
                last = ends.get(places[index] + len(key))
                if last is not None and self._is_spelt(key, text[words[index][0] : words[last][1]]):
                    yield words[index][0], words[last][1]
                    reached = last + 1
                    break

    def _likely(self, run: str, places: Sequence[int]) -> list[int]:
        """Which of the words that begin at these places of squeezed text begin as a key does: mostly none of them."""
        found: set[int] = set()
        for first in range(0, len(places), _WORDS_AT_ONCE):
            self._watch()
            some = list(enumerate(places[first : first + _WORDS_AT_ONCE], first))
            for length in self._lengths:
                found.update(index for index, at in some if run[at : at + length] in self._beginnings)
        return sorted(found)

    def _at(self, run: str, at: int) -> Iterator[str]:
        """The keys that stand at a place of squeezed text, the longest first."""
        place = bisect_right(self._keys, run[at : at + self._longest]) - 1
        while place >= 0:
            if run.startswith(self._keys[place], at):
                yield self._keys[place]
            place = self._within[place]

    def _is_spelt(self, key: str, text: str) -> bool:
        spellings = self._spellings[key]
        return not spellings or _tight(text) in spellings

    def are_in(self, text: str) -> bool:
        """Whether one of them stands in the text, as whole words."""
        return next(self.find(text), None) is not None

    def are_named_in(self, name: str) -> bool:
        """Whether a title, a file's name or an address tells one of them: as any part, short ones as whole words."""
        for _ in range(_MOST_DECODINGS):
            words = [_folded(word) for word in _WORD.findall(name)]
            run = "".join(words)
            if not self._short.isdisjoint(words) or any(
                not self._spellings[key] or self.are_in(name) for at in range(len(run)) for key in self._at(run, at)
            ):
                return True
            if (decoded := unquote(name)) == name:
                break
            name = decoded
        return False

    def replaced(self, text: str, by: str) -> str:
        """The text with another in each of these places."""
        parts, reached = [], 0
        for start, end in self.find(text):
            parts += [text[reached:start], by]
            reached = end
        return "".join((*parts, text[reached:]))


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


def spans_to_redact(
    text: str,
    found: Sequence[RedactedSpan],
    *,
    repeats: bool,
    recognized: bool = False,
    watch: Callable[[], None] = lambda: None,
) -> list[RedactedSpan]:
    """The ranges of a text that go, in order.

    Args:
        repeats: also those that say again what was found.
        recognized: in characters that are alike, as the text was recognized (OCR).
    """
    spans = list(found)
    if repeats:
        text = alike(text) if recognized else text
        labels = {squeezed(text[span.start : span.end]): span.label for span in reversed(found)}
        places = Repeats((text[span.start : span.end] for span in found), watch).find(text)
        spans += [RedactedSpan(labels.get(squeezed(text[a:b]), ""), a, b, None) for a, b in places]
    return _merged(span for span in spans if span.start < span.end)


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
