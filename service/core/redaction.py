"""Text redaction: chooses the ranges to remove, repeats of them included, and replaces them. Pure.

A model may find a name once and miss it three lines on. So the texts of entities are searched in any spelling:
only letters and digits count, without case, accents, separators and characters that do not show (`Acme GmbH`,
`acme_gmbh`, `Ac\u00adme-GmbH`), also escaped (`Acme%20GmbH`), and as parts of words that case or digits mark, if they
are long (`AcmeGmbHClient`). Exceptions: short texts such as `12` are not searched, and numbers of few digits only
with their own separators (`12.50` is not `1250`). Each word costs one binary search, however many texts there are.

Ranges never overlap: overlapping ones become one, under the label of the longest.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.core.escapes import decodings
from service.core.written_words import IGNORED, LEAST_DIGITS, WORD, WordRun, folded, letters_and_digits

LEAST_CHARACTERS = 4
"""Least characters, spaces not counted, of a text whose repeats are searched."""
_BLANK = re.compile(rf"[\s{IGNORED}]+")
_LEAST_JOINED = 8
"""Least letters and digits of several words that are found anywhere in a word."""
_WORDS_AT_ONCE = 4_096
_CONFUSED = str.maketrans("OoIil", "00111")
_CONFUSED_ONLY = frozenset("OoIil")


def unify_lookalikes(text: str) -> str:
    """Unify the characters that recognition (OCR) mixes up: O and 0, I, l and 1."""
    return WORD.sub(lambda word: _unify_lookalikes(word.group()), text)


def _unify_lookalikes(word: str) -> str:
    return word if _CONFUSED_ONLY.issuperset(word) else word.translate(_CONFUSED)


def _tight(text: str) -> str:
    """Cut a number with its separators to its first and last digit, without spaces."""
    words = list(WORD.finditer(text))
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
        self._joined: set[str] = set()
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
        elif len(key) >= (LEAST_CHARACTERS if any(map(str.isalpha, key)) else LEAST_DIGITS):
            self._spellings[key] = set()
            if len(key) >= _LEAST_JOINED and len(WORD.findall(text)) > 1:
                self._joined.add(key)
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

    def find(self, text: str, *, as_written: bool = False) -> Iterator[tuple[int, int]]:
        """Yield start and end of each repeat, in order; they do not overlap.

        Args:
            as_written: only in whole words, and not what is escaped.
        """
        reached = 0
        for start, end, _ in sorted(self.matches(text, as_written=as_written)):
            if end > reached:
                yield max(start, reached), end
                reached = end

    def matches(self, text: str, *, as_written: bool = False) -> list[tuple[int, int, str]]:
        """List start, end and letters and digits of each repeat, as the text is written and as it is decoded."""
        if not self._keys:
            return []
        found = list(self._matches(text, as_written))
        for steps in () if as_written else decodings(text):
            for start, end, key in self._matches(steps[-1].text, as_written):
                for step in reversed(steps):
                    start, end = step.range_before(start, end)
                found.append((start, end, key))
        return found

    def _matches(self, text: str, as_written: bool) -> Iterator[tuple[int, int, str]]:
        """Yield repeats in order, the longest first; they do not overlap."""
        words = WordRun(text)
        likely = self._likely(words)
        if not likely:
            return
        spans = [word.span() for word in WORD.finditer(text)]
        reached = 0
        for at in likely:
            for key in self._at(words.run, at) if at >= reached else ():
                place = words.place(at, at + len(key), key, is_joined=key in self._joined)
                if place is not None:
                    (first, left), (last, right) = place
                    start, end = spans[first][0] + left, spans[last][0] + right
                    is_whole = left == 0 and end == spans[last][1]
                    if (is_whole or not as_written) and self._is_spelt(key, text[start:end]):
                        yield start, end, key
                        reached = at + len(key)
                        break

    def _likely(self, words: WordRun) -> list[int]:
        """Find the places in the run where a key may begin; mostly there are none."""
        found: set[int] = set()
        run, beginnings = words.run, self._beginnings
        for first in range(0, len(words.parts), _WORDS_AT_ONCE):
            self._watch()
            some = words.beginnings(first, first + _WORDS_AT_ONCE, within=bool(self._joined))
            for length in self._lengths:
                found.update(at for at in some if run[at : at + length] in beginnings)
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
        return bool(self.matches(text))

    def are_named_in(self, name: str) -> bool:
        """True if a title, a file's name or an address has one of the texts: as any part, short ones as whole words."""
        for spelling in (name, *(steps[-1].text for steps in decodings(name))):
            words = [folded(word) for word in WORD.findall(spelling)]
            run = "".join(words)
            if not self._short.isdisjoint(words) or any(
                not self._spellings[key] or self.are_in(spelling) for at in range(len(run)) for key in self._at(run, at)
            ):
                return True
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
        places = Repeats((text[span.start : span.end] for span in found), watch).matches(text)
        spans += [RedactedSpan(labels[key], start, end, None) for start, end, key in places]
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
