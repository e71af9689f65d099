"""Reads plain text and Markdown: decodes bytes by the first character encoding that fits; refuses binary content.

    byte order mark → declared charset → UTF-8 → UTF-16 or UTF-32 without a mark → detection by charset-normalizer

A declared charset that does not fit the bytes is skipped: declarations are wrong more often than UTF-8 validates by
chance. "\\r\\n" and "\\r" of a file become "\\n"; offsets count in that text, which `include_text` returns. A
text sent in JSON is not read here: its offsets count in the text as sent.
"""

from __future__ import annotations

import codecs
import re
from encodings import normalize_encoding
from encodings.aliases import aliases

from charset_normalizer import CharsetMatch, from_bytes

from service.documents.document import Document
from service.documents.format_detection import unsupported

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_CANDIDATES = (
    "cp1252 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 iso8859_2 koi8_r shift_jis euc_jp gb18030 big5 euc_kr"
).split()
_CHARSET = re.compile(r"charset\s*=[\s\"']*([\w.:-]{1,60})", re.I)
_CODECS = frozenset((*aliases.values(), "koi8_u", "cp874", "utf_8_sig"))
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNWANTED = re.compile(r"[\x00\ud800-\udfff]")
_SAME_CHAOS = 0.02
_SAMPLE_BYTES = 32_768
_MOST_CONTROLS = 0.01  # text has none; one in a hundred characters is tolerated


def charset_of(media_type: str | None) -> str | None:
    """The charset parameter of a Content-Type, if it has one."""
    found = _CHARSET.search(media_type or "")
    return found.group(1) if found else None


def decode_text(data: bytes, declared: str | None) -> str:
    """The text of `data`, without byte order mark, NUL and lone surrogates.

    Raises:
        UnsupportedFormat: the content is binary.
    """
    text = _marked(data)
    if text is None:
        text = _strict(data, _known(declared)) or _strict(data, "utf-8") or _wide(data) or _detected(data)
    if len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text):
        raise unsupported("Binary content")
    return _UNWANTED.sub("", text)


def _marked(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    return None


def _known(declared: str | None) -> str | None:
    """Python's name of a declared charset, if it is a text encoding; Latin-1 is read as cp1252, as browsers do.

    Only names of a short list are looked up: Python remembers every other one for good.
    """
    name = normalize_encoding(declared or "").lower()
    name = aliases.get(name, name)
    if name not in _CODECS:
        return None
    try:
        info = codecs.lookup(name)
    except LookupError:  # Windows' own codecs, elsewhere.
        return None
    if not getattr(info, "_is_text_encoding", True):
        return None
    return "cp1252" if info.name in ("iso8859-1", "ascii") else info.name


def _strict(data: bytes, encoding: str | None) -> str | None:
    """The text, if `encoding` decodes all of `data` and few characters are NUL; many mean a wide encoding, misread."""
    if encoding is None:
        return None
    try:
        text = data.decode(encoding)
    except (UnicodeError, ValueError):
        return None
    return None if text.count("\x00") > _MOST_CONTROLS * len(text) else text


def _wide(data: bytes) -> str | None:
    """The text as UTF-16 or UTF-32 without a mark, if `data` has zero bytes; the one with most ASCII wins."""
    if b"\x00" not in data[:_SAMPLE_BYTES]:
        return None
    texts = (_strict(data, encoding) for encoding in _WIDE)
    sound = [text for text in texts if text and "".join(text.split()).isprintable()]
    best = max(sound, key=_ascii_count, default=None)
    return best if best and _ascii_count(best) else None


def _ascii_count(text: str) -> int:
    return sum(map(str.isascii, text))


def _detected(data: bytes) -> str:
    """The text in the encoding detected from a sample; what that cannot decode is replaced."""
    if b"\x00" in data[:_SAMPLE_BYTES]:
        raise unsupported("Binary content")
    guesses = list(from_bytes(data[:_SAMPLE_BYTES], cp_isolation=_CANDIDATES))
    return data.decode(_likeliest(guesses), errors="replace")


def _likeliest(guesses: list[CharsetMatch]) -> str:
    """The best guess, or cp1252 (the web's default) where it is as good: short Latin texts cannot be told apart."""
    if not guesses:
        return "cp1252"
    clean = [guess for guess in guesses if guess.chaos <= guesses[0].chaos + _SAME_CHAOS]
    return "cp1252" if any("cp1252" in guess.could_be_from_charset for guess in clean) else guesses[0].encoding


def read_text(data: bytes, *, charset: str | None = None) -> Document:
    """The document in a text file.

    Raises:
        UnsupportedFormat: the content is binary.
    """
    return Document(decode_text(data, charset).replace("\r\n", "\n").replace("\r", "\n"))
