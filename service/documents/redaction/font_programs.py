"""Names inside embedded font programs: overwritten where they say what must go, so that no place in the program moves.

TrueType and OpenType (tables), CFF (Adobe technical note 5176: indices of names and strings), Type 1 (clear text).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from service.core.redaction import Repeats

_TOLD_TABLES = frozenset((b"meta", b"DSIG", b"FFTM", b"PfEd"))
_SFNT = (b"\0\1\0\0", b"true", b"OTTO", b"ttcf")
_MOST_TABLES = 64
_TYPE1 = re.compile(rb"\(([^()]{4,})\)|/FontName\s*/(\S+)|%!([^\r\n]+)|FontDirectory\s*/(\S+)")


def without_names(program: bytes, leaks: Repeats) -> bytes:
    """The program with `x` over each name in it that says what must go."""
    places = list(_names(program))
    if not leaks.are_named_in(_text(b" ".join(program[a:b] for a, b in places))):
        return program
    plain = bytearray(program)
    for start, end in places:
        if leaks.are_named_in(_text(program[start:end])):
            plain[start:end] = b"x" * (end - start)
    return bytes(plain)


def _text(data: bytes) -> str:
    return data.replace(b"\0", b"").decode("latin-1")


def _names(program: bytes) -> Iterator[tuple[int, int]]:
    """The places of names."""
    if program[:4] in _SFNT:
        yield from _table_names(program)
    elif program[:1] == b"\1":
        yield from _cff_names(program, 0)
    else:
        clear = program[: max(program.find(b"eexec"), 0) or len(program)]
        yield from (match.span(match.lastindex or 0) for match in _TYPE1.finditer(clear))


def _table_names(program: bytes) -> Iterator[tuple[int, int]]:
    for number in range(min(int.from_bytes(program[4:6], "big"), _MOST_TABLES)):
        entry = program[12 + 16 * number : 28 + 16 * number]
        start, size = int.from_bytes(entry[8:12], "big"), int.from_bytes(entry[12:16], "big")
        if entry[:4] == b"CFF ":
            yield from _cff_names(program, start)
        elif entry[:4] == b"name" and size >= 6:
            yield start + int.from_bytes(program[start + 4 : start + 6], "big"), start + size
        elif entry[:4] == b"post" and size > 34:
            yield start + 34 + 2 * int.from_bytes(program[start + 32 : start + 34], "big"), start + size
        elif entry[:4] in _TOLD_TABLES:
            yield start, start + size


def _cff_names(program: bytes, start: int) -> Iterator[tuple[int, int]]:
    if start + 2 >= len(program):
        return
    names, at = _index(program, start + program[start + 2])
    _, at = _index(program, at)
    strings, _ = _index(program, at)
    yield from (*names, *strings)


def _index(program: bytes, at: int) -> tuple[list[tuple[int, int]], int]:
    """The places of an index's items, and the place behind it."""
    count = int.from_bytes(program[at : at + 2], "big")
    if not count or at + 3 > len(program):
        return [], at + 2
    size = program[at + 2]
    first = at + 2 + (count + 1) * size
    starts = [int.from_bytes(program[at + 3 + n * size : at + 3 + (n + 1) * size], "big") for n in range(count + 1)]
    places = [(first + a, first + b) for a, b in pairwise(starts)]
    return places, first + starts[-1]
