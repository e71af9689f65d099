"""Converts offsets of code points (Python) to UTF-16 units (JavaScript, Java) or UTF-8 bytes."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt


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
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    borders = (0xFFFF,) if unit is OffsetUnit.UTF16 else (0x7F, 0x7FF, 0xFFFF)
    widths = np.ones(len(points), dtype=np.uint8)
    for border in borders:
        widths += points > border
    positions = np.zeros(len(points) + 1, dtype=np.int32)
    np.cumsum(widths, out=positions[1:])
    return positions
