"""The parser: a process that reads files of one client into documents. Forked by the zygote, which imported all of it.

It may crash, hang, run out of memory, or be taken over by its file: it has one connection and the sandbox around it.
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import pkgutil
import signal
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from PIL import Image, ImageDraw

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
from service.api.parsers.patterns import Patterns, encode_texts, match_frame
from service.core.errors import GleanerError, UnreadableDocument, UnredactableDocument
from service.documents.document import Document, PictureRequest
from service.documents.format_detection import picture_kind
from service.documents.limits import DocumentLimits
from service.documents.ocr.networks import load_networks
from service.documents.ocr.pictures import draw_picture, gray_page
from service.documents.ocr.reader import recognize_pages
from service.documents.pdf.picture import draw_page
from service.documents.reader import read_document
from service.documents.redaction.pdf_redactor import redact_document
from service.documents.redaction.values import Range, Redaction
from service.process import die_with_parent
from service.sandbox.apply import ParserSandbox

_TEXT = "Grüße aus Köln, schöne Straßen und Öfen. ".encode("cp1252") * 8
_HTML = b"<html><head><title>t</title></head><body><p>Anna &amp; Co</p><table><tr><td>1</td></tr></table></body></html>"

_INVOICE = (
    b'<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>1</ID><IssueDate>2026-03-12'
    b"</IssueDate><InvoiceLine><InvoicedQuantity>1.0</InvoicedQuantity></InvoiceLine></Invoice>"
)

_HOCR = (
    b"<div class='ocr_page' title='bbox 0 0 9 9'><span class='ocrx_word' title='bbox 0 0 4 2'>Anna</span>"
    b"<span class='ocrx_word' title='bbox 5 0 9 2'>Co</span></div>"
)
_ALTO = b'<alto><Page WIDTH="9" HEIGHT="9"><String CONTENT="A" HPOS="0" VPOS="0" WIDTH="4" HEIGHT="2"/></Page></alto>'
_TEXTRACT = (
    b'{"Blocks": [{"BlockType": "WORD", "Text": "Anna", "Geometry": {"BoundingBox": '
    b'{"Left": 0.1, "Top": 0.1, "Width": 0.1, "Height": 0.1}}}]}'
)

_DOCUMENT = "word/document.xml"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"

_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Override PartName="/{_DOCUMENT}" ContentType="{_MAIN}"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r1" Type="{_OFFICE}"'
    f' Target="{_DOCUMENT}"/></Relationships>',
    _DOCUMENT: f'<w:document xmlns:w="{_WORD}"><w:body><w:p><w:r><w:t>Anna</w:t></w:r></w:p></w:body></w:document>',
}

_PAGE = b"BT /F1 11 Tf 72 700 Td (Invoice) Tj 0 -14 Td (a line with a hyphen-) Tj 200 14 Td (Total) Tj ET"
_OBJECTS = (
    b"<< /Type /Catalog /Pages 2 0 R >>",
    b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
    b" /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
    b"<< /Length %d >>\nstream\n%b\nendstream" % (len(_PAGE), _PAGE),
)


def samples() -> dict[str, bytes]:
    """Name → content."""
    texts = {"a.html": _HTML, "a.txt": _TEXT, "b.txt": "日本語".encode("utf-16"), "a.xml": _INVOICE, "a.csv": b"a;b\n"}
    return {"a.pdf": _pdf(), "a.docx": _docx(), "a.hocr": _HOCR, "b.xml": _ALTO, "a.json": _TEXTRACT, **texts}


def _pdf() -> bytes:
    """One page with two columns and a hyphen at a line's end, so that lines must be put in order."""
    file, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(_OBJECTS, 1):
        offsets.append(b"%010d 00000 n \n" % len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    count, start = len(_OBJECTS) + 1, len(file)
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (count, b"".join(offsets))
    return file + table + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (count, start)


def _pictures() -> Iterator[bytes]:
    """A line of print, askew so that the page is straightened, in the formats of pictures."""
    sheet = Image.new("L", (320, 128), 255)
    for row in range(3):
        ImageDraw.Draw(sheet).text((20, 10 + 40 * row), "Invoice 17 Total EUR 9", fill=0, font_size=20)
    for kind in ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF"):
        file = io.BytesIO()
        sheet.rotate(2, fillcolor=255).save(file, kind)
        yield file.getvalue()


def _docx() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, content)
    return file.getvalue()


CONNECTION = 3
"""The descriptor of the only way out; 0 to 2 lead to /dev/null, so that no line of the log can be forged."""

REHEARSAL = Redaction((Range(0, 7, "Invoice"),), ("Invoice",))
"""Redaction of the sample, so that all that it takes is imported."""

Reader = Callable[[bytes, str | None, str | None, DocumentLimits], Document]


def read(data: bytes, media_type: str | None, name: str | None, limits: DocumentLimits) -> Document:
    """Read one file; the function that a parser runs unless a test puts another in its place."""
    return read_document(data, media_type=media_type, name=name, limits=limits)


def prepare(ocr_folder: str | None = None) -> None:
    """Import all that a reader may ever need, since a parser opens no file, and keep pages shared with the children.

    Args:
        ocr_folder: the weights of OCR's networks; None: nothing is to be recognized.
    """
    import encodings

    for module in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError, LookupError):  # `mbcs` and `oem` are of another operating system.
            importlib.import_module(f"encodings.{module.name}")
    importlib.import_module("numpy.ma")  # `np.median` and `np.unique` import it.
    for name, data in samples().items():
        read(data, None, name, DocumentLimits())
    _redact(FileHeader(None, None, DocumentLimits(), REHEARSAL), samples()["a.pdf"])
    for data in _pictures():
        draw_picture(data, PictureRequest(1, 10), limits=DocumentLimits())
        gray_page(data, 1)
    if ocr_folder is not None:
        networks = load_networks(Path(ocr_folder))
        recognize_pages(next(_pictures()), [1], networks, limits=DocumentLimits(), is_pdf=False)
    draw_page(samples()["a.pdf"], PictureRequest(1, 10), limits=DocumentLimits())
    match_frame(Patterns(((r"(?i)\b\p{L}+\d*", 0),), (4,)), encode_texts(["Anna"]))
    gc.collect()
    gc.disable()
    gc.freeze()


def live(connection: int, null: int, sandbox: ParserSandbox, reader: Reader) -> None:
    """Run a parser: confine the process, then read file after file until the connection ends."""
    _reset()
    for number, descriptor in ((0, null), (1, null), (2, null), (CONNECTION, connection)):
        os.dup2(descriptor, number)
    os.closerange(CONNECTION + 1, os.sysconf("SC_OPEN_MAX"))
    with open(CONNECTION, "rb", closefd=False) as source, open(CONNECTION, "wb", closefd=False) as sink:
        sandbox.restrict()
        gc.enable()
        held = b""
        while (head := _read_frame(source)) is not None:
            file, data = decode_file(head), _read_frame(source) or b""
            if file.ocr_pages or (file.picture is not None and file.picture.resample is not None):
                data = held = data or held
            for part in _answer(file, data, reader):
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
        if file.patterns is not None:
            return [*error_frames("", ""), match_frame(file.patterns, data)]
        if file.picture is not None:
            draw = draw_picture if picture_kind(data) else draw_page
            return picture_frames(draw(data, file.picture, limits=file.limits))
        if file.ocr_pages is not None:
            return to_frames(
                read_document(
                    data,
                    media_type=file.media_type,
                    name=file.name,
                    limits=file.limits,
                    ocr_pages=file.ocr_pages,
                    ocr_forced=file.ocr_forced,
                    ocr_again=file.ocr_again,
                    ocr_pictures=file.ocr_pictures,
                )
            )
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
