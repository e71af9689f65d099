"""Encoded image data of a PDF, cut to what decoding needs: no comments, no bytes behind the picture.

JPEG (ITU T.81, annex B) and JPEG 2000 (ISO 15444-1, annexes A and I) keep the segments and boxes listed here, and end
where the picture does. Of other data the samples are unpacked, cut to their rows, and packed anew.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pikepdf
from pikepdf import Array, Dictionary, Name

from service.documents.redaction.colour_profiles import bare_profile

_SCAN, _END, _RESTARTS = 0xDA, 0xD9, range(0xD0, 0xD8)
_FRAMES, _TABLES = frozenset((0xC0, 0xC1, 0xC2)), frozenset((0xC4, 0xCC, 0xDB, 0xDD))
_TOLD = frozenset((*range(0xE0, 0xF0), 0xFE))
_ADOBE, _ADOBE_BYTES = b"Adobe", 12
_START_OF_CODE, _END_OF_CODE, _TILE_PART, _TILE_DATA = b"\xff\x4f", b"\xff\xd9", 0x90, 0x93
_CODE_SEGMENTS = frozenset((0x51, 0x52, 0x53, 0x5C, 0x5D, 0x5E, 0x5F, 0x50, 0x60, 0x61, 0x63))
"""Markers of a code stream without its pointers and comments."""
_BOXES = frozenset((b"jP  ", b"ftyp", b"jp2h", b"jp2c"))
_COLOUR_BOXES = frozenset((b"ihdr", b"bpcc", b"colr", b"pclr", b"cdef"))
_WORDS = re.compile(rb"[A-Za-z0-9 .,:;/@()\-_\r\n+=]{24}|(?:[A-Za-z0-9 .,:;/@()\-_]\0){16}")
"""A run as of text, which packed pictures have by chance once in some gigabytes, unless it repeats a few bytes."""
_FEWEST_LETTERS = 8
_LEVEL = 6
_MOST_FILL = 32
"""Bytes of nothing before a marker."""


class NotPlain(Exception):
    """The data of an image that cannot be cut: the image must be rendered."""


def cut_jpeg(data: bytes) -> bytes:
    """A JPEG with its frame, tables and scans alone, up to its end.

    Raises:
        NotPlain: it is damaged, or its scans hold words.
    """
    if data[:2] != b"\xff\xd8":
        raise NotPlain
    kept, at = [data[:2]], 2
    while True:
        start = data.find(b"\xff", at)
        while start >= 0 and data[start + 1 : start + 2] == b"\xff":  # A fill byte.
            start += 1
        if start < 0 or start + 4 > len(data) or start > at + _MOST_FILL:
            break
        marker = data[start + 1]
        if marker == _END:
            break
        at = start + 2 + int.from_bytes(data[start + 2 : start + 4], "big")
        segment = data[start:at]
        is_adobe = marker == 0xEE and segment[4:].startswith(_ADOBE) and len(segment) == 4 + _ADOBE_BYTES
        if marker in _FRAMES or marker in _TABLES or is_adobe:
            kept.append(segment)
        elif marker == _SCAN:
            end = _end_of_scan(data, at)
            _check_words(data[at:end])
            kept += [segment, data[at:end]]
            at = end
        elif marker not in _TOLD:
            raise NotPlain
    if len(kept) < 3:
        raise NotPlain
    return b"".join((*kept, b"\xff\xd9"))


def _check_words(data: bytes) -> None:
    if any(len(set(run.group())) >= _FEWEST_LETTERS for run in _WORDS.finditer(data)):
        raise NotPlain


def _end_of_scan(data: bytes, at: int) -> int:
    """The place of the first marker behind a scan's data that is neither a restart nor a stuffed byte."""
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        if data[at + 1] and data[at + 1] not in _RESTARTS and data[at + 1] != 0xFF:
            return at
        at += 1 if data[at + 1] == 0xFF else 2
    return len(data)


def jpeg_size(data: bytes) -> tuple[int, int, int]:
    """Width, height and components of a JPEG that was cut."""
    at = 2
    while data[at + 1] not in _FRAMES:
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if at + 10 > len(data):
            raise NotPlain
    return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big"), data[at + 9]


def cut_jpeg_2000(data: bytes) -> bytes:
    """A JPEG 2000 file with the boxes that tell its colours, and its code stream; or a bare code stream.

    Raises:
        NotPlain: it is damaged, or its tiles hold words.
    """
    if data[:2] == _START_OF_CODE:
        return _cut_code(data)
    kept = [_box(kind, _cut_box(kind, data[a:b])) for kind, a, b in _boxes(data, _BOXES)]
    if not any(each[4:8] == b"jp2c" for each in kept):
        raise NotPlain
    return b"".join(kept)


def _boxes(data: bytes, kinds: frozenset[bytes]) -> list[tuple[bytes, int, int]]:
    """Kind, start and end of the content of the first box of each of these kinds."""
    found, at = dict[bytes, tuple[bytes, int, int]](), 0
    while at + 8 <= len(data):
        size, kind, head = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8], 8
        if size == 1:
            size, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        end = min(at + size, len(data)) if size >= head else len(data)
        if kind in kinds and kind not in found:
            found[kind] = kind, at + head, end
        at = end
    return list(found.values())


def _box(kind: bytes, content: bytes) -> bytes:
    return (8 + len(content)).to_bytes(4, "big") + kind + content


def _cut_box(kind: bytes, content: bytes) -> bytes:
    match kind:
        case b"jp2h":
            return b"".join(
                _box(inner, _cut_box(inner, content[a:b])) for inner, a, b in _boxes(content, _COLOUR_BOXES)
            )
        case b"jp2c":
            return _cut_code(content)
        case b"ftyp":
            return content[:4] + b"\0\0\0\0" + b"jp2 "
        case b"jP  ":
            return b"\r\n\x87\n"
        case b"ihdr" | b"bpcc":
            return content[:14]
        case b"colr" if content[:1] == b"\1":
            return content[:7]
        case b"colr" if profile := bare_profile(content[3:]):
            return content[:3] + profile
        case _:  # A palette or a channel beside the colours.
            raise NotPlain


def _cut_code(data: bytes) -> bytes:
    """A code stream without comments and pointers, up to its end."""
    kept, at = [_START_OF_CODE], 2
    while at + 4 <= len(data) and data[at] == 0xFF and data[at : at + 2] != _END_OF_CODE:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if data[at + 1] == _TILE_PART:
            size = int.from_bytes(data[at + 6 : at + 10], "big")
            stop = at + size if size else len(data) - 2 if data.endswith(_END_OF_CODE) else len(data)
            kept.append(_cut_tile(data[at:end], data[end:stop]))
            end = stop
        elif data[at + 1] in _CODE_SEGMENTS:
            kept.append(data[at:end])
        if end <= at:
            raise NotPlain
        at = end
    if len(kept) < 4:
        raise NotPlain
    return b"".join((*kept, _END_OF_CODE))


def _cut_tile(head: bytes, body: bytes) -> bytes:
    """A tile-part: its head (SOT), its segments, its data; the head says how long it is."""
    kept, at = list[bytes](), 0
    while at + 4 <= len(body) and body[at + 1] != _TILE_DATA:
        end = at + 2 + int.from_bytes(body[at + 2 : at + 4], "big")
        kept += [body[at:end]] if body[at + 1] in _CODE_SEGMENTS else []
        at = end
    _check_words(body[at:])
    rest = b"".join((*kept, body[at:]))
    return head[:6] + (len(head) + len(rest)).to_bytes(4, "big") + head[10:12] + rest


def jpeg_2000_size(data: bytes) -> tuple[int, int, int]:
    """Width, height and components of a JPEG 2000 file."""
    at = data.find(b"\xff\x4f\xff\x51")
    numbers = [int.from_bytes(data[place : place + 4], "big") for place in range(at + 8, at + 24, 4)]
    return numbers[0] - numbers[2], numbers[1] - numbers[3], int.from_bytes(data[at + 40 : at + 42], "big")


def cut_samples(data: bytes, width: int, height: int, bits: int) -> bytes:
    """Samples in rows of so many bits, without what follows them, and with nothing in the bits that fill a row up."""
    stride = (width * bits + 7) // 8
    data = data[: stride * height]
    if spare := -width * bits % 8:
        rows = np.frombuffer(data + bytes(-len(data) % stride), np.uint8).reshape(-1, stride).copy()
        rows[:, -1] &= 0xFF << spare & 0xFF
        data = rows.tobytes()[: len(data)]
    return data


_CUT: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], tuple[int, int, int]]]] = {
    "/DCTDecode": (cut_jpeg, jpeg_size),
    "/DCT": (cut_jpeg, jpeg_size),
    "/JPXDecode": (cut_jpeg_2000, jpeg_2000_size),
}
_RENDERED = ("/CCITTFaxDecode", "/CCF", "/JBIG2Decode", "/Crypt")


def cut_data(pdf: pikepdf.Pdf, image: Any, components: int, bits: int) -> None:
    """Cut the data of an image, in place, whose pixels have these components of so many bits; 0: as the data says.

    Raises:
        NotPlain: this is not how its data is, or it cannot be told.
    """
    filters = _filters(image)
    last = filters[-1] if filters else ""
    if last in _RENDERED:
        raise NotPlain
    width, height = int(image["/Width"]), int(image["/Height"])
    if last not in _CUT:
        image.write(zlib.compress(cut_samples(_unpacked(image), width, height, components * bits), _LEVEL),
                    filter=Name.FlateDecode)  # fmt: skip
        return
    cut, size = _CUT[last]
    data = cut(_without_outer(pdf, image, filters))
    shown = size(data)
    if shown[:2] != (width, height) or shown[2] not in ((components,) if components else (1, 3)):
        raise NotPlain
    parameters = _last_parameters(image)
    kept = {key: parameters[key] for key in ("/ColorTransform",) if isinstance(parameters.get(key), int)}
    image.write(data, filter=Name(last), decode_parms=Dictionary(kept) if kept else None)


def _filters(image: Any) -> list[str]:
    filters = image.get("/Filter", Array([]))
    return [str(each) for each in filters] if isinstance(filters, Array) else [str(filters)]


def _unpacked(image: Any) -> bytes:
    try:
        return bytes(image.read_bytes())
    except pikepdf.PdfError as error:
        raise NotPlain from error


def _last_parameters(image: Any) -> Any:
    parameters = image.get("/DecodeParms", Dictionary())
    parameters = parameters[-1] if isinstance(parameters, Array) and len(parameters) else parameters
    return parameters if isinstance(parameters, Dictionary) else Dictionary()


def _without_outer(pdf: pikepdf.Pdf, image: Any, filters: list[str]) -> bytes:
    """The data of an image without the filters before its last one."""
    if len(filters) == 1:
        return bytes(image.read_raw_bytes())
    parameters = image.get("/DecodeParms")
    outer = Array(list(parameters)[:-1]) if isinstance(parameters, Array) else None
    packed = pikepdf.Stream(pdf, b"")
    packed.write(image.read_raw_bytes(), filter=Array(map(Name, filters[:-1])), decode_parms=outer)
    return _unpacked(packed)
