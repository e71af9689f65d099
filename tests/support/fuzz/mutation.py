"""Mutations of bytes: flips, cuts, copies, numbers at their limits, and pieces of other samples. Pure and seeded."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

WORDS = (
    b"\x00", b"\xff", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"-1", b"0", b"4294967296",
    b"1e999", b"99999999999999999999", b"\n", b"\r\n", b"\r\n\r\n", b" ", b"\t", b'"', b"'", b"<", b">", b"&", b"%",
    b"\\", b"\\u0000", b"\\ud800", b"[[[[[[[[", b"{{{{{{{{", b"<<", b">>", b"obj", b"endstream", b"/Kids", b"/Parent",
    b"]]>", b"<![CDATA[", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&#x110000;", b"PK\x03\x04", b"PK\x05\x06", b"\xc0\x80",
    b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"charset=utf-7", b"boundary=", b"Content-Length: 1",
    b"Transfer-Encoding: chunked", b"null", b"true", b"NaN",
)  # fmt: skip
MOST_MUTATIONS = 8
LONGEST_PIECE = 256
MOST_COPIES = 64


def mutate(sample: bytes, others: Sequence[bytes], draw: Random, most: int = MOST_MUTATIONS) -> bytes:
    """The sample with one to `most` changes."""
    data = bytearray(sample)
    for _ in range(draw.randint(1, most)):
        _change(data, others, draw)
    return bytes(data)


def _change(data: bytearray, others: Sequence[bytes], draw: Random) -> None:
    at = draw.randint(0, len(data))
    end = min(len(data), at + draw.randint(1, LONGEST_PIECE))
    match draw.randrange(7):
        case 0 if at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        case 1:
            data[at:end] = b""
        case 2:
            data[at:at] = data[at:end] * draw.randint(1, MOST_COPIES)
        case 3:
            data[at:at] = draw.choice(WORDS)
        case 4:
            data[at:end] = draw.choice(WORDS)
        case 5:
            other = draw.choice(others)
            start = draw.randint(0, len(other))
            data[at:end] = other[start : start + LONGEST_PIECE]
        case _:
            data[at:end] = draw.randbytes(end - at)
