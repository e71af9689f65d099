"""Detects a file's format: by its content where that is certain, else by its name, its media type, or a guess.

content begins like a PDF, a zip, an invoice, hOCR, an image … → that, whatever was declared
named or typed PDF or DOCX, but the content is another      → UnreadableDocument
named or typed CSV, but it begins as HTML                   → HTML
named, else typed HTML, CSV or text                         → as declared
a name of JSON, mail, calendars, contacts, or such a type   → UnsupportedFormat
neither                                                     → HTML if it looks like it, else text
without a name: an unknown type, a JSON request, a form     → UnsupportedFormat

The name goes before the type, since programs give the same file different types, or none.
"""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum
from typing import Any

import msgspec

from service.core.errors import UnreadableDocument, UnsupportedFormat
from service.documents.electronic_invoice import is_electronic_invoice


class Format(StrEnum):
    """A supported format; the value is its name in messages."""

    PDF = "PDF"
    DOCX = "DOCX"
    HTML = "HTML"
    INVOICE = "XML invoice"
    PICTURE = "picture"
    CSV = "CSV"
    HOCR = "hOCR"
    ALTO = "ALTO XML"
    TEXTRACT = "Textract's JSON"
    TEXT = "plain text"


MEDIA_TYPES: dict[str, Format] = {
    **dict.fromkeys(("application/pdf", "application/x-pdf"), Format.PDF),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Format.DOCX,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.template": Format.DOCX,
    "application/vnd.ms-word.document.macroenabled.12": Format.DOCX,
    **dict.fromkeys(("text/html", "application/xhtml+xml"), Format.HTML),
    **dict.fromkeys(("text/plain", "text/markdown", "text/x-markdown"), Format.TEXT),
    **dict.fromkeys(
        (f"{kind}/{name}" for kind in ("text", "application") for name in ("csv", "x-csv", "tab-separated-values")),
        Format.CSV,
    ),
    "text/comma-separated-values": Format.CSV,
}
ENDINGS: dict[str, Format] = {
    "pdf": Format.PDF,
    **dict.fromkeys(("docx", "docm", "dotx"), Format.DOCX),
    **dict.fromkeys(("html", "htm", "xhtml"), Format.HTML),
    **dict.fromkeys(("txt", "text", "md", "markdown"), Format.TEXT),
    **dict.fromkeys(("csv", "tsv", "tab"), Format.CSV),
}
SUPPORTED = {
    "documents": "PDF, DOCX, HTML, plain text, Markdown, CSV, invoices as XML (CII, UBL), hOCR, ALTO, Textract's JSON",
    "pictures": "PNG, JPEG, TIFF, WebP, BMP, GIF",
}
"""What is read, and what with OCR."""

_FORM = "application/x-www-form-urlencoded"
_UNTYPED = {"", "application/octet-stream", "binary/octet-stream", _FORM}
_TEXT_FORM = re.compile(rb"(?:[A-Za-z_]{1,40}=[^\r\n]*\r\n)*(?:text|file)=")
_TEXT_FORM_BYTES = 1_024
"""Bytes of a text/plain body that are searched for the fields of a form, each `name=value` and a line's end."""
_FORM_PART = re.compile(rb"--[^\r\n]{1,70}\r\nContent-Disposition: *form-data", re.IGNORECASE)
"""The beginning of a form with files; its boundary has at most 70 characters."""
_REQUEST_START_BYTES = 64
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SAVE = "Save it as PDF or DOCX."
_UNPACK = "Send each of its files."
_SEND_TEXT = "Send its text and each of its attachments as a document."
_RTF = ("An RTF document", _SAVE)
_FOREIGN: tuple[tuple[bytes, str, str], ...] = (
    (b"{\\rtf", *_RTF),
    (b"\x1f\x8b\x08", "A gzip archive", _UNPACK),
    (b"7z\xbc\xaf", "A 7-Zip archive", _UNPACK),
    (b"\x7fELF", "A program", ""),
    (b"%!PS", "A PostScript document", _SAVE),
)
_PICTURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n", "A PNG image"),
    (b"\xff\xd8\xff", "A JPEG image"),
    (b"GIF8", "A GIF image"),
    (b"II*\x00", "A TIFF image"),
    (b"MM\x00*", "A TIFF image"),
    (b"BM", "A BMP image"),
    (b"RIFF", "A WebP image"),
)
_HTML_START = re.compile(  # the atomic group prevents backtracking over many comments
    rb"(?>\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*)<(?:!doctype\s+html|html|head|body|title|meta)\b", re.I | re.S
)
_OCR_RESULTS = (
    (
        re.compile(rb"\s*<(?:.*?<)??[a-z][^<>]*?\sclass\s*=\s*[\"']?(?:[\w-]+\s+)*ocr_page(?![\w-])", re.S | re.I),
        Format.HOCR,
    ),
    (
        re.compile(rb"(?>\s*(?:(?:<\?[^>]*>|<!--.*?-->)\s*)*)<(?:(?:[\w.-]{1,40}:)?alto\b|!DOCTYPE\s+alto\b)", re.S),
        Format.ALTO,
    ),
    (re.compile(rb'\s*[\[{](?=.*?"Blocks"\s*:\s*\[).*?"BlockType"\s*:\s*"', re.S), Format.TEXTRACT),
)
"""The beginnings of OCR programs' results."""
_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif")
_MAIL_HEADER_BYTES = 16_384
"""Bytes of a mail's header that are looked at."""
_HEADER_FIELD = re.compile(rb"[!-9;-~]{1,80}:")
_MAIL_PROOF = re.compile(rb"(?:mime-version|message-id|return-path):|received: ?(?:from|by)\s", re.I)
"""Fields of a mail's header that no letter has."""
_PART_PROOF = re.compile(rb"content-transfer-encoding: ?(?:base64|quoted-printable|7bit|8bit|binary)\b", re.I)
"""Field that a part of a mail has, also alone."""
_BOUNDARY = re.compile(rb"--(?:[^\s-]|-+[\w=])")
"""The beginning of the line before a part; hyphens alone are Markdown's rule, or the mark of a header in YAML."""
_RECORDS = re.compile(
    rb"\s*BEGIN:V(?:CALENDAR|CARD)\s*[\r\n]"
    rb"|(?:\s|#.*\n)*(?:version: ?\d\s+)?dn(?:: ?(?:cn|dc|o|ou|uid|mail)=|:: ?[a-z0-9+/]{8})",
    re.I,
)
"""The beginning of iCalendar, vCard and LDIF, whose folded and encoded lines would cut values."""
_SOFT_BREAK = re.compile(rb"[^\n]{60,76}=\r?\n")
_CODE = re.compile(rb"=[0-9A-F]{2}")
_NO_CODE = re.compile(rb"=(?![0-9A-F]{2}|\r?\n)|[\x80-\xff]")
"""What quoted-printable has not: each of its `=` begins a code or ends a line."""
_RECORDS_FILE = ("A file of calendars, contacts or directories", _SEND_TEXT)
_MAIL = ("A mail or web archive", _SEND_TEXT)
_JSON = (
    "A JSON file",
    'Send its texts as `application/json`, `{"documents": [{"text": …}]}`, and words with boxes as `pages`.',
)
_FOREIGN_ENDINGS = {
    **dict.fromkeys("ics ifb vcs vcf vcard ldif".split(), _RECORDS_FILE),
    **dict.fromkeys("eml emlx mbox mht mhtml msg".split(), _MAIL),
    **dict.fromkeys("json jsonl ndjson jsonld geojson ipynb".split(), _JSON),
    "rtf": _RTF,
}
_FOREIGN_TYPES = {
    **dict.fromkeys("text/calendar text/vcard text/x-vcard text/x-vcalendar".split(), _RECORDS_FILE),
    **dict.fromkeys("text/directory text/ldif text/x-ldif".split(), _RECORDS_FILE),
    **dict.fromkeys("message/rfc822 message/global multipart/related application/mbox".split(), _MAIL),
    **dict.fromkeys("application/json text/json text/x-json application/x-ndjson application/jsonl".split(), _JSON),
    **dict.fromkeys("text/rtf application/rtf".split(), _RTF),
}
"""Formats whose codes and folded lines would cut values, by ending and by media type: what, and the way."""
_ZIP_SAMPLE_BYTES = 65_536
_TEXT_SAMPLE_BYTES = 65_536


class _Request(msgspec.Struct):
    text: Any = None
    documents: Any = None


def detect_format(data: bytes, *, media_type: str | None = None, name: str | None = None) -> Format:
    """The format to read `data` as.

    Raises:
        UnreadableDocument: the content is of another format than declared, or is encrypted.
        UnsupportedFormat: the format is none of the supported ones.
    """
    if not name and _FORM_PART.match(data):
        sent = _essence(media_type or "") or "no Content-Type"
        raise UnsupportedFormat(f"The body is a form, sent with {sent}: send `multipart/form-data; boundary=…`.")
    declared = declared_format(media_type, name)
    found = _certain(data, declared)
    if found is not None:
        return found
    if declared in (Format.PDF, Format.DOCX):
        missing = "no %PDF- header" if declared is Format.PDF else "no zip header"
        seen = "HTML" if _HTML_START.match(data[:4096]) else "text or something else"
        raise UnreadableDocument(f"The document was sent as {declared}, but has {missing}: it is {seen}.")
    if declared is Format.CSV and _looks_like_html(data):
        return Format.HTML
    if declared not in (None, Format.TEXT):
        return declared
    essence = _essence(media_type or "")
    if declared is None and (foreign := _FOREIGN_ENDINGS.get(_ending(name)) or _FOREIGN_TYPES.get(essence)):
        raise unsupported(*foreign)
    if declared is None and not name and essence not in _UNTYPED:
        raise unsupported(f"The media type {essence[:100]!r}")
    if declared is None and _looks_like_html(data):
        return Format.HTML
    if not name:
        _refuse_request(data, essence)
    return Format.TEXT


def _refuse_request(data: bytes, essence: str) -> None:
    """Refuse a form, or a JSON request, that was sent without its type: it would be read as the text of a document."""
    with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
        if data[:_REQUEST_START_BYTES].lstrip().startswith(b"{"):
            request = msgspec.json.decode(data, type=_Request)
            if isinstance(request.text, str) or isinstance(request.documents, list):
                sent = essence or "no Content-Type"
                raise UnsupportedFormat(f"The body is a JSON request, sent with {sent}: send `application/json`.")
    if essence == "text/plain" and data.endswith(b"\r\n") and _TEXT_FORM.match(data[:_TEXT_FORM_BYTES]):
        raise UnsupportedFormat("The body is a form, sent with text/plain: send `multipart/form-data`.")
    if essence == _FORM:
        raise UnsupportedFormat(
            f"The media type {_FORM!r}, which `curl -d` sends unless told otherwise, is not supported: "
            "name the type of the body, such as `application/json` or `text/plain`."
        )


def declared_format(media_type: str | None, name: str | None) -> Format | None:
    """The format that a file was sent as, by the ending of its name or its media type; its content may be another."""
    ending, essence = _ending(name), _essence(media_type or "")
    if ending in ENDINGS or ending in _FOREIGN_ENDINGS:
        return ENDINGS.get(ending)
    if essence.startswith("text/") and essence not in _FOREIGN_TYPES:
        return MEDIA_TYPES.get(essence, Format.TEXT)
    return MEDIA_TYPES.get(essence)


def _ending(name: str | None) -> str:
    return (name or "").rpartition(".")[2].lower() if "." in (name or "") else ""


def unsupported(what: str, way: str = "") -> UnsupportedFormat:
    """The error for a format that is not supported: names it (`what`), lists those that are, and says the way there."""
    supported = "{documents}, and with OCR pictures ({pictures})".format_map(SUPPORTED)
    return UnsupportedFormat(f"{what} is not supported; supported are {supported}. {way}".rstrip())


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def _certain(data: bytes, declared: Format | None) -> Format | None:
    """The format that the content's signature proves; None without a known signature."""
    if data.startswith(b"%PDF-"):
        return Format.PDF
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zipped(data, declared)
    if declared not in (Format.HTML, Format.TEXT) and b"%PDF-" in data[:1024]:
        return Format.PDF
    if is_electronic_invoice(data):
        return Format.INVOICE
    if data.startswith(_OLE):
        raise _ole(data)
    for signature, what, way in _FOREIGN:
        if data.startswith(signature):
            raise unsupported(what, way)
    if picture_kind(data):
        return Format.PICTURE
    if data[4:8] == b"ftyp" and data[8:12] in _HEIF_BRANDS:
        raise unsupported("A HEIC or AVIF image", "Save it as JPEG.")
    start = _plain_start(data, _TEXT_SAMPLE_BYTES)
    if start.lstrip()[:1] in (b"<", b"{", b"["):
        for beginning, format_ in _OCR_RESULTS:
            if beginning.match(start):
                return format_
    if _is_mail(start):
        raise unsupported(*_MAIL)
    if _RECORDS.match(start):
        raise unsupported(*_RECORDS_FILE)
    if (b"=\n" in start or b"=\r\n" in start) and _is_quoted_printable(start):
        raise unsupported("A text in quoted-printable", "Send it decoded.")
    return None


def picture_kind(data: bytes) -> str | None:
    """Name the kind of a picture file, as the beginning of a sentence; None if it is no picture."""
    if (data.startswith(b"BM") and data[6:10] != bytes(4)) or (data.startswith(b"RIFF") and data[8:12] != b"WEBP"):
        return None
    return next((what for signature, what in _PICTURES if data.startswith(signature)), None)


def media_type_of_picture(data: bytes) -> str | None:
    """The media type of a picture file; None if it is none."""
    kind = picture_kind(data)
    return f"image/{kind.split()[1].lower()}" if kind else None


def _is_mail(start: bytes) -> bool:
    """True if the text begins with the header of a mail, a part of one, or a web archive: codes would pass for text.

    That is a first paragraph of fields only, three at least, and one among them that only mails have: a letter's
    "From:", "To:" and "Date:" are not enough.
    """
    lines = start[:_MAIL_HEADER_BYTES].lstrip().splitlines()
    if lines and (lines[0].startswith(b"From ") or _BOUNDARY.match(lines[0])):  # a mailbox's line before each mail
        del lines[0]
    fields: set[bytes] = set()
    is_proved = is_part = False
    for line in lines:
        if not line.strip():
            break
        if line[:1] not in (b" ", b"\t"):
            if not _HEADER_FIELD.match(line):
                return False
            fields.add(line.partition(b":")[0].lower())
            is_proved |= _MAIL_PROOF.match(line) is not None
            is_part |= _PART_PROOF.match(line) is not None
    return (len(fields) >= 3 and is_proved) or is_part


def _is_quoted_printable(start: bytes) -> bool:
    return not _NO_CODE.search(start[:-2]) and bool(_CODE.search(start) and _SOFT_BREAK.search(start))


def _zipped(data: bytes, declared: Format | None) -> Format:
    """The format of a zip, by the names of its parts, which stand uncompressed near its beginning and its end."""
    sample = data[:_ZIP_SAMPLE_BYTES] + data[-_ZIP_SAMPLE_BYTES:]
    if b"word/document" in sample:
        return Format.DOCX
    if b"application/vnd.oasis.opendocument" in sample[:200]:
        raise unsupported("An OpenDocument file", _SAVE)
    if b"xl/workbook" in sample:
        raise unsupported("An Excel workbook", _SAVE)
    if b"ppt/presentation" in sample:
        raise unsupported("A PowerPoint presentation", _SAVE)
    if declared is Format.DOCX or b"[Content_Types].xml" in sample:
        return Format.DOCX
    raise unsupported("A zip archive", _UNPACK)


def _ole(data: bytes) -> UnreadableDocument | UnsupportedFormat:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return UnreadableDocument("The document is protected with a password; send it without one.")
    if "WordDocument".encode("utf-16-le") in data:
        return unsupported("A Word document of the old .doc format", _SAVE)
    return unsupported("A file of an old Office format", _SAVE)


def _looks_like_html(data: bytes) -> bool:
    return _HTML_START.match(_plain_start(data, 4096)) is not None


def _plain_start(data: bytes, size: int) -> bytes:
    """The first bytes of a text without the mark of its encoding, those of UTF-16 without its zeros."""
    start = data[:size].removeprefix(b"\xef\xbb\xbf")
    return start.replace(b"\x00", b"")[2:] if start[:2] in (b"\xff\xfe", b"\xfe\xff") else start
