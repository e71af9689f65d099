"""Parts of a picture file (scans, chunks, directories, blocks), counted before anything of them is read.

What reads pictures walks all parts of a file, some of them again and again, and a part may have a few bytes. So a file
of far more parts than pictures have is refused here. What is cut off or damaged is left to the reader.

The formats: ITU T.81, PNG (ISO 15948), TIFF 6.0 and EXIF 2.3, GIF89a.
"""

from __future__ import annotations

import re
import struct

from service.core.errors import DocumentTooLarge, UnreadableDocument
from service.documents.limits import MEBIBYTE

MOST_SCANS = 100
"""Scans of a JPEG, each a pass over all pixels, and its blocks of EXIF."""
MOST_PARTS = 10_000
"""Segments of a JPEG, chunks of a PNG, blocks of a GIF beside its pixels."""
MOST_TAGS, MOST_STRIPS = 200_000, 400_000
"""Tags of all pages of a TIFF; strips or tiles of one."""
_MOST_JUNK = 65_536
"""Bytes before a segment of a JPEG that belong to none."""
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")
_START_OF_SCAN, _END_OF_IMAGE, _ALONE = 0xDA, 0xD9, (0x01, 0xD8)
_TAG_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}
"""Type of a tag → bytes of one value."""
_STRIPS, _DIRECTORIES = (273, 279, 324, 325), (330, 0x8769, 0x8825, 0xA005)
_EXTENSION, _IMAGE = 0x21, 0x2C


def check_parts(data: bytes) -> None:
    """Refuse a picture file with far too many parts.

    Raises:
        DocumentTooLarge: names the limit.
        UnreadableDocument: what its parts claim cannot be.
    """
    if data.startswith(b"\xff\xd8"):
        _check_jpeg(data)
    elif data.startswith(b"\x89PNG"):
        _check_png(data)
    elif data.startswith(b"GIF"):
        _check_gif(data)
    elif data.startswith((b"II*\0", b"MM\0*")):
        count_directories(data, MOST_TAGS)


def _refuse(most: int, what: str) -> None:
    raise DocumentTooLarge(f"The picture has more than {most:,} {what}.")


def _check_jpeg(data: bytes) -> None:
    at, scans, exifs = 2, 0, 0
    for _ in range(MOST_PARTS):
        found = _MARKER.search(data, at)
        if not scans and (found.start() if found else len(data)) - at > _MOST_JUNK:
            raise UnreadableDocument("The picture is damaged (bytes that belong to no segment).")
        if found is None or (marker := data[found.end() - 1]) == _END_OF_IMAGE:
            return
        at = found.end()
        scans += marker == _START_OF_SCAN
        exifs += data[at + 2 : at + 6] == b"Exif"
        if max(scans, exifs) > MOST_SCANS:
            _refuse(MOST_SCANS, "scans, or blocks of EXIF")
        at += 0 if marker in _ALONE else int.from_bytes(data[at : at + 2])
    _refuse(MOST_PARTS, "segments")


def _check_png(data: bytes) -> None:
    at = 8
    for _ in range(MOST_PARTS):
        if at + 8 > len(data) or data[at + 4 : at + 8] == b"IEND":
            return
        at += 12 + int.from_bytes(data[at : at + 4])
    _refuse(MOST_PARTS, "chunks")


def _check_gif(data: bytes) -> None:
    """Count the blocks up to the second image; those of pixels have 255 bytes but for the last."""
    at, blocks, images = 13 + _palette_bytes(data[10:11]), 0, 0
    while at + 10 < len(data) and data[at] in (_EXTENSION, _IMAGE):
        is_image = data[at] == _IMAGE
        images += is_image
        if images > 1:
            return
        most = MOST_PARTS + (len(data) // 64 if is_image else 0)
        at += 11 + _palette_bytes(data[at + 9 : at + 10]) if is_image else 2
        while at < len(data) and data[at]:
            at, blocks = at + 1 + data[at], blocks + 1
            if blocks > most:
                _refuse(most, "blocks")
        at += 1


def _palette_bytes(flags: bytes) -> int:
    return 3 << (flags[0] & 7) + 1 if flags and flags[0] & 0x80 else 0


def count_directories(data: bytes, most: int) -> int:
    """Count the pages of a TIFF, or of a block of EXIF, up to one more than `most`.

    Raises:
        DocumentTooLarge: they have too many tags or strips.
        UnreadableDocument: their values would be far more than the file.
    """
    order = "<" if data.startswith(b"II") else ">"
    pages, tags, value_bytes, seen = 0, 0, 0, set[int]()
    pending = [(int.from_bytes(data[4:8], "little" if order == "<" else "big"), True)]
    while pending and pages <= most:
        at, is_page = pending.pop()
        if at in seen or not 0 < at <= len(data) - 2:
            continue
        seen.add(at)
        pages += is_page
        (count,) = struct.unpack_from(f"{order}H", data, at)
        end = at + 2 + 12 * count
        tags += count
        if tags > MOST_TAGS or len(seen) > MOST_TAGS:
            _refuse(MOST_TAGS, "tags")
        if is_page and end + 4 <= len(data):
            pending.append((*struct.unpack_from(f"{order}I", data, end), True))
        whole = data[at + 2 : min(end, len(data))]
        for tag, kind, length, value in struct.iter_unpack(f"{order}HHII", whole[: len(whole) // 12 * 12]):
            size = _TAG_BYTES.get(kind, 0) * length
            value_bytes += size if 4 < size <= len(data) - value else 0
            if tag in _STRIPS and length > MOST_STRIPS and size <= len(data):
                _refuse(MOST_STRIPS, "strips")
            if tag in _DIRECTORIES:
                pending.append((value, False))
        if value_bytes > 2 * len(data) + MEBIBYTE:
            raise UnreadableDocument("The picture is damaged (its tags have more bytes than its file).")
    return pages
