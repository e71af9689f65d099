"""Parts of a picture file: far too many are refused before they are read, however small the file."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from service.core.errors import DocumentTooLarge, GleanerError, UnreadableDocument
from service.documents.limits import DocumentLimits
from service.documents.ocr.picture_parts import MOST_PARTS, MOST_SCANS, check_parts, count_directories
from service.documents.ocr.pictures import gray_page, picture_pages


def picture(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("L", (40, 30), 200).save(file, kind, **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(*, more: bytes = b"") -> bytes:
    data = picture("PNG")
    return data[:33] + more + data[33:]


def tags(count: int, size: int, tag: int = 40_000) -> bytes:
    """A directory of so many tags whose values are all the same bytes of the file."""
    return struct.pack("<H", count) + struct.pack("<HHII", tag, 7, size, 0) * count + bytes(4)


def with_directory(directory: bytes, size: int) -> bytes:
    data = picture("TIFF")
    return (data[:4] + struct.pack("<I", len(data)) + data[8:] + directory).ljust(size, b"\0")


def pages(count: int, *, is_circle: bool = False) -> bytes:
    one = 2 + 12 + 4
    starts = [8 + one * number for number in range(1, count)] + [8 if is_circle else 0]
    return b"II*\0" + struct.pack("<I", 8) + b"".join(struct.pack("<HHHIII", 1, 256, 3, 1, 1, at) for at in starts)


def scans(count: int) -> bytes:
    data = picture("JPEG", progressive=True)
    scan = data[data.rfind(b"\xff\xda") : -2]
    return data[:-2] + scan * count + b"\xff\xd9"


def in_gif(blocks: bytes) -> bytes:
    data = picture("GIF")
    at = data.find(b",")
    return data[:at] + blocks + data[at:]


EXIF = (b"II*\0\x08\0\0\0" + tags(5_000, 2**20)).ljust(2**20 + 100, b"\0")
NESTED = b"II*\0\x08\0\0\0" + struct.pack("<HHHII", 1, 0x8769, 4, 1, 26) + bytes(4) + EXIF[8:]
HOSTILE: dict[str, Callable[[], bytes]] = {
    "scans": lambda: scans(MOST_SCANS),
    "comments of a JPEG": lambda: b"\xff\xd8" + b"\xff\xfe\0\2" * MOST_PARTS + picture("JPEG")[2:],
    "bytes that are no segment": lambda: b"\xff\xd8" + bytes(100_000) + picture("JPEG")[2:],
    "fill bytes": lambda: b"\xff\xd8" + b"\xff" * 100_000 + picture("JPEG")[2:],
    "nothing but escaped bytes": lambda: b"\xff\xd8\xff\xe0\0\2" + b"\xff\0" * 100_000,
    "blocks of EXIF": lambda: b"\xff\xd8" + b"\xff\xe1\0\x08Exif\0\0" * 101 + picture("JPEG")[2:],
    "chunks": lambda: png(more=chunk(b"teST", b"") * MOST_PARTS),
    "frames of an APNG": lambda: png(more=chunk(b"fcTL", bytes(26)) * MOST_PARTS),
    "EXIF of a PNG": lambda: png(more=chunk(b"eXIf", EXIF)),
    "EXIF within EXIF": lambda: png(more=chunk(b"eXIf", NESTED)),
    "EXIF of a WebP": lambda: picture("WEBP", exif=EXIF),
    "tags": lambda: with_directory(tags(5_000, 2**20), 2**20),
    "strips": lambda: with_directory(tags(1, 2_000_000, 273), 2_000_000),
    "pages": lambda: pages(2_001),
    "more pages than tags": lambda: pages(300_000),
    "comments of a GIF": lambda: in_gif(b"!\xfe\x01a\0" * (MOST_PARTS + 1)),
    "one long comment": lambda: in_gif(b"!\xfe" + b"\x01a" * (MOST_PARTS + 1) + b"\0"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_picture_of_far_too_many_parts_is_refused(name: str) -> None:
    """A JPEG of 674 KB, a PNG of 12 MB and a TIFF of 61 MB held a parser for all its time."""
    with pytest.raises((DocumentTooLarge, UnreadableDocument)) as refused:
        picture_pages(HOSTILE[name](), limits=DocumentLimits())
    assert "more than" in refused.value.detail or "damaged" in refused.value.detail


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "GIF", "BMP"])
def test_ordinary_pictures_and_all_their_beginnings_pass(kind: str) -> None:
    data = picture(kind)
    assert picture_pages(data, limits=DocumentLimits()).pages
    for end in range(len(data)):
        check_parts(data[:end])


def test_ordinary_photographs_and_animations_pass() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a garden"
    several = {"save_all": True, "append_images": [Image.new("L", (40, 30), 90)] * 20}
    turned = picture("JPEG", exif=exif, progressive=True, comment=b"x" * 60_000, icc_profile=bytes(300_000))
    assert gray_page(turned, 1).shape == (40, 30)
    for data in (turned, scans(80), picture("GIF", **several), picture("PNG", **several), picture("WEBP", **several)):
        assert len(picture_pages(data, limits=DocumentLimits()).pages or ()) == 1


def test_pages_of_a_tiff_are_counted_up_to_the_limit_and_one_more() -> None:
    several = picture("TIFF", save_all=True, append_images=[Image.new("L", (9, 9))] * 4)
    assert count_directories(several, 2_000) == 5
    assert count_directories(several, 3) == 4
    assert count_directories(pages(50, is_circle=True), 2_000) == 50
    assert [count_directories(several[:end], 9) <= 5 for end in range(len(several))] == [True] * len(several)
    assert count_directories(b"", 9) == 0
    with pytest.raises(DocumentTooLarge, match="more than 4 pages"):
        picture_pages(several, limits=DocumentLimits(max_pages=4))


@pytest.mark.parametrize("order", ["<", ">"])
def test_tags_that_lead_beyond_the_file_or_to_themselves_are_no_matter(order: str) -> None:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    beyond = struct.pack(f"{order}HHII", 270, 2, 2**32 - 1, 2**32 - 1) + struct.pack(f"{order}HHII", 0x8769, 4, 1, 8)
    data = mark + struct.pack(f"{order}IH", 8, 2) + beyond + struct.pack(f"{order}I", 2**32 - 2)
    assert count_directories(data, 9) == 1
    with pytest.raises(GleanerError):
        picture_pages(data, limits=DocumentLimits())
