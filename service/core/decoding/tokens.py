"""A document's tokens as decoding sees them: offsets, words, and spans of tokens.

The rule: a word is a run of letters, digits and combining marks, however the tokenizer split it. So a token begins a
word unless it touches its predecessor and the border lies between two word characters (or inside one, as with the byte
pieces of one character). A number is one word with the points, commas and apostrophes between its digits. In scripts
written without spaces every character is a word; Hangul counts among them, because a Korean name and the particle
after it are written together. Where a model asks for it, a hyphen, slash, underscore or @ between two word characters
belongs to the word as well (`2026-03-14`, `info@acme-tools`), but not between two years (`2019-2023`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x9FFF),  # CJK radicals, kana, Hangul compatibility letters, unified ideographs
    (0xAC00, 0xD7FF),  # Hangul syllables
    (0xF900, 0xFAFF),  # CJK compatibility ideographs
    (0xFF66, 0xFFDC),  # half-width kana and Hangul
    (0x20000, 0x3FFFF),  # further ideographs
)
_NUMBER_MARKS = ".,'’"
_COMPOUND_MARKS = "-/_@\u2010\u2011"
_BINDS, _DIGIT, _MARK, _COMPOUND = np.uint8(1), np.uint8(2), np.uint8(4), np.uint8(8)
"""Classes of characters: word characters of a script with spaces, ASCII's digits, and the marks within a number or a
compound."""
_BETWEEN_YEARS = re.compile(r"(?:19|20)(?<![0-9]..)[0-9]{2}([-/\u2010\u2011])(?=(?:19|20)[0-9]{2}(?![0-9]))")
"""It begins with what is quickly searched for, and looks back from there."""
_TABLE_POINTS = 0x2E80
"""Code points whose classes are kept in a table: all scripts below the CJK ones, and punctuation."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A document's tokens, without special tokens.

    Attributes:
        offsets: int32 `[tokens, 2]`, each token's start and end in code points.
        is_subword: bool `[tokens]`, True where transformers' pipeline continues a word (`aggregation.subwords`); only
            `first`, `average` and `max` use it.
        is_unknown: bool `[tokens]`, True where the vocabulary has nothing for a token's text; None if nobody asks.
    """

    offsets: NDArray[np.int32]
    is_subword: NDArray[np.bool_]
    is_unknown: NDArray[np.bool_] | None = None


class Span(NamedTuple):
    """An entity as a range of tokens, `[start_token, stop_token)`."""

    label: str
    start_token: int
    stop_token: int
    score: float


def code_points(text: str) -> NDArray[np.uint32]:
    """The text's code points as uint32 `[characters]`, for array operations."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def word_starts(text: str, offsets: NDArray[np.int32], *, compounds: bool = False) -> NDArray[np.bool_]:
    """True for tokens that begin a word, bool `[tokens]`; `offsets` is `[tokens, 2]` in code points."""
    begins = np.ones(len(offsets), dtype=np.bool_)
    start, previous_stop = offsets[1:, 0], offsets[:-1, 1]
    np.greater_equal(start, previous_stop, out=begins[1:])
    begins[1:] &= (start != previous_stop) | ~_inside_words(text, compounds)[start]
    return begins


def _inside_words(text: str, compounds: bool) -> NDArray[np.bool_]:
    """True for borders between two characters of one word, bool `[characters + 1]`; text's own borders are none."""
    classes = _classes(code_points(text))
    binds = (classes & _BINDS).astype(np.bool_)
    in_word = binds.copy()
    digits = (classes & _DIGIT).astype(np.bool_)
    in_word[1:-1] |= digits[:-2] & digits[2:] & (classes[1:-1] & _MARK).astype(np.bool_)
    if compounds:
        joins = (classes & _COMPOUND).astype(np.bool_)
        joins[[match.start(1) for match in _BETWEEN_YEARS.finditer(text)]] = False
        in_word[1:-1] |= binds[:-2] & binds[2:] & joins[1:-1]
    inside = np.zeros(len(classes) + 1, dtype=np.bool_)
    np.logical_and(in_word[1:], in_word[:-1], out=inside[1:-1])
    return inside


def _classes(points: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The class of each code point, uint8 `[characters]`."""
    table = _class_table()
    if points.max(initial=0) < len(table):
        return table[points]
    unique, inverse = np.unique(points, return_inverse=True)
    return np.fromiter(map(_class_of, unique.tolist()), dtype=np.uint8, count=len(unique))[inverse]


@cache
def _class_table() -> NDArray[np.uint8]:
    return np.fromiter(map(_class_of, range(_TABLE_POINTS)), dtype=np.uint8, count=_TABLE_POINTS)


def _class_of(point: int) -> int:
    character = chr(point)
    digit = int(_DIGIT) if character in "0123456789" else 0
    mark = int(_MARK) if character in _NUMBER_MARKS else 0
    compound = int(_COMPOUND) if character in _COMPOUND_MARKS else 0
    return digit | mark | compound | (int(_BINDS) if _is_word_character(point) else 0)


def _is_word_character(point: int) -> bool:
    character = chr(point)
    if not (character.isalnum() or unicodedata.category(character).startswith("M")):
        return False
    return not any(first <= point <= last for first, last in _UNSPACED)
