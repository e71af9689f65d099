"""Whether anything is left of a text in a PDF: as pdfium reads it, as poppler does, and in the raw file."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

import pikepdf
import pypdfium2

from service.core.redaction import Repeats
from service.documents.limits import DocumentLimits
from service.documents.pdf.reader import read_pdf
from service.documents.redaction.decoded_text import name_words
from service.documents.redaction.pdf_redactor import redact_pdf
from service.documents.redaction.values import Range, RedactedFile, Redaction

LIMITS = DocumentLimits()


def redacted(data: bytes, *texts: str, allow_unread: bool = False) -> RedactedFile:
    """The file without each of these texts, wherever they stand."""
    read = read_pdf(data, limits=LIMITS).text
    places = Repeats(texts).find(read)
    ranges = tuple(Range(start, end, read[start:end]) for start, end in places)
    return redact_pdf(data, Redaction(ranges, texts, allow_unread=allow_unread), limits=LIMITS)


def readings(data: bytes) -> dict[str, str]:
    """All that can be read of a PDF, by who reads it."""
    return {
        "pdfium": "\n".join(_pdfium(data)),
        "pdftotext": _poppler(data, "-nopgbrk"),
        "pdftotext -raw": _poppler(data, "-raw"),
        "mutool": _mupdf(data),
        "raw": "\n".join(_raw(data)),
    }


def left_of(data: bytes, *texts: str) -> dict[str, list[str]]:
    """What each reader still finds of these texts; empty if nothing is left."""
    repeats = Repeats(texts)
    found = {name: [text[a:b] for a, b in repeats.find(text)] for name, text in readings(data).items()}
    return {name: places for name, places in found.items() if places}


def shown(data: bytes, number: int = 1) -> Any:
    """A page as a picture: uint8 [height, width, 3], two dots a point."""
    document = pypdfium2.PdfDocument(data)
    try:
        return document[number - 1].render(scale=2, rev_byteorder=True).to_numpy()[:, :, :3].copy()
    finally:
        document.close()


def _pdfium(data: bytes) -> Iterator[str]:
    document = pypdfium2.PdfDocument(data)
    try:
        for page in document:
            yield page.get_textpage().get_text_range(errors="replace")
    finally:
        document.close()


def _poppler(data: bytes, option: str) -> str:
    command = ["pdftotext", option, "-enc", "UTF-8", "-", "-"]
    return subprocess.run(command, input=data, capture_output=True, check=True).stdout.decode()


def _mupdf(data: bytes) -> str:
    """Nothing where mutool is not installed."""
    if shutil.which("mutool") is None:
        return ""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        file.write(data)
        file.flush()
        command = ["mutool", "draw", "-q", "-F", "text", file.name]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")


def _raw(data: bytes) -> Iterator[str]:
    """Every string, name and unpacked stream of the file; of content streams also their strings in a row."""
    yield data.decode("latin-1")
    with pikepdf.open(io.BytesIO(data)) as pdf:
        for thing in pdf.objects:
            yield from _strings(thing)
            if not isinstance(thing, pikepdf.Stream):
                continue
            if thing.get("/Filter") in ("/DCTDecode", "/JPXDecode"):
                yield thing.read_raw_bytes().decode("latin-1")
            elif not _is_picture_or_font(thing):
                yield thing.read_bytes().decode("latin-1")
                if thing.get("/Subtype") == "/Form" or "/PatternType" in thing:
                    yield _shown_strings(thing)
        for page in pdf.pages:
            yield _shown_strings(page)


def _is_picture_or_font(stream: Any) -> bool:
    """Whether a stream is an image, or the program of a font, in which its maker's words stand."""
    return str(stream.get("/Subtype")) in ("/Image", "/Type1C", "/CIDFontType0C", "/OpenType") or "/Length1" in stream


def _strings(thing: Any) -> Iterator[str]:
    if isinstance(thing, pikepdf.String):
        yield str(thing)
    elif isinstance(thing, pikepdf.Name):
        yield name_words(str(thing))
    elif isinstance(thing, (pikepdf.Dictionary, pikepdf.Stream)):
        for key, value in thing.items():
            yield name_words(key)
            yield from _strings(value) if not getattr(value, "is_indirect", True) else ()
    elif isinstance(thing, pikepdf.Array):
        for value in thing:
            if isinstance(value, pikepdf.Object) and not value.is_indirect:
                yield from _strings(value)


def _shown_strings(stream: Any) -> str:
    parts = []
    for instruction in pikepdf.parse_content_stream(stream):
        for operand in instruction.operands:
            each = operand if isinstance(operand, pikepdf.Array) else [operand]
            parts += [bytes(one).decode("latin-1") for one in each if isinstance(one, pikepdf.String)]
        parts.append(" " if str(instruction.operator) in ("Td", "TD", "T*", "Tm", "ET") else "")
    return "".join(parts)
