"""Words of a text by their letters and digits, without case, accents and marks that do not show. Pure.

A word has limits within it where case or digits mark them: `AcmeGmbH|Client`, `JaneDoe|2026`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from itertools import accumulate

LEAST_PART = 6
"""Least letters and digits of a repeat that is part of a word."""
LEAST_DIGITS = 7
"""Least digits of a text without letters that is found with other separators, or as part of a word."""
IGNORED = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\u0300-\u036f"
"""Marks and characters that do not show, within a word."""
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts whose words no space divides, or which add endings: each character is a word."""
WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W_]|(?<=[^\W_])[{IGNORED}]+(?=[^\W_]))+")
_CAPITAL = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0410-\u042f"
_INNER_LIMIT = re.compile(
    rf"(?<=[^\W\d_{_CAPITAL}])(?=[{_CAPITAL}])|(?<=[{_CAPITAL}])(?=[{_CAPITAL}][^\W\d_{_CAPITAL}])"
    r"|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)"
)
"""A small letter before a capital, the last of several capitals, and between letters and digits."""


def letters_and_digits(text: str) -> str:
    """Reduce a text to its letters and digits, without case and accents."""
    return "".join(map(folded, WORD.findall(text)))


def folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    parts = unicodedata.normalize("NFKD", word.casefold())
    return "".join(character for character in parts if character.isalnum()).casefold()


Ends = tuple[tuple[int, int], tuple[int, int]]
"""Word and character of a beginning and of an end."""


class WordRun:
    """The words of a text. `parts`: letters and digits of each; `run`: all of them, one after another."""

    def __init__(self, text: str) -> None:
        self._written = WORD.findall(text)
        self.parts = [word.lower() if word.isascii() else folded(word) for word in self._written]
        self.run = "".join(self.parts)
        self._places = list(accumulate(map(len, self.parts), initial=0))
        self._limits: dict[int, dict[int, int]] = {}

    def beginnings(self, first: int, stop: int, *, within: bool) -> list[int]:
        """List the places in the run where a repeat may begin in some words; `within`: anywhere in long ones, too."""
        stop = min(stop, len(self.parts))
        found = self._places[first:stop]
        for index in range(first, stop):
            at, length = self._places[index], len(self.parts[index])
            if length > LEAST_PART:
                found += range(at + 1, at + length) if within else (at + each for each in self._limits_of(index))
        return found

    def place(self, start: int, end: int, key: str, *, is_joined: bool) -> Ends | None:
        """Find word and character of both ends of a key in the run; None where it stands within words and may not."""
        first, last = bisect_right(self._places, start) - 1, bisect_left(self._places, end) - 1
        left, right = start - self._places[first], end - self._places[last]
        if left == 0 and right == len(self.parts[last]):
            return (first, 0), (last, len(self._written[last]))
        least = LEAST_DIGITS if key.isdigit() else LEAST_PART
        if len(key) < least or self._cuts_number(start) or self._cuts_number(end):
            return None
        limits, last_limits = self._limits_of(first), self._limits_of(last)
        if left in limits and right in last_limits:
            return (first, limits[left]), (last, last_limits[right])
        is_written_alike = len(self._written[first]) == len(self.parts[first])
        return ((first, left), (last, right)) if is_joined and first == last and is_written_alike else None

    def _limits_of(self, index: int) -> dict[int, int]:
        """Map the limits of a word, both ends among them: letters and digits before each → its character."""
        if index not in self._limits:
            word, part = self._written[index], self.parts[index]
            inner = [0, *(found.start() for found in _INNER_LIMIT.finditer(word)), len(word)]
            is_alike = len(word) == len(part)
            before = range(len(word) + 1) if is_alike else list(accumulate((len(folded(c)) for c in word), initial=0))
            self._limits[index] = {before[each]: each for each in inner}
        return self._limits[index]

    def _cuts_number(self, at: int) -> bool:
        """True if a place of the run is between two digits of one word."""
        is_within = self._places[bisect_left(self._places, at)] != at
        return is_within and self.run[at - 1].isdigit() and self.run[at].isdigit()
