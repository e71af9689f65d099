"""The parser process (`python -m service.api.extraction.parser_process`): files in on stdin, documents out on stdout.

It may crash, hang or run out of memory over a hostile file; `parser_pool` then starts another. A frame is a
little-endian uint32 length and that many bytes. A file is [header, data]; a document is [header, boxes, line starts],
or [header] alone where it has no layout or there was an error.
"""

from __future__ import annotations

import os
import resource
import struct
import sys
from typing import BinaryIO

import msgspec
import numpy as np

from service.core.errors import GleanerError, UnreadableDocument
from service.documents.document import Document, Layout, Page
from service.documents.limits import DocumentLimits
from service.documents.reader import read_document
from service.process import die_with_parent


class FileHeader(msgspec.Struct, frozen=True):
    """The header of a file; its bytes follow in the next frame."""

    media_type: str | None
    name: str | None
    limits: DocumentLimits


class ParsedHeader(msgspec.Struct, frozen=True):
    """The header of a document; boxes and line starts follow if it has a layout. With `error_code` it is an error."""

    text: str = ""
    pages: tuple[tuple[int, int, int], ...] | None = None
    has_layout: bool = False
    unread_pages: tuple[int, ...] = ()
    error_code: str = ""
    detail: str = ""


_decode_file = msgspec.msgpack.Decoder(FileHeader).decode
_decode_parsed = msgspec.msgpack.Decoder(ParsedHeader).decode


def frame_prefix(data: bytes | memoryview) -> bytes:
    """The length prefix of a frame."""
    return struct.pack("<I", len(data))


def to_frames(document: Document) -> list[bytes | memoryview]:
    """The frames of a document."""
    pages = tuple((page.number, page.start, page.end) for page in document.pages) if document.pages else None
    layout = document.layout
    head = msgspec.msgpack.encode(ParsedHeader(document.text, pages, layout is not None, document.unread_pages))
    if layout is None:
        return [head]
    arrays = (np.ascontiguousarray(layout.boxes), np.ascontiguousarray(layout.line_starts))
    return [head, *(array.data.cast("B") for array in arrays)]


def from_frames(parsed: ParsedHeader, boxes: bytes, line_starts: bytes) -> Document:
    """The document whose header and arrays came in these frames."""
    layout = None
    if parsed.has_layout:
        points = np.frombuffer(boxes, dtype=np.float32).reshape(-1, 4)
        layout = Layout(points, np.frombuffer(line_starts, dtype=np.int32))
    pages = tuple(Page(*page) for page in parsed.pages) if parsed.pages else None
    return Document(parsed.text, pages, layout, parsed.unread_pages)


def decode_header(data: bytes) -> ParsedHeader:
    """Decode the header of a document or an error."""
    return _decode_parsed(data)


def main() -> None:
    """Parse files until stdin ends. The first frame is a uint64: the limit of this process's memory in bytes."""
    die_with_parent()
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Output of libraries must not come between the frames.
    limit = struct.unpack("<Q", _read_frame(source) or b"\xff" * 8)[0]
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while (head := _read_frame(source)) is not None:
        frames = _answer(_decode_file(head), _read_frame(source) or b"")
        for part in frames:
            sink.write(frame_prefix(part))
            sink.write(part)
        sink.flush()


def _answer(file: FileHeader, data: bytes) -> list[bytes | memoryview]:
    try:
        return to_frames(read_document(data, media_type=file.media_type, name=file.name, limits=file.limits))
    except GleanerError as error:
        failure = error
    except MemoryError:
        failure = UnreadableDocument("Reading the file takes more memory than one file may have.")
    return [msgspec.msgpack.encode(ParsedHeader(error_code=failure.code, detail=failure.detail))]


def _read_frame(source: BinaryIO) -> bytes | None:
    head = source.read(4)
    if len(head) < 4:
        return None
    return source.read(struct.unpack("<I", head)[0])


if __name__ == "__main__":
    main()
