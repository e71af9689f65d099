"""Reads plain text and Markdown: decodes bytes by the first character encoding that fits; refuses binary content.

    byte order mark → ISO-2022's escapes → declared charset → UTF-8 → UTF-16 or UTF-32 without a mark
    → UTF-8, then the declared charset, with a few bad bytes → detection by letters (`charset_detection`)

A declared charset that the bytes contradict is skipped: UTF-8 where they are not, another where they are UTF-8 by more
than chance, UTF-16 without a zero byte. Declarations are wrong more often. A bad byte becomes U+FFFD and costs no more
than its character. The document says what was chosen, and how. "\\r\\n" and "\\r" of a file become "\\n"; offsets count
in that text, which `include_text` returns. A text sent in JSON is not read here: its offsets count in the text as sent.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import replace
from encodings import normalize_encoding
from encodings.aliases import aliases

from service.core.errors import GleanerError
from service.documents.document import Charset, CharsetSource, Document
from service.documents.format_detection import Format, declared_format, detect_format, unsupported
from service.documents.limits import DocumentLimits

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_ESCAPES = ((re.compile(rb"\x1b\$[@B]|\x1b\(I"), "iso2022_jp_ext"), (re.compile(rb"\x1b\$\)C"), "iso2022_kr"))
_AS_BROWSERS = {  # https://encoding.spec.whatwg.org/#names-and-labels: supersets of what is declared
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "cp950",
}
_IANA = {
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "cp950": "big5",
    "mac_roman": "macintosh",
    "iso2022_jp_ext": "iso-2022-jp",
}
_CHARSET = re.compile(r"(?:charset|encoding)\s*=[\s\"']*([\w.:-]{1,60})", re.I)
_CODECS = frozenset((*aliases.values(), "koi8_u", "cp874", "utf_8_sig"))
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_UNWANTED = re.compile(r"[\x00\ud800-\udfff]")
_SAMPLE_BYTES = 32_768
_PLAIN_BYTES = 32_768
_LEAST_SOUND_UTF8 = 5
"""Sound characters for each further bad byte of UTF-8: other encodings have few that are sound UTF-8 by chance."""
_LEAST_SOUND = 10
"""Sound characters for each further bad byte of a declared charset."""
_SURE_UTF8, _SURE_UTF8_EAST = 3, 6
"""Trailing bytes, of different characters of UTF-8, that contradict a declared charset, and one of East Asia, whose
pairs are similar: one pair may be UTF-8 by chance, and stand on each line."""
_LEAST_SHARE = 0.9
"""Least sound share of such UTF-8, as it may have a bad byte."""
_USUAL = re.compile(r"[\x00-\x7f\xa0-\xff\u2010-\u2122\ufffd]*")
"""Western letters and signs, of which a single one is enough: it would be a capital with an accent, then a sign."""
_EAST_ASIAN = re.compile(r"cp9[345]|gb|euc|big5|shift|johab|cp874|tis")
_WIDE_CHARSETS = re.compile(r"utf-(?:16|32)")
_MOST_CONTROLS = 0.01  # text has none; one in a hundred characters is tolerated


def charset_of(media_type: str | None) -> str | None:
    """The charset that a Content-Type or an XML declaration names, if it does."""
    found = _CHARSET.search(media_type or "")
    return found.group(1) if found else None


def decode_text(data: bytes, *declared: str | None) -> tuple[str, Charset]:
    """The text of `data`, without byte order mark, NUL and lone surrogates, and the charset that it was read in.

    Args:
        declared: charsets, of which the first that fits counts.

    Raises:
        UnsupportedFormat: the content is binary.
    """
    text, charset = _decoded(data, [known for each in declared if (known := _known(each)) is not None])
    if len(_CONTROLS.findall(text)) > _MOST_CONTROLS * len(text):
        raise unsupported("Binary content")
    return _UNWANTED.sub("", text), charset


def _decoded(data: bytes, declared: Sequence[str]) -> tuple[str, Charset]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace"), _charset(encoding)
    for escape, encoding in _ESCAPES:
        if data.isascii() and escape.search(data):
            return data.decode(encoding, errors="replace"), _charset(encoding)
    declared = [encoding for encoding in declared if not _is_contradicted(data, encoding)]
    for encoding in declared:
        if (read := _declared(data, encoding)) is not None:
            return read
    if (text := _strict(data, "utf-8")) is not None:
        return text, _charset("utf-8")
    if (wide := _wide(data)) is not None:
        return wide
    if b"\x00" in data[:_SAMPLE_BYTES]:
        raise unsupported("Binary content")
    if (text := _cut_utf8(data)) is not None:
        return text, _charset("utf-8")
    if (found := _tolerant(data, "utf-8", _LEAST_SOUND_UTF8)) is not None:
        return found[0], _charset("utf-8", CharsetSource.DETECTED, found[1])
    for encoding in declared:
        if (found := _tolerant(data, encoding, _LEAST_SOUND)) is not None:
            return found[0], _charset(encoding, CharsetSource.DECLARED, found[1])
    from service.documents.charset_detection import detect_charset  # Its tables are large, and rarely needed.

    encoding, confidence = detect_charset(data)
    return data.decode(encoding, errors="replace"), _charset(encoding, CharsetSource.GUESSED, confidence)


def _declared(data: bytes, encoding: str) -> tuple[str, Charset] | None:
    """The text in a declared charset, if the bytes fit; of UTF-16 and UTF-32 the order of bytes is found out."""
    if _WIDE_CHARSETS.match(encoding) and (wide := _wide(data)) is not None:
        text, charset = wide
        return text, replace(charset, source=CharsetSource.DECLARED) if charset.name.startswith(encoding) else charset
    strict = _strict(data, encoding)
    return None if strict is None else (strict, _charset(encoding, CharsetSource.DECLARED))


def _is_contradicted(data: bytes, declared: str) -> bool:
    """True if `data` is UTF-8 by more than chance, or lacks the zero bytes of UTF-16 where it has blanks."""
    if _WIDE_CHARSETS.match(declared):
        return b"\x00" not in data and (b" " in data or _strict(data, "utf-8") is not None)
    if declared == "utf-8" or data.isascii():
        return False
    found = _tolerant(data, "utf-8", _LEAST_SOUND_UTF8)
    if found is None or found[1] < _LEAST_SHARE:
        return False
    trailing = sum(len(character.encode()) - 1 for character in set(found[0]) - {"\ufffd"})
    if _EAST_ASIAN.match(declared):
        return trailing >= _SURE_UTF8_EAST
    return trailing >= _SURE_UTF8 or _USUAL.fullmatch(found[0]) is not None


def _charset(encoding: str | None, source: CharsetSource = CharsetSource.DETECTED, confidence: float = 1.0) -> Charset:
    """The charset by its registered name (https://www.iana.org/assignments/character-sets)."""
    name = encoding or ""
    if name in _IANA:
        return Charset(_IANA[name], source, confidence)
    name = re.sub(r"^cp(?=125\d|874)", "windows-", name)
    name = re.sub(r"^cp(?=\d)", "ibm", name)
    return Charset(re.sub(r"^iso-?(?=8859|2022)", "iso-", name).replace("_", "-"), source, confidence)


def _known(declared: str | None) -> str | None:
    """Python's name of a declared charset, if it is a text encoding; Latin-1 means cp1252, as for browsers.

    Only names of a short list are looked up: Python remembers every other one for good.
    """
    name = normalize_encoding(declared or "").lower()
    name = aliases.get(name, "cp874" if name == "windows_874" else name)
    if name not in _CODECS:
        return None
    try:
        info = codecs.lookup(name)
    except LookupError:  # Windows' own codecs, elsewhere.
        return None
    if not getattr(info, "_is_text_encoding", True):
        return None
    return _AS_BROWSERS.get(info.name, info.name)


def _strict(data: bytes, encoding: str | None) -> str | None:
    """The text, if `encoding` decodes all of `data` and few characters are NUL; many mean a wide encoding, misread."""
    if encoding is None:
        return None
    try:
        text = data.decode(encoding)
    except (UnicodeError, ValueError):
        return None
    return None if text.count("\x00") > _MOST_CONTROLS * len(text) else text


def _tolerant(data: bytes, encoding: str | None, least_sound: int) -> tuple[str, float] | None:
    """The text with U+FFFD for bad bytes, and the sound share of what is outside of ASCII.

    None where more than one byte is bad and fewer than `least_sound` characters are sound for each further one.
    """
    if encoding is None:
        return None
    text = data.decode(encoding, errors="replace")
    replaced = text.count("\ufffd")
    bad = replaced - data.count("\ufffd".encode()) if encoding == "utf-8" else replaced
    sound = len(text) - len(text.encode("ascii", "ignore")) - replaced
    return (text, round(sound / max(1, sound + bad), 2)) if (bad - 1) * least_sound < sound else None


def _cut_utf8(data: bytes) -> str | None:
    """The text, if `data` is UTF-8 but for a last character that is cut; one byte alone of it is no proof."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        return None
    cut = len(decoder.getstate()[0])
    return text + "\ufffd" if cut > 1 or not text.isascii() else None


def _wide(data: bytes) -> tuple[str, Charset] | None:
    """The text as UTF-16 or UTF-32 without a mark, if `data` has zero bytes; the one with most ASCII wins."""
    if b"\x00" not in data[:_SAMPLE_BYTES]:
        return None
    texts = ((_strict(data, encoding), encoding) for encoding in _WIDE)
    sound = [(text, encoding) for text, encoding in texts if text and "".join(text.split()).isprintable()]
    best, encoding = max(sound, key=lambda each: _ascii_count(each[0]), default=("", ""))
    return (best, _charset(encoding)) if _ascii_count(best) else None


def _ascii_count(text: str) -> int:
    return sum(map(str.isascii, text))


def read_text(data: bytes, *, charset: str | None = None) -> Document:
    """The document in a text file.

    Raises:
        UnsupportedFormat: the content is binary.
    """
    text, found = decode_text(data, charset)
    return Document(text.replace("\r\n", "\n").replace("\r", "\n"), charset=found)


def read_plain(data: bytes, *, media_type: str | None, name: str | None, limits: DocumentLimits) -> Document | None:
    """The document in a small file that is declared text and is UTF-8, as `read_document` reads it; None of any other.

    It is decoded and nothing more, as texts in JSON are, so that no parser is needed.
    """
    if len(data) > _PLAIN_BYTES or declared_format(media_type, name) is not Format.TEXT or _is_strange(data):
        return None
    try:
        limits.check_bytes(len(data))
        if detect_format(data, media_type=media_type, name=name) is not Format.TEXT:
            return None
        document = read_text(data, charset=charset_of(media_type))
        limits.check_characters(len(document.text))
    except GleanerError:
        return None
    return document if document.text.strip() else None


def _is_strange(data: bytes) -> bool:
    """True of what is not UTF-8, may be markup, or may be of an encoding with escapes or zero bytes."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return b"\x00" in data or b"\x1b" in data or data.lstrip().startswith(b"<")
