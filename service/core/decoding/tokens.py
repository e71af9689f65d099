"""A document's tokens as decoding sees them: offsets, words, and spans of tokens.

The rule: a word is a run of letters, digits and combining marks, however the tokenizer split it. So a token begins a
word unless it touches its predecessor and the border lies between two word characters (or inside one, as with the byte
pieces of one character). A number is one word with the points, commas and apostrophes between its digits. In scripts
written without spaces every character is a word; Hangul counts among them, because a Korean name and the particle
after it are written together.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
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
_NUMBER_MARKS = np.array([ord(mark) for mark in ".,'’"], dtype=np.uint32)


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """A document's tokens, without special tokens.

    Attributes:
        offsets: int32 `[tokens, 2]`, each token's start and end in code points.
        is_subword: bool `[tokens]`, True where transformers' pipeline continues a word (`aggregation.subwords`); only
            `first`, `average` and `max` use it.
    """

    offsets: NDArray[np.int32]
    is_subword: NDArray[np.bool_]


class Span(NamedTuple):
    """An entity as a range of tokens, `[start_token, stop_token)`."""

    label: str
    start_token: int
    stop_token: int
    score: float


def code_points(text: str) -> NDArray[np.uint32]:
    """The text's code points as uint32 `[characters]`, for array operations."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def word_starts(text: str, offsets: NDArray[np.int32]) -> NDArray[np.bool_]:
    """True for tokens that begin a word, bool `[tokens]`; `offsets` is `[tokens, 2]` in code points."""
    begins = np.ones(len(offsets), dtype=np.bool_)
    points = code_points(text)
    start, previous_stop = offsets[1:, 0], offsets[:-1, 1]
    within = np.flatnonzero((start > 0) & (start < len(points)))
    border = start[within]
    joints = _inside_numbers(points)
    inside_word = (_binds(points[border - 1]) | joints[border - 1]) & (_binds(points[border]) | joints[border])
    touches = border == previous_stop[within]
    begins[1:] = start >= previous_stop
    begins[within[touches & inside_word] + 1] = False
    return begins


def _inside_numbers(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """True for a number's marks (point, comma, apostrophe) between two digits, bool `[characters]`."""
    joints = np.zeros(len(points), dtype=np.bool_)
    digits = (points >= ord("0")) & (points <= ord("9"))
    joints[1:-1] = np.isin(points[1:-1], _NUMBER_MARKS) & digits[:-2] & digits[2:]
    return joints


def _binds(points: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """True for code points that are word characters of a script with spaces, bool `[characters]`."""
    unique, inverse = np.unique(points, return_inverse=True)
    return np.fromiter(map(_is_word_character, unique.tolist()), dtype=np.bool_, count=len(unique))[inverse]


def _is_word_character(point: int) -> bool:
    character = chr(point)
    if not (character.isalnum() or unicodedata.category(character).startswith("M")):
        return False
    return not any(first <= point <= last for first, last in _UNSPACED)
