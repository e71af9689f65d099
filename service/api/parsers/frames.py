"""Frames between worker and parser: a file's header and bytes one way, a document or an error the other.

A frame is a little-endian uint32 length and that many bytes. A file is [header, data]; a document is [header, boxes,
line starts, then confidences, ranges and boxes of words if it has them], or [header] alone where it has no layout or
there was an error; a page's picture is [header, PNG], a redacted file [header, data]. Patterns come with texts in place
of a file, and go back as [header, matches].

The rule: a parser may have been taken over by its file, so what it answers is bounded before it is read, its lists
before they are decoded, and all is checked before it is believed. A byte may become an object of two hundred.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import msgspec
import numpy as np

from service.api.parsers.patterns import Patterns
from service.core.fields.stated_invoice import ElectronicInvoice, StatedPart, are_sound
from service.documents.document import (
    MOST_PICTURES,
    Charset,
    Document,
    Layout,
    Page,
    PagePicture,
    PartlyRead,
    PictureRequest,
    PlacedWords,
    RecognizedPage,
    RedactedPicture,
    UnreadAttachment,
)
from service.documents.limits import MEBIBYTE, DocumentLimits
from service.documents.redaction.values import RedactedFile, RedactedPage, Redaction

LENGTH = struct.Struct("<I")
_PNG = b"\x89PNG\r\n\x1a\n"
_T = TypeVar("_T")


class FileHeader(msgspec.Struct, frozen=True):
    """The header of a file, whose bytes follow in the next frame, and the work on it.

    `redaction`, `picture`, `patterns`: the work, where it is not its document. `ocr_pages`, `ocr_forced`, `ocr_again`
    and `ocr_pictures`: as `read_document` takes them.
    """

    media_type: str | None
    name: str | None
    limits: DocumentLimits
    redaction: Redaction | None = None
    picture: PictureRequest | None = None
    patterns: Patterns | None = None
    ocr_pages: tuple[int, ...] | None = None
    ocr_forced: bool = False
    ocr_again: RedactedPicture | None = None
    ocr_pictures: bool = False


class ParsedHeader(msgspec.Struct, frozen=True, omit_defaults=True):
    """The header of a document; boxes and line starts follow if it has a layout. With `error_code` it is an error.

    `crash` names the exception of a reader that failed in a way that it should not. `picture`: of a page, which
    follows, its width and height in points and the pages of its file.
    """

    text: str = ""
    pages: tuple[tuple[int, int, int, float, float], ...] | None = None
    has_layout: bool = False
    unread_pages: tuple[int, ...] = ()
    partly_read: tuple[PartlyRead, ...] = ()
    charset: Charset | None = None
    invoice: ElectronicInvoice | None = None
    recognized: tuple[RecognizedPage, ...] = ()
    unread_attachments: tuple[UnreadAttachment, ...] = ()
    has_confidence: bool = False
    error_code: str = ""
    detail: str = ""
    crash: str = ""
    picture: tuple[float, float, int] | None = None
    pictures: tuple[tuple[int, int], ...] = ()
    stated: tuple[StatedPart, ...] = ()
    page_pictures: tuple[tuple[int, int], ...] = ()
    has_words: bool = False


class RedactedHeader(msgspec.Struct, frozen=True):
    """The header of a redacted file, whose bytes follow; with `error_code` or `crash` it is an error, as above."""

    pages: tuple[RedactedPage, ...] = ()
    removed: tuple[str, ...] = ()
    error_code: str = ""
    detail: str = ""
    crash: str = ""


_ABSENT = msgspec.Raw(b"")
PAGE_BYTES, NUMBER_BYTES, PARTS_BYTES = 64, 5, 4_096
"""Most bytes of a page in a header: of itself, of its number among unread ones, of its parts that were not read."""
INVOICE_BYTES, STATED_BYTES = 16 * MEBIBYTE, 8 * MEBIBYTE
"""Most bytes of an electronic invoice in a header, and of the parts of a text that it states."""
_OF_A_PAGE = {
    "pages": PAGE_BYTES,
    "unread_pages": NUMBER_BYTES,
    "partly_read": PARTS_BYTES,
    "recognized": PARTS_BYTES,
    "page_pictures": PAGE_BYTES,
}
_OF_A_FILE = {
    "pictures": PAGE_BYTES * (MOST_PICTURES + 1),
    "unread_attachments": 256 * 1024,  # a hundred with a name and a sentence each
    "invoice": INVOICE_BYTES,
    "stated": STATED_BYTES,
}
"""Lists of a `ParsedHeader`, and the most bytes of each, for a page or a file."""
_ParsedLists = msgspec.defstruct(
    "_ParsedLists", [(name, msgspec.Raw, _ABSENT) for name in (*_OF_A_PAGE, *_OF_A_FILE)], frozen=True
)
"""The lists, not decoded."""


class BadAnswer(Exception):
    """A parser answered what no reader would: it crashed in the middle, or its file has taken it over."""


_decode_file = msgspec.msgpack.Decoder(FileHeader).decode
_decode_parsed = msgspec.msgpack.Decoder(ParsedHeader).decode
_decode_lists = msgspec.msgpack.Decoder(_ParsedLists).decode
_decode_redacted = msgspec.msgpack.Decoder(RedactedHeader).decode


def frame_prefix(data: bytes | memoryview) -> bytes:
    return LENGTH.pack(len(data))


def longest_frame(limits: DocumentLimits) -> int:
    """The most bytes that a frame of a document within these limits can have: four numbers for each character."""
    return 16 * limits.max_characters + PARTS_BYTES * limits.max_pages + INVOICE_BYTES + STATED_BYTES + MEBIBYTE


def longest_redacted_header(limits: DocumentLimits) -> int:
    """The most bytes that the header of a redacted file can have."""
    return 256 * limits.max_pages + MEBIBYTE


def longest_redacted(file_bytes: int) -> int:
    """The most bytes that a redacted file can have: pages that became pictures take more than they did."""
    return 2 * file_bytes + 64 * MEBIBYTE


def encode_file(header: FileHeader) -> bytes:
    return msgspec.msgpack.encode(header)


def decode_file(data: bytes) -> FileHeader:
    return _decode_file(data)


def to_frames(document: Document) -> list[bytes | memoryview]:
    """The frames of a document."""
    pages = tuple((p.number, p.start, p.end, p.width, p.height) for p in document.pages) if document.pages else None
    layout = document.layout
    head = msgspec.msgpack.encode(
        ParsedHeader(
            document.text,
            pages,
            layout is not None,
            document.unread_pages,
            document.partly_read,
            document.charset,
            document.invoice,
            document.recognized,
            document.unread_attachments,
            layout is not None and layout.confidence is not None,
            pictures=document.pictures,
            stated=document.stated,
            page_pictures=document.page_pictures,
            has_words=document.words is not None,
        )
    )
    if layout is None:
        return [head]
    arrays: list[np.ndarray[Any, Any]] = [layout.boxes, layout.line_starts]
    if layout.confidence is not None:
        arrays.append(layout.confidence)
    if document.words is not None:
        arrays += [document.words.ranges, document.words.boxes]
    return [head, *(np.ascontiguousarray(array).data.cast("B") if array.size else b"" for array in arrays)]


def redacted_frames(file: RedactedFile) -> list[bytes | memoryview]:
    return [msgspec.msgpack.encode(RedactedHeader(file.pages, file.removed)), file.data]


def picture_frames(picture: PagePicture) -> list[bytes | memoryview]:
    """The frames of a page's picture."""
    size = (picture.width_points, picture.height_points, picture.pages)
    return [msgspec.msgpack.encode(ParsedHeader(picture=size)), picture.content]


def error_frames(code: str, detail: str) -> list[bytes | memoryview]:
    return [msgspec.msgpack.encode(ParsedHeader(error_code=code, detail=detail))]


def crash_frames(crash: str) -> list[bytes | memoryview]:
    return [msgspec.msgpack.encode(ParsedHeader(crash=crash))]


def decoded_header(decode: Callable[[bytes], _T], data: bytes) -> _T:
    """The header of an answer.

    Raises:
        BadAnswer: it is none.
    """
    try:
        return decode(data)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise BadAnswer(f"no header: {type(error).__name__}") from None


def decode_header(data: bytes, limits: DocumentLimits) -> ParsedHeader:
    """Decode the header of a document or an error.

    Raises:
        BadAnswer: it is none, or its lists are longer than those of a document within these limits.
    """
    lists = decoded_header(_decode_lists, data)
    most = {name: each * (limits.max_pages + 1) for name, each in _OF_A_PAGE.items()} | _OF_A_FILE
    for name, most_bytes in most.items():
        if memoryview(getattr(lists, name)).nbytes > most_bytes:
            raise BadAnswer(f"too much of {name}")
    return decoded_header(_decode_parsed, data)


def decode_redacted(data: bytes, limits: DocumentLimits) -> RedactedHeader:
    """Decode the header of a redacted file or an error.

    Raises:
        BadAnswer: it is none.
    """
    head = decoded_header(_decode_redacted, data)
    failed = bool(head.error_code or head.crash)
    if not failed and len(head.pages) > limits.max_pages:
        raise BadAnswer("a report of another file")
    return head


def from_frames(
    parsed: ParsedHeader,
    boxes: bytes,
    line_starts: bytes,
    limits: DocumentLimits,
    confidence: bytes = b"",
    words: tuple[bytes, bytes] = (b"", b""),
) -> Document:
    """The document whose header and arrays came in these frames.

    Raises:
        BadAnswer: the parts do not belong together, or are over the limits.
    """
    length = len(parsed.text)
    pages = tuple(Page(*page) for page in parsed.pages) if parsed.pages else None
    if length > limits.max_characters or len(pages or ()) > limits.max_pages:
        raise BadAnswer("a document over the limits")
    if any(not 0 <= page.start <= page.end <= length for page in pages or ()):
        raise BadAnswer("pages outside the text")
    if not all(0 <= side < math.inf for page in pages or () for side in (page.width, page.height)):
        raise BadAnswer("pages without a size")
    numbers = {page.number for page in pages or ()}
    parts = [
        *(each.page for each in parsed.partly_read if each.page is not None),
        *(each.page for each in parsed.recognized),
        *(page for page, _ in parsed.page_pictures),
    ]
    if not numbers.issuperset((*parsed.unread_pages, *parts)):
        raise BadAnswer("parts of pages that are none of its own")
    if not all(math.isfinite(side) for each in parsed.partly_read for box in each.boxes for side in box):
        raise BadAnswer("boxes that are none")
    if not all(each.is_sound for each in parsed.recognized):
        raise BadAnswer("pages that were not recognized")
    if parsed.charset is not None and not (len(parsed.charset.name) < 40 and 0 <= parsed.charset.confidence <= 1):
        raise BadAnswer("a charset that is none")
    if parsed.invoice is not None and not parsed.invoice.is_sound:
        raise BadAnswer("an invoice that is none")
    if len(parsed.pictures) > MOST_PICTURES or (parsed.pictures and (pages or parsed.has_layout)):
        raise BadAnswer("pictures of a document that has none, or too many")
    if not all(0 <= place <= length and 0 < number < 2**31 for place, number in parsed.pictures):
        raise BadAnswer("pictures outside the text")
    if parsed.stated and (parsed.invoice is None or parsed.has_layout or not are_sound(parsed.stated, length)):
        raise BadAnswer("parts of another text")
    document = Document(
        parsed.text,
        pages,
        None,
        parsed.unread_pages,
        parsed.partly_read,
        parsed.charset,
        parsed.invoice,
        parsed.recognized,
        parsed.unread_attachments,
        parsed.pictures,
        parsed.stated,
        parsed.page_pictures,
    )
    if not parsed.has_layout:
        return document
    if len(boxes) != 16 * length or len(line_starts) % 4:
        raise BadAnswer("boxes of another text")
    starts = np.frombuffer(line_starts, dtype=np.int32)
    if len(starts) > length + 1 or (len(starts) and not 0 <= starts.min() <= starts.max() <= length):
        raise BadAnswer("lines outside the text")
    points = np.frombuffer(boxes, dtype=np.float32).reshape(-1, 4)
    sure = np.frombuffer(confidence, dtype=np.float32) if parsed.has_confidence else None
    if sure is not None and (len(sure) != length or not (np.isnan(sure) | ((sure >= 0) & (sure <= 1))).all()):
        raise BadAnswer("confidence of another text")
    return replace(
        document, layout=Layout(points, starts, sure), words=_words(*words, length) if parsed.has_words else None
    )


def _words(ranges: bytes, boxes: bytes, length: int) -> PlacedWords:
    """Read the words that came with a file; raises as `from_frames`."""
    if len(ranges) % 8 or len(boxes) != 4 * len(ranges):
        raise BadAnswer("words of another text")
    words = PlacedWords(np.frombuffer(ranges, np.int32).reshape(-1, 2), np.frombuffer(boxes, np.float64).reshape(-1, 4))
    if not words.are_sound(length):
        raise BadAnswer("words outside the text")
    return words


def picture_from_frames(parsed: ParsedHeader, content: bytes, wanted: PictureRequest) -> PagePicture:
    """The picture that came in these frames.

    Raises:
        BadAnswer: it is none.
    """
    is_one = content.startswith(_PNG) if wanted.resample is None else len(content) == wanted.most_bytes
    if parsed.picture is None or not is_one:
        raise BadAnswer("no picture")
    across, down, pages = parsed.picture
    if not (0 < across < math.inf and 0 < down < math.inf and pages > 0):
        raise BadAnswer("a page without a size")
    return PagePicture(content, across, down, pages)
