"""Phrase matcher: finds the bill phrases of all languages in a line, in order.

A bill may be in two languages, and a short one does not reveal its language: all languages are searched everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from types import MappingProxyType
from typing import NamedTuple

from service.core.fields.vocabulary import asian, english, germanic, other_european, romance, southeastern
from service.core.fields.vocabulary.words import BillWords

LANGUAGES: Mapping[str, BillWords] = {
    "en": english.ENGLISH,
    "de": germanic.GERMAN,
    "nl": germanic.DUTCH,
    "sv": germanic.SWEDISH,
    "da": germanic.DANISH,
    "nb": germanic.NORWEGIAN,
    "fr": romance.FRENCH,
    "es": romance.SPANISH,
    "it": romance.ITALIAN,
    "pt": romance.PORTUGUESE,
    "ro": southeastern.ROMANIAN,
    "pl": other_european.POLISH,
    "cs": other_european.CZECH,
    "ru": other_european.RUSSIAN,
    "tr": other_european.TURKISH,
    "fi": other_european.FINNISH,
    "hu": southeastern.HUNGARIAN,
    "el": southeastern.GREEK,
    "ja": asian.JAPANESE,
    "zh": asian.CHINESE,
    "ko": asian.KOREAN,
    "ar": asian.ARABIC,
    "hi": asian.HINDI,
    "ms": asian.MALAY,
}

LONGEST_KEPT, MOST_KEPT = 40, 10_000
"""Most characters of a phrase whose kind a table keeps, and most phrases that it keeps."""
_FIRST_WITHOUT_SPACES = "\u2e80"
"""First character of the scripts whose words have no spaces between; folded Hangul (U+11xx) is below it."""
_HANGUL = re.compile("[\u1100-\u11ff]")
_SIGNS = {"_": r"[\s-]{0,2}", "*": r"\w*", ".": r"\.?", "'": "'?"}
"""Signs of the phrase notation and their regular expressions."""
_NO_MARKS = str.maketrans("ıłøđ’‐‑", "ilod'--")


class PhraseMatch(NamedTuple):
    """A phrase of one kind at `[start, end)` of a folded text."""

    kind: str
    start: int
    end: int


def folded(text: str) -> str:
    """Fold a text for comparison with phrases: no case, accents and full-width forms; its length may change."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text).casefold()
    return "".join(character for character in parts if unicodedata.category(character) != "Mn").translate(_NO_MARKS)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, without case."""
    return "".join(filter(str.isalnum, text.casefold()))


def count_letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def written_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Find the part of a text that stands at `[start, end)` in its folded form."""
    if text.isascii():
        return start, end
    ends = list(accumulate(len(folded(character)) for character in text))
    return bisect_right(ends, start), bisect_left(ends, end) + 1


def in_all_languages(kind: str) -> str:
    """Join the phrases of one kind, a field of `BillWords`, of all languages."""
    return " ".join(getattr(words, kind) for words in LANGUAGES.values())


class PhraseTable:
    """Phrases of some kinds (fields of `BillWords`) in all languages."""

    def __init__(self, *kinds: str, phrases: Mapping[str, str] = MappingProxyType({})) -> None:
        """Collect the phrases; of two kinds of one phrase the first named counts.

        Args:
            kinds: fields of `BillWords`.
            phrases: kind → its phrases in all languages, of further kinds.
        """
        in_languages = {kind: in_all_languages(kind) for kind in kinds}
        by_phrase: dict[str, str] = {}
        for kind, written in (*in_languages.items(), *phrases.items()):
            for phrase in written.split():
                by_phrase.setdefault(folded(phrase), kind)
        self._kinds = [by_phrase[phrase] for phrase in _ordered(by_phrase)]
        self._phrases = re.compile(_any_of(by_phrase))
        self._by_kind = re.compile(_any_of(by_phrase, grouped=True))
        self._known: dict[str, str] = {}

    def find(self, line: str) -> Sequence[PhraseMatch]:
        """Find the phrases in a folded line from left to right, none overlapping."""
        found = (match for match in self._phrases.finditer(line) if match[0])
        return [PhraseMatch(self._kind(match[0]), *match.span()) for match in found]

    def has(self, line: str) -> bool:
        """True if a folded line has one of the phrases."""
        return self._phrases.search(line) is not None

    def _kind(self, written: str) -> str:
        """Find the kind of a phrase; kept, since a search with a group for each phrase takes ten times as long."""
        kind = self._known.get(written)
        if kind is None:
            groups = self._by_kind.fullmatch(written)
            assert groups is not None
            assert groups.lastindex is not None
            kind = self._kinds[groups.lastindex - 1]
            if len(written) <= LONGEST_KEPT and len(self._known) < MOST_KEPT:
                self._known[written] = kind
        return kind


def any_of(*kinds: str, starts: bool = True, ends: bool = True) -> str:
    """Make a regular expression for the phrases of some kinds in a folded line.

    Args:
        kinds: fields of `BillWords`.
        starts: whether a phrase begins where a word begins.
        ends: whether a phrase ends where a word ends.
    """
    phrases = {folded(phrase) for kind in kinds for phrase in in_all_languages(kind).split()}
    return _any_of(phrases, starts=starts, ends=ends)


def _ordered(phrases: Iterable[str]) -> list[str]:
    """Sort phrases by first character, so that a search tries it once for all of them; the longest first."""
    return sorted(
        phrases, key=lambda phrase: (_is_run_together(phrase[0]), phrase[0] != "*", phrase[0], -len(phrase), phrase)
    )


def _any_of(phrases: Iterable[str], *, starts: bool = True, ends: bool = True, grouped: bool = False) -> str:
    """Make an expression for any of the phrases; `grouped`: with a group for each, in order."""
    parts = []
    for run_together, some in groupby(_ordered(phrases), lambda phrase: _is_run_together(phrase[0])):
        by_beginning = (
            f"{_written(beginning)}(?:{_any_rest(same, ends=ends, grouped=grouped)})"
            for beginning, same in groupby(some, lambda phrase: phrase[0])
        )
        before = "" if run_together or not starts else r"(?<![\w-])"
        parts.append(f"{before}(?:{'|'.join(by_beginning)})")
    return "|".join(parts)


def _any_rest(phrases: Iterable[str], *, ends: bool, grouped: bool) -> str:
    """Make an expression for the phrases behind their first character.

    Neighbours that end where a word ends share the test of it: an expression compiles in half the time.
    """
    parts = []
    for of_words, some in groupby(phrases, lambda phrase: ends and _ends_as_word(phrase)):
        rests = ("".join(map(_written, phrase[1:])) for phrase in some)
        either = "|".join(f"({rest})" if grouped else rest for rest in rests)
        parts.append(rf"(?:{either})(?![^\W\d_])" if of_words else either)
    return "|".join(parts)


def _ends_as_word(phrase: str) -> bool:
    return phrase[-1].isalpha() and not _is_run_together(phrase[-1])


def _written(character: str) -> str:
    return _SIGNS.get(character) or re.escape(character)


def _is_run_together(character: str) -> bool:
    return character >= _FIRST_WITHOUT_SPACES or _HANGUL.match(character) is not None
