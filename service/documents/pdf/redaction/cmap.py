"""CMaps that are embedded in a font: how its strings divide into codes, and which glyph (CID) each code is.

ISO 32000-1, section 9.7.5. Of the predefined ones only Identity is known here; the others are tables of thousands of
codes for fonts that are not embedded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from service.documents.pdf.redaction.unsupported import CannotRewrite

_TOKEN = re.compile(rb"<([0-9A-Fa-f\s]*)>|([^\s<>\[\]()]+)")
_MOST_TOKENS = 2_000_000


@dataclass(slots=True)
class CodeMap:
    """Codes of one to four bytes → CIDs; without ranges every two bytes are a CID (Identity)."""

    is_vertical: bool = False
    spaces: list[tuple[int, bytes, bytes]] = field(default_factory=list)
    """Length, first and last code of each code space."""
    ranges: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Length, first code, last code, first CID; sorted when all are there."""

    def divide(self, data: bytes) -> list[tuple[bytes, int]]:
        """Each code of a string with its CID; 0 for a code that has none."""
        if not self.spaces:
            return [(data[i : i + 2], int.from_bytes(data[i : i + 2], "big")) for i in range(0, len(data), 2)]
        found, at = [], 0
        while at < len(data):
            length = self._length(data, at)
            code = data[at : at + length]
            found.append((code, self._cid(code)))
            at += length
        return found

    def _length(self, data: bytes, at: int) -> int:
        for length, low, high in self.spaces:
            code = data[at : at + length]
            if len(code) == length and all(a <= b <= c for a, b, c in zip(low, code, high, strict=True)):
                return length
        return min(length for length, _, _ in self.spaces)

    def _cid(self, code: bytes) -> int:
        value = int.from_bytes(code, "big")
        index = bisect_right(self.ranges, (len(code), value, 1 << 40, 0)) - 1
        if index >= 0:
            length, first, last, cid = self.ranges[index]
            if length == len(code) and first <= value <= last:
                return cid + value - first
        return 0


def read_code_map(data: bytes, *, is_vertical: bool) -> CodeMap:
    """The map in an embedded CMap's stream.

    Raises:
        CannotRewrite: it is made of another CMap, or has no code space.
    """
    found = CodeMap(is_vertical)
    hexes: list[bytes] = []
    numbers: list[int] = []
    for count, match in enumerate(_TOKEN.finditer(data)):
        if count > _MOST_TOKENS:
            raise CannotRewrite("a font has an enormous character map")
        text, word = match.groups()
        if text is not None:
            hexes.append(bytes.fromhex(b"".join(text.split()).decode() + "0" * (len(b"".join(text.split())) % 2)))
        elif word == b"usecmap":
            raise CannotRewrite("a font's character map builds on another")
        elif word.startswith(b"begin"):
            hexes, numbers = [], []
        elif word == b"endcodespacerange":
            found.spaces += [(len(a), a, b) for a, b in zip(hexes[::2], hexes[1::2], strict=False) if len(a) == len(b)]
        elif word == b"endcidrange":
            pairs = zip(hexes[::2], hexes[1::2], numbers, strict=False)
            found.ranges += [(len(a), int.from_bytes(a), int.from_bytes(b), cid) for a, b, cid in pairs]
        elif word == b"endcidchar":
            found.ranges += [
                (len(a), int.from_bytes(a), int.from_bytes(a), cid) for a, cid in zip(hexes, numbers, strict=False)
            ]
        elif word.isdigit():
            numbers.append(int(word))
    if not found.spaces:
        raise CannotRewrite("a font's character map has no code space")
    found.spaces.sort()
    found.ranges.sort()
    return found
