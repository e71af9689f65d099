"""Undoes the division of words at the ends of lines.

A hyphen goes if it stands between two small letters, the text runs on after it, and the document does not show that it
belongs to the word. A document that has more of its divided words elsewhere whole than with the hyphen divides words;
one that has more of them with the hyphen breaks its lines in compounds (`well-` `known`). A word that is nowhere else,
while its first part is, is such a compound. The hyphen of a telephone number stays.

The second part of the word goes up to the first one's line; its characters keep their boxes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from service.documents.pdf.angles import Flags

_BREAK = re.compile(r"[-‐]\n(?=\w)")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_FIRST_PART, _SECOND_PART = re.compile(r"[^\W\d_]{2,}$"), re.compile(r"[^\W\d_]{2,}")
_BROKEN = re.compile(r"\w+[-‐]\n\w+")
_NO_WORD = re.compile(r"[@/\\-]|www\.")
"""Pattern of a token before a word's first part: an address with own hyphens, or a chain as `state-of-the-`."""
_SUSPENDED = frozenset("und oder bzw sowie and or to et ou y o e en of och og i a lub".split())
"""Words after a hyphen that stands for the rest of a compound: `Vor-` `und Nachname`."""
_TELEPHONE = re.compile(r"(?:\+|\b(?:tel|telefon|phone|fon|fax|mobile?|mobil)\b)[.:]?[ \t]*[\d ()/+-]{4,24}\d$", re.I)
_NUMBER = re.compile(r"\d{2,}(?=\s|$)")
_BLANK = re.compile(r"\s")
_WORD = 3
"""Letters of a first part that is a word of its own; fewer may be any syllable."""
_LOOKED_BACK = 60
"""Characters before a hyphen that are looked at."""
_FURTHEST = 3
"""Most characters of pdfium from the hyphen to the following text: it adds up to two for a line break."""


class _Division(NamedTuple):
    """The range of the text that a joined word lacks, its first part, the word, and the word with its hyphen."""

    start: int
    end: int
    first: str
    joined: str
    hyphenated: str


class JoinedText(NamedTuple):
    """Choose the characters of a text that stay, and the white space that ends a line in place of a removed break."""

    stays: Flags
    line_ends: npt.NDArray[np.intp]


def undivided(text: str, indices: npt.NDArray[np.int32]) -> JoinedText | None:
    """The text with its divided words joined, None if there are none; `indices` are its characters' for pdfium."""
    breaks = [found.span() for found in _BREAK.finditer(text)]
    breaks = [(a, b) for a, b in breaks if 0 < indices[b] - indices[a] <= _FURTHEST]
    numbers = [(a + 1, b) for a, b in breaks if _is_telephone(text, a, b)]
    ranges = sorted(numbers + [(word.start, word.end) for word in _divided(text, list(_words(text, breaks)))])
    if not ranges:
        return None
    stays, line_ends = np.ones(len(text), np.bool_), list[int]()
    for start, end in ranges:
        stays[start:end] = False
        blank = _BLANK.search(text, end)
        if blank and blank.group() == " ":
            line_ends.append(blank.start())
    return JoinedText(stays, np.array(line_ends, np.intp))


def _is_telephone(text: str, start: int, end: int) -> bool:
    return bool(_TELEPHONE.search(text[max(start - _LOOKED_BACK, 0) : start]) and _NUMBER.match(text, end))


def _words(text: str, breaks: list[tuple[int, int]]) -> Iterator[_Division]:
    """The words that may be divided at these breaks."""
    for start, end in breaks:
        token = text[max(start - _LOOKED_BACK, 0) : start].split()[-1:]
        first, second = _FIRST_PART.search(token[0]) if token else None, _SECOND_PART.match(text, end)
        if first is None or second is None or not (text[start - 1].islower() and text[end].islower()):
            continue
        if second.group() not in _SUSPENDED and not _NO_WORD.search(token[0], 0, first.start()):
            before, after = first.group().lower(), second.group().lower()
            yield _Division(start, end, before, before + after, f"{before}-{after}")


def _divided(text: str, words: list[_Division]) -> list[_Division]:
    """Choose the divided words, by the other words of the document."""
    if not words:
        return []
    known = {word.lower() for word in _WORDS.findall(_BROKEN.sub(" ", text))}
    is_whole = [word.joined in known for word in words]
    is_compound = [word.hyphenated in known for word in words]
    divides = sum(is_whole) >= sum(is_compound)
    is_first_known = [len(word.first) >= _WORD and word.first in known for word in words]
    evidence = zip(words, is_whole, is_compound, is_first_known, strict=True)
    return [
        word for word, whole, compound, first in evidence if (divides and not first if whole == compound else whole)
    ]
