"""Converts offsets of code points (Python) to UTF-16 units (JavaScript, Java) or UTF-8 bytes, and from a composed text.

A model reads a text in Unicode's composed form (NFC), so that a letter and its accents are the same tokens however they
are written; what it finds is placed in the text as it was written.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from service.core.decoding.tokens import code_points, extenders


class OffsetUnit(StrEnum):
    """The unit of `start` and `end`."""

    CODEPOINT = "codepoint"
    UTF16 = "utf16"
    BYTE = "byte"


class OffsetMap:
    """Maps the code point offsets of one text to another unit."""

    def __init__(self, text: str, unit: OffsetUnit) -> None:
        self._units = None if unit is OffsetUnit.CODEPOINT or text.isascii() else _positions(text, unit)

    def __getitem__(self, offset: int) -> int:
        return offset if self._units is None else int(self._units[offset])


def _positions(text: str, unit: OffsetUnit) -> npt.NDArray[np.int32]:
    """The offset of each code point in the unit, then that of the end: int32 `[characters + 1]`."""
    points = code_points(text)
    borders = (0xFFFF,) if unit is OffsetUnit.UTF16 else (0x7F, 0x7FF, 0xFFFF)
    widths = np.ones(len(points), dtype=np.uint8)
    for border in borders:
        widths += points > border
    positions = np.zeros(len(points) + 1, dtype=np.int32)
    np.cumsum(widths, out=positions[1:])
    return positions


@dataclass(frozen=True, slots=True, eq=False)
class ComposedText:
    """A text in composed form.

    Attributes:
        places: int32 `[characters + 1, 2]`: where an offset that begins a span lies in the text as it was written, and
            where one that ends a span does; None if that was composed already.
    """

    text: str
    places: npt.NDArray[np.int32] | None = None

    def written(self, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Spans `[spans, 2]` of this text in the text as it was written: whole characters with all of their marks."""
        if self.places is None:
            return offsets
        offsets = np.minimum(offsets, len(self.text))  # A model may have read a full stop behind it.
        return np.stack([self.places[offsets[:, 0], 0], self.places[offsets[:, 1], 1]], axis=1)

    def read(self, offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
        """Spans `[spans, 2]` of the text as it was written in this text, if that differs; the inverse of `written`."""
        assert self.places is not None
        starts = np.searchsorted(self.places[:, 0], offsets[:, 0])
        return np.stack([starts, np.searchsorted(self.places[:, 1], offsets[:, 1], side="right") - 1], axis=1)


def compose(text: str) -> ComposedText:
    """A text in composed form."""
    if text.isascii():
        return ComposedText(text)
    pieces: list[str] = []
    last = 0
    counts = np.ones(len(text), dtype=np.int32)
    for start, stop in _may_compose(text):
        if not unicodedata.is_normalized("NFC", text[start:stop]):
            piece = unicodedata.normalize("NFC", text[start:stop])
            pieces += (text[last:start], piece)
            last = stop
            counts[start:stop] = 0
            counts[start] = len(piece)
    if not pieces:
        return ComposedText(text)
    starts = np.flatnonzero(counts)
    stops = np.append(starts[1:], len(text))
    begins = np.append(np.repeat(starts, counts[starts]), len(text))
    ends = np.append(0, np.repeat(stops, counts[starts]))
    return ComposedText("".join((*pieces, text[last:])), np.stack([begins, ends], axis=1).astype(np.int32))


_LONGEST_PIECE = 64
"""Most characters of a piece: the cost of normalization is the square of it. Unicode's stream-safe texts have 31."""
_HANGUL_ENDINGS = 0x1160, 0x11FF
"""First and last of the vowels and final consonants that make a syllable with the letter before."""


def _may_compose(text: str) -> npt.NDArray[np.intp]:
    """The pieces of a text that may have another composed form: a character with what may join it, `[pieces, 2]`."""
    points = code_points(text)
    first, last = _HANGUL_ENDINGS
    joins = extenders(text) | ((points >= first) & (points <= last))
    single = [ord(each) for each in set(text) if not unicodedata.is_normalized("NFC", each)]
    nothing = np.empty((0, 2), dtype=np.intp)
    if not single and not joins.any():
        return nothing
    starts = np.flatnonzero(~joins | (np.arange(len(text)) == 0))
    sizes = np.append(starts[1:], len(text)) - starts
    if sizes.max() <= _LONGEST_PIECE and unicodedata.is_normalized("NFC", text):
        return nothing
    sizes[sizes > _LONGEST_PIECE] = 1
    return np.stack([starts, starts + sizes], axis=1)[(sizes > 1) | np.isin(points[starts], single)]
