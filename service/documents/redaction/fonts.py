"""CMaps that are embedded in a font: how its strings divide into codes, and which glyph (CID) each code is.

ISO 32000-1, section 9.7.5. Of the predefined ones only Identity is known here; the others are tables of thousands of
codes for fonts that are not embedded.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pikepdf
from pikepdf import Array, Name

from service.documents.redaction.values import CannotRewrite

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


StandardWidths = Callable[[str, str, dict[int, str]], dict[int, float]]
_MOST_WIDTHS = 200_000


class ShownCode(NamedTuple):
    """One code of a shown string: its bytes, its advance and its origin's shift, for a font of size 1."""

    data: bytes
    advance: float
    is_space: bool
    shift: tuple[float, float]


class FontMetrics:
    """The metrics of one font dictionary (ISO 32000-1, sections 9.6 and 9.7)."""

    is_vertical = False

    def divide(self, data: bytes) -> list[ShownCode]:
        """The codes of a string."""
        raise NotImplementedError


class SimpleFont(FontMetrics):
    """A font of one-byte codes; without a default, only those that have a width can be shown."""

    def __init__(self, widths: dict[int, float], default: float | None, unit: float) -> None:
        self._codes = {
            code: ShownCode(bytes((code,)), width * unit, code == 32, (0.0, 0.0))
            for code in range(256)
            if (width := widths.get(code, default)) is not None
        }

    def divide(self, data: bytes) -> list[ShownCode]:
        codes = self._codes
        try:
            return [codes[byte] for byte in data]
        except KeyError as error:
            raise CannotRewrite("a glyph of a font without widths is not known") from error


class CompositeFont(FontMetrics):
    """A font of codes that a CMap takes to CIDs."""

    def __init__(self, code_map: CodeMap, widths: dict[int, float], default: float, vertical: VerticalMetrics) -> None:
        self.is_vertical = code_map.is_vertical
        self._map = code_map
        self._widths = widths
        self._default = default
        self._vertical = vertical

    def divide(self, data: bytes) -> list[ShownCode]:
        return [self._shown(code, cid) for code, cid in self._map.divide(data)]

    def _shown(self, code: bytes, cid: int) -> ShownCode:
        width = self._widths.get(cid, self._default)
        is_space = code == b" "
        if not self.is_vertical:
            return ShownCode(code, width / 1000, is_space, (0.0, 0.0))
        advance, x, y = self._vertical.of(cid, width)
        return ShownCode(code, advance / 1000, is_space, (-x / 1000, -y / 1000))


class VerticalMetrics:
    """Advances and origins of vertical writing: `DW2` and `W2` (ISO 32000-1, section 9.7.4.3)."""

    def __init__(self, font: Any) -> None:
        self._default = [float(each) for each in font.get("/DW2", [880, -1000])]
        self._found: dict[int, tuple[float, float, float]] = {}
        for cid, values in _cid_entries(font.get("/W2", Array([])), 3):
            self._found[cid] = (values[0], values[1], values[2])

    def of(self, cid: int, width: float) -> tuple[float, float, float]:
        """Advance, and the origin's place (x, y), in thousandths."""
        return self._found.get(cid) or (self._default[1], width / 2, self._default[0])


def read_font(font: Any, standard: StandardWidths) -> FontMetrics:
    """The metrics of a font dictionary; `standard` gives the widths of fonts that come without.

    Raises:
        CannotRewrite: they cannot be known.
    """
    subtype = font.get("/Subtype")
    if subtype == Name.Type0:
        return _composite(font)
    if subtype == Name.Type3:
        unit = abs(float(font.get("/FontMatrix", [0.001])[0]))
        return SimpleFont(_listed(font), 0.0, unit)
    descriptor = font.get("/FontDescriptor", pikepdf.Dictionary())
    default = float(descriptor.get("/MissingWidth", 0))
    if "/Widths" in font:
        return SimpleFont(_listed(font), default, 0.001)
    encoding, differences = named_encoding(font.get("/Encoding"))
    return SimpleFont(standard(str(font.get("/BaseFont", "/?")), encoding, differences), None, 0.001)


def _listed(font: Any) -> dict[int, float]:
    first = int(font.get("/FirstChar", 0))
    return {first + i: float(width) for i, width in enumerate(font.get("/Widths", []))}


def named_encoding(encoding: Any) -> tuple[str, dict[int, str]]:
    """The name of a simple font's encoding, and code → glyph name of its differences."""
    if encoding is None:
        return "", {}
    if isinstance(encoding, pikepdf.Name):
        return str(encoding), {}
    differences, code = {}, 0
    for each in encoding.get("/Differences", []):
        if isinstance(each, pikepdf.Name):
            differences[code] = str(each)
            code += 1
        else:
            code = int(each)
    return str(encoding.get("/BaseEncoding", "")), differences


def _composite(font: Any) -> CompositeFont:
    descendant = font["/DescendantFonts"][0]
    widths = {cid: values[0] for cid, values in _cid_entries(descendant.get("/W", Array([])), 1)}
    return CompositeFont(
        code_map(font.get("/Encoding")), widths, float(descendant.get("/DW", 1000)), VerticalMetrics(descendant)
    )


def code_map(encoding: Any) -> CodeMap:
    """The map of a composite font's encoding.

    Raises:
        CannotRewrite: it is a predefined one other than Identity, or not understood.
    """
    if isinstance(encoding, pikepdf.Stream):
        return read_code_map(encoding.read_bytes(), is_vertical=int(encoding.get("/WMode", 0)) == 1)
    if encoding in (Name("/Identity-H"), Name("/Identity-V")):
        return CodeMap(is_vertical=encoding == Name("/Identity-V"))
    raise CannotRewrite(f"a font has the character map {str(encoding)[:60]}")


def _cid_entries(entries: Any, size: int) -> list[tuple[int, tuple[float, ...]]]:
    """The entries of `W` (size 1) or `W2` (size 3): `first [values …]` or `first last values`."""
    found: list[tuple[int, tuple[float, ...]]] = []
    items = list(entries)
    at = 0
    while at + 1 < len(items) and len(found) < _MOST_WIDTHS:
        first, second = int(items[at]), items[at + 1]
        if isinstance(second, pikepdf.Array):
            values = [float(each) for each in second]
            found += [(first + i // size, tuple(values[i : i + size])) for i in range(0, len(values) - size + 1, size)]
            at += 2
        else:
            values = [float(each) for each in items[at + 2 : at + 2 + size]]
            if len(values) == size:
                found += [(cid, tuple(values)) for cid in range(first, min(int(second), first + 65_535) + 1)]
            at += 2 + size
    return found
