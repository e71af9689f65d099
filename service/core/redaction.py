"""Text redaction: chooses the ranges to remove, repeats of them included, and replaces them. Pure.

A model may find a name once and miss it three lines on. So the texts of entities are searched in any spelling:
only letters and digits count, without case, accents, separators and characters that do not show (`Acme GmbH`,
`acme_gmbh`, `Ac\u00adme-GmbH`). Exceptions: short texts such as `12` are not searched, and numbers of few digits only
with their own separators (`12.50` is not `1250`). Each word costs one binary search, however many texts there are.

Ranges never overlap: overlapping ones become one, under the label of the longest.
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
"""Least digits of a text without letters that is found with other separators, too."""
_IGNORED = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\u0300-\u036f"
"""Marks and characters that do not show, within a word."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts whose words no space divides, or which add endings: each character is a word."""
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_]|(?<=[^\W_])[{_IGNORED}]+(?=[^\W_]))+")
_BLANK = re.compile(rf"[\s{_IGNORED}]+")
_MOST_DECODINGS = 3
"""Most times that an address is percent-decoded: it may be encoded more than once."""
_WORDS_AT_ONCE = 4_096


def letters_and_digits(text: str) -> str:
    """Reduce a text to its letters and digits, without case and accents."""
    return "".join(map(_folded, _WORD.findall(text)))


_CONFUSED = str.maketrans("OoIil", "00111")
_CONFUSED_ONLY = frozenset("OoIil")


def unify_lookalikes(text: str) -> str:
    """Unify the characters that recognition (OCR) mixes up: O and 0, I, l and 1."""
    return _WORD.sub(lambda word: _unify_lookalikes(word.group()), text)


def _unify_lookalikes(word: str) -> str:
    return word if _CONFUSED_ONLY.issuperset(word) else word.translate(_CONFUSED)


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in parts if character.isalnum()).casefold()


def _tight(text: str) -> str:
    """Cut a number with its separators to its first and last digit, without spaces."""
    words = list(_WORD.finditer(text))
    return _BLANK.sub("", text[words[0].start() : words[-1].end()]).casefold() if words else ""


class Repeats:
    """Texts whose repeats are searched.

    Args:
        texts: texts as they stand in the document.
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
        key = letters_and_digits(text)
        if len("".join(text.split())) < LEAST_CHARACTERS or not key:
            self._short |= {key} if any(map(str.isalpha, key)) else set()
        elif len(key) >= (LEAST_CHARACTERS if any(map(str.isalpha, key)) else _LEAST_DIGITS):
            self._spellings[key] = set()
        else:
            self._spellings.setdefault(key, set()).add(_tight(text))

    def _prefixes(self) -> list[int]:
        """Find for each key the index of the longest other key that it begins with; -1 if there is none."""
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
        """Yield start and end of each repeat in whole words, in order, the longest first; they do not overlap."""
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
        """Find the words that begin as a key does, by their places in the run of letters and digits; mostly none do."""
        found: set[int] = set()
        for first in range(0, len(places), _WORDS_AT_ONCE):
            self._watch()
            some = list(enumerate(places[first : first + _WORDS_AT_ONCE], first))
            for length in self._lengths:
                found.update(index for index, at in some if run[at : at + length] in self._beginnings)
        return sorted(found)

    def _at(self, run: str, at: int) -> Iterator[str]:
        """Yield the keys at a place of the run of letters and digits, the longest first."""
        place = bisect_right(self._keys, run[at : at + self._longest]) - 1
        while place >= 0:
            if run.startswith(self._keys[place], at):
                yield self._keys[place]
            place = self._within[place]

    def _is_spelt(self, key: str, text: str) -> bool:
        spellings = self._spellings[key]
        return not spellings or _tight(text) in spellings

    def are_in(self, text: str) -> bool:
        """True if the text has one of the texts, in whole words."""
        return next(self.find(text), None) is not None

    def are_named_in(self, name: str) -> bool:
        """True if a title, a file's name or an address has one of the texts: as any part, short ones as whole words."""
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
        """Replace each repeat in a text by another text."""
        parts, reached = [], 0
        for start, end in self.find(text):
            parts += [text[reached:start], by]
            reached = end
        return "".join((*parts, text[reached:]))


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """A range to remove, in code points. `score`: None for a repeat of a found one."""

    label: str
    start: int
    end: int
    score: float | None

    @property
    def is_repeat(self) -> bool:
        """True if the range repeats another one, and was not found itself."""
        return self.score is None


def spans_to_redact(
    text: str,
    found: Sequence[RedactedSpan],
    *,
    repeats: bool,
    recognized: bool = False,
    watch: Callable[[], None] = lambda: None,
) -> list[RedactedSpan]:
    """Choose the ranges of a text to remove, in order.

    Args:
        repeats: whether repeats of the found ranges are removed, too.
        recognized: whether the text was recognized (OCR), so that look-alike characters count as equal.
    """
    spans = list(found)
    if repeats:
        text = unify_lookalikes(text) if recognized else text
        labels = {letters_and_digits(text[span.start : span.end]): span.label for span in reversed(found)}
        places = Repeats((text[span.start : span.end] for span in found), watch).find(text)
        spans += [RedactedSpan(labels.get(letters_and_digits(text[a:b]), ""), a, b, None) for a, b in places]
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
    scores = [span.score for span in (first, second) if span.score is not None]
    longest = max(first, second, key=lambda span: (bool(span.label), span.end - span.start))
    end = max(first.end, second.end)
    return RedactedSpan(longest.label, first.start, end, max(scores, default=None))


HASH_DIGITS = 16
"""Hexadecimal digits of a hash: the chance that two of a million values share one is 1 in 37 million."""


class RedactionMode(StrEnum):
    """`replace`: `<PERSON>`; `mask`: an asterisk for each character; `hash`: `<PERSON:3f9a…>`."""

    REPLACE = "replace"
    MASK = "mask"
    HASH = "hash"


@dataclass(frozen=True, slots=True)
class ReplacedSpan:
    """A removed range, and the range of its replacement in the new text, both in code points."""

    span: RedactedSpan
    replacement: str
    new_start: int

    @property
    def new_end(self) -> int:
        return self.new_start + len(self.replacement)


def replacer(mode: RedactionMode, key: bytes, value_of: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """Make a replacer of a label's text; `key`: key of the hashes, `value_of`: reader of a text's value."""
    if mode is RedactionMode.REPLACE:
        return lambda label, _text: f"<{label}>"
    if mode is RedactionMode.MASK:
        return lambda _label, text: "".join(character if character in "\r\n" else "*" for character in text)
    return lambda label, text: f"<{label}:{hashed(key, value_of(label, text))}>"


def hashed(key: bytes, value: str) -> str:
    """Hash a value without case: the first digits of HMAC-SHA256 (RFC 2104).

    It is keyed, since names and numbers are few enough to be tried one by one against a plain hash.
    """
    return hmac.new(key, value.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:HASH_DIGITS]


def replaced_text(
    text: str, spans: Iterable[RedactedSpan], replace: Callable[[str, str], str]
) -> tuple[str, list[ReplacedSpan]]:
    """Replace spans, in order and not overlapping; returns the new text and the replacements' places."""
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
