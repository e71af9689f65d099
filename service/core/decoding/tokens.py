"""A document's tokens as decoding sees them: offsets, words, and spans of tokens.

The rule: a word is a run of letters and digits, however the tokenizer split it. So a token begins a word unless it
touches its predecessor and the border lies between two word characters (or inside one, as with the byte pieces of one
character). A number is one word with the points, commas and apostrophes between its digits. In scripts written without
spaces every character is a word; Hangul counts among them, because a Korean name and the particle after it are written
together. Where a model asks for it, a hyphen, slash, underscore or @ between two word characters belongs to the word as
well (`2026-03-14`, `info@acme-tools`), but not between two years (`2019-2023`).

An extender (a combining mark, or an invisible character such as a joiner or a soft hyphen) belongs to the character
before it: a word neither begins with one nor ends at one, whether or not the tokenizer has a token for it.
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
_BINDS, _DIGIT, _MARK, _COMPOUND, _EXTENDS, _SPACE = (np.uint8(1 << bit) for bit in range(6))
"""Classes of characters: word characters of a script with spaces, ASCII's digits, the marks within a number or a
compound, extenders, and white space."""
_BLANK_RANGES = (
    *((0x0000, 0x0020), (0x007F, 0x00A0), (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160)),
    *((0x1680, 0x1680), (0x17B4, 0x17B5), (0x180E, 0x180E), (0x2000, 0x200F), (0x2028, 0x202F), (0x205F, 0x206F)),
    *((0x2800, 0x2800), (0x3000, 0x3000), (0x3164, 0x3164), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF9, 0xFFFB)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0001, 0xE0001), (0xE0020, 0xE007F)),
)
BLANKS = frozenset(chr(point) for first, last in _BLANK_RANGES for point in range(first, last + 1))
"""White space and invisible characters, without those that change how the character before them looks."""
_ZERO_WIDTH_SPACE = "\u200b"
"""The one invisible character that parts words: Thai and Khmer are written with it."""
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
        firsts: intp `[words]`, the first token of each word that was given; None: the words are found in the text.
    """

    offsets: NDArray[np.int32]
    is_subword: NDArray[np.bool_]
    is_unknown: NDArray[np.bool_] | None = None
    firsts: NDArray[np.intp] | None = None


class Span(NamedTuple):
    """An entity as a range of tokens, `[start_token, stop_token)`."""

    label: str
    start_token: int
    stop_token: int
    score: float


def code_points(text: str) -> NDArray[np.uint32]:
    """The text's code points as uint32 `[characters]`, for array operations."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def is_extender(character: str) -> bool:
    """True for a combining mark, and for an invisible character that parts no words."""
    if character.isascii():
        return False
    category = unicodedata.category(character)
    return category.startswith("M") or (category == "Cf" and character in BLANKS and character != _ZERO_WIDTH_SPACE)


def extenders(text: str) -> NDArray[np.bool_]:
    """True for the extenders of a text, bool `[characters]`."""
    return (_classes(code_points(text)) & _EXTENDS).astype(np.bool_)


def word_starts(text: str, offsets: NDArray[np.int32], *, compounds: bool = False) -> NDArray[np.bool_]:
    """True for tokens that begin a word, bool `[tokens]`; `offsets` is `[tokens, 2]` in code points."""
    begins = np.ones(len(offsets), dtype=np.bool_)
    start, previous_stop = offsets[1:, 0], offsets[:-1, 1]
    inside, stops = _inside_words(text, compounds)
    if stops is not None:
        previous_stop = np.maximum(previous_stop, np.minimum(stops[previous_stop], start))
    np.greater_equal(start, previous_stop, out=begins[1:])
    begins[1:] &= (start != previous_stop) | ~inside[start]
    return begins


def word_firsts(text: str, encoding: Encoding, *, compounds: bool = False) -> NDArray[np.intp]:
    """The first token of each word, intp `[words]`."""
    if encoding.firsts is not None:
        return encoding.firsts
    return np.flatnonzero(word_starts(text, encoding.offsets, compounds=compounds))


def _inside_words(text: str, compounds: bool) -> tuple[NDArray[np.bool_], NDArray[np.intp] | None]:
    """True for borders between two characters of one word, and the end of the extenders behind each border, if any.

    Both `[characters + 1]`; the text's own borders are inside no word.
    """
    classes = _classes(code_points(text))
    extends = (classes & _EXTENDS).astype(np.bool_)
    stops = None
    if extends.any():
        places = np.arange(len(classes) + 1)
        bases = np.maximum.accumulate(np.where(extends, 0, places[:-1]))
        stops = np.minimum.accumulate(np.where(np.append(extends, False), len(classes), places)[::-1])[::-1]
        classes = classes[bases]
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
    if stops is not None:
        inside[1:-1] |= extends[1:] & (classes[1:] & _SPACE == 0)
    return inside, stops


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
    extends = int(_EXTENDS) if is_extender(character) else 0
    space = int(_SPACE) if character.isspace() else 0
    return digit | mark | compound | extends | space | (int(_BINDS) if _is_word_character(point) else 0)


def _is_word_character(point: int) -> bool:
    return chr(point).isalnum() and not any(first <= point <= last for first, last in _UNSPACED)
