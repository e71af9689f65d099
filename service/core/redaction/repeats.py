"""Finds again what is to go: other places where the same words stand, whatever their case and the spaces between them.

A model may find a name once and miss it three lines on; whoever redacts a name means all of them. Short texts are
found again nowhere, since `12` stands for many things. Linear in the text, however many words are looked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LEAST_CHARACTERS = 4
"""Shorter texts are not looked for again; spaces do not count."""
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
