"""Colour profile (ICC.1) without words: its numbers stay, its names, notes and private parts go."""

from __future__ import annotations

_HEAD, _ENTRY = 128, 12
_TAGS = frozenset(b"wtpt bkpt rXYZ gXYZ bXYZ rTRC gTRC bTRC kTRC chad A2B0 A2B1 A2B2 B2A0 B2A1 B2A2 gamt lumi".split())
_MOST_TAGS = 200
_TOLD = ((4, 8), (24, 36), (40, 44), (48, 64), (80, 128))
"""Places in the head of the maker's, device's and program's marks, of the date, and of a digest."""
_SPACES = {b"GRAY": 1, b"RGB ": 3, b"CMYK": 4, b"Lab ": 3}
_NAME = b"colours"
_DESCRIPTION = b"desc\0\0\0\0" + (len(_NAME) + 1).to_bytes(4, "big") + _NAME + b"\0" + bytes(78)
_NAMES = b"mluc\0\0\0\0\0\0\0\1\0\0\0\x0cenUS\0\0\0\x0e\0\0\0\x1c" + _NAME.decode().encode("utf-16-be")


def bare_profile(data: bytes) -> bytes:
    """A profile without what does not tell its colours; empty if it is none."""
    count = int.from_bytes(data[_HEAD : _HEAD + 4], "big")
    if profile_components(data) is None or count > _MOST_TAGS:
        return b""
    kept: list[tuple[bytes, bytes]] = []
    for at in range(_HEAD + 4, _HEAD + 4 + count * _ENTRY, _ENTRY):
        name, start, size = data[at : at + 4], *(int.from_bytes(data[at + n : at + n + 4], "big") for n in (4, 8))
        value = data[start : start + size]
        if name in _TAGS and (length := _length(value)):
            kept.append((name, value[:length]))
    if not kept:
        return b""
    words = _DESCRIPTION if data[8] < 4 else _NAMES
    kept += [(b"desc", words), (b"cprt", b"text\0\0\0\0" + _NAME + b"\0" if data[8] < 4 else words)]
    return _written(data[:_HEAD], kept)


def profile_components(data: bytes) -> int | None:
    """The components of a profile's colours; None if this is no profile."""
    return _SPACES.get(data[16:20]) if len(data) > _HEAD + 4 and data[36:40] == b"acsp" else None


def _length(value: bytes) -> int:
    """The bytes of a tag's value by its type; 0 for a type that may hold words."""
    number = int.from_bytes(value[8:12], "big")
    match value[:4]:
        case b"XYZ ":
            return 20
        case b"curv":
            return 12 + 2 * number
        case b"para":
            return 12 + 4 * {0: 1, 1: 3, 2: 4, 3: 5, 4: 7}.get(number >> 16, 0)
        case b"sf32":
            return 44
        case b"mft1" | b"mft2" if len(value) > 52:
            size = 1 if value[3:4] == b"1" else 2
            inputs, outputs, grid = value[8:11]
            before, after = (256, 256) if size == 1 else (int.from_bytes(value[n : n + 2], "big") for n in (48, 50))
            return (48 if size == 1 else 52) + size * (inputs * before + int(grid**inputs) * outputs + outputs * after)
        case b"mAB " | b"mBA ":
            return len(value)
    return 0


def _written(head: bytes, tags: list[tuple[bytes, bytes]]) -> bytes:
    plain = bytearray(head)
    for start, end in _TOLD:
        plain[start:end] = bytes(end - start)
    table, body, places = b"", b"", dict[bytes, int]()
    first = _HEAD + 4 + _ENTRY * len(tags)
    for name, value in tags:
        if value not in places:
            places[value] = first + len(body)
            body += value + bytes(-len(value) % 4)
        table += name + places[value].to_bytes(4, "big") + len(value).to_bytes(4, "big")
    plain[:4] = (first + len(body)).to_bytes(4, "big")
    return bytes(plain) + len(tags).to_bytes(4, "big") + table + body
