"""The parser: a process that reads files of one client into documents. Forked by the zygote, which imported all of it.

It may crash, hang, run out of memory, or be taken over by its file: it has one connection and the sandbox around it.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import BinaryIO

from service.api.bodies.kinds import DOCUMENTS, JsonWanted, kind_of
from service.api.parsers.frames import (
    LENGTH,
    FileHeader,
    crash_frames,
    decode_file,
    error_frames,
    frame_prefix,
    longest_redacted,
    picture_frames,
    redacted_frames,
    to_frames,
)
from service.api.parsers.json_frames import json_frames
from service.api.parsers.samples import samples
from service.core.errors import DocumentTooLarge, GleanerError, UnreadableDocument, UnredactableDocument
from service.documents.document import Document
from service.documents.limits import DocumentLimits
from service.documents.page_picture import PictureWanted
from service.documents.pdf.picture import draw_page
from service.documents.reader import read_document
from service.documents.redacted import Range, Redaction
from service.documents.redactor import redact_document
from service.process import die_with_parent
from service.sandbox.apply import ParserSandbox

CONNECTION = 3
"""The descriptor of the only way out; 0 to 2 lead to /dev/null, so that no line of the log can be forged."""

REHEARSAL = Redaction((Range(0, 7, "Invoice"),), ("Invoice",))
"""What is redacted of the sample, so that all that it takes is imported."""

Reader = Callable[[bytes, str | None, str | None, DocumentLimits], Document]


def read(data: bytes, media_type: str | None, name: str | None, limits: DocumentLimits) -> Document:
    """Read one file; the function that a parser runs unless a test puts another in its place."""
    return read_document(data, media_type=media_type, name=name, limits=limits)


def prepare() -> None:
    """Import all that a reader may ever need, since a parser opens no file, and keep pages shared with the children."""
    import encodings

    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError, LookupError):  # `mbcs` and `oem` are of another operating system.
            importlib.import_module(f"encodings.{module.name}")
    for name, data in samples().items():
        read(data, None, name, DocumentLimits())
    _redact(FileHeader(None, None, DocumentLimits(), REHEARSAL), samples()["a.pdf"])
    draw_page(samples()["a.pdf"], PictureWanted(1, 10), limits=DocumentLimits())
    _read_json(b'{"documents": [{"text": ""}]}', JsonWanted(DOCUMENTS, 1), DocumentLimits())
    gc.collect()
    gc.disable()
    gc.freeze()


def live(connection: int, null: int, sandbox: ParserSandbox, reader: Reader) -> None:
    """Be a parser: close all doors, then read file after file until the connection ends."""
    _reset()
    for number, descriptor in ((0, null), (1, null), (2, null), (CONNECTION, connection)):
        os.dup2(descriptor, number)
    os.closerange(CONNECTION + 1, os.sysconf("SC_OPEN_MAX"))
    with open(CONNECTION, "rb", closefd=False) as source, open(CONNECTION, "wb", closefd=False) as sink:
        sandbox.restrict()
        gc.enable()
        while (head := _read_frame(source)) is not None:
            for part in _answer(decode_file(head), _read_frame(source) or b"", reader):
                sink.write(frame_prefix(part))
                sink.write(part)
            sink.flush()


def _reset() -> None:
    die_with_parent()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _answer(file: FileHeader, data: bytes, reader: Reader) -> Iterable[bytes | memoryview]:
    try:
        if file.redaction is not None:
            return _redact(file, data)
        if file.picture is not None:
            return picture_frames(draw_page(data, file.picture, limits=file.limits))
        if file.json is not None:
            return _read_json(data, file.json, file.limits)
        return to_frames(reader(data, file.media_type, file.name, file.limits))
    except GleanerError as error:
        return error_frames(error.code, error.detail)
    except MemoryError:
        return error_frames(UnreadableDocument.code, "Reading the file takes more memory than one file may have.")
    except Exception as error:
        return crash_frames(_place(error))


def _redact(file: FileHeader, data: bytes) -> list[bytes | memoryview]:
    assert file.redaction is not None, "asked by the caller"
    made = redact_document(data, file.redaction, media_type=file.media_type, name=file.name, limits=file.limits)
    if len(made.data) > longest_redacted(len(data)):
        raise UnredactableDocument("The redacted file would be far larger than the file is.")
    return redacted_frames(made)


def _read_json(data: bytes, wanted: JsonWanted, limits: DocumentLimits) -> Iterable[bytes]:
    kind = kind_of(wanted)
    try:
        return json_frames(*kind.divide(kind.decode(data, wanted.most_documents)), limits)
    except MemoryError:
        raise DocumentTooLarge("Decoding the body takes more memory than one body may have.") from None


def _place(error: Exception) -> str:
    """The error's type and where it was raised; nothing of the file."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}" if trace else ""
    return type(error).__name__ + where


def _read_frame(source: BinaryIO) -> bytes | None:
    head = source.read(LENGTH.size)
    return source.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None
