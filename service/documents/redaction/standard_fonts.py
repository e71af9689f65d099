"""Widths of the fonts that need not be in a file: the standard ones, asked of pdfium by character.

ISO 32000-1, section 9.6.2.2: a font of these names may come without widths.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any

import pypdfium2.raw as pdfium

from service.documents.redaction.values import CannotRewrite

_FAMILIES = (
    (
        re.compile(r"courier|couriernew|mono", re.I),
        ("Courier", "Courier-Bold", "Courier-Oblique", "Courier-BoldOblique"),
    ),
    (re.compile(r"times|serif$", re.I), ("Times-Roman", "Times-Bold", "Times-Italic", "Times-BoldItalic")),
    (
        re.compile(r"helvetica|arial", re.I),
        ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Helvetica-BoldOblique"),
    ),
)
ENCODINGS = {"/WinAnsiEncoding": "cp1252", "/MacRomanEncoding": "mac_roman"}
_NAMES = {
    "space": " ", "hyphen": "-", "period": ".", "comma": ",", "colon": ":", "semicolon": ";", "slash": "/", "at": "@",
    "parenleft": "(", "parenright": ")", "quotesingle": "'", "quoteright": "’", "quoteleft": "‘", "ampersand": "&",
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "endash": "–", "emdash": "—", "bullet": "•", "Euro": "€", "underscore": "_",
    "adieresis": "ä", "odieresis": "ö", "udieresis": "ü", "germandbls": "ß", "eacute": "é", "fi": "ﬁ", "fl": "ﬂ",
}  # fmt: skip


def standard_widths(document: Any, name: str, encoding: str, differences: dict[int, str]) -> dict[int, float]:
    """Code → width in thousandths of the font's size, without codes whose glyph's name is not known.

    Args:
        document: an open document of pdfium, raw handle.
        name: the font's name, as in the file.
        encoding: the name of its encoding, `""` if it has none.
        differences: code → glyph name.

    Raises:
        CannotRewrite: the font is none of these.
    """
    font = pdfium.FPDFText_LoadStandardFont(document, _standard_name(name).encode())
    if not font:
        raise CannotRewrite(f"the font {name} has no widths")
    try:
        codec = ENCODINGS.get(encoding, "cp1252")
        widths = {}
        for code in range(32, 256):
            character = (
                character_named(differences[code]) if code in differences else bytes((code,)).decode(codec, "ignore")
            )
            if character:
                widths[code] = _width(font, ord(character))
        return widths
    finally:
        pdfium.FPDFFont_Close(font)


def _standard_name(name: str) -> str:
    bare = name.lstrip("/").partition("+")[2] or name.lstrip("/")
    for pattern, names in _FAMILIES:
        if pattern.search(bare):
            bold = "bold" in bare.lower()
            slanted = "italic" in bare.lower() or "oblique" in bare.lower()
            return names[bold + 2 * slanted]
    raise CannotRewrite(f"the font {bare[:60]} has no widths")


def character_named(name: str) -> str:
    """The character of a glyph name; empty if it is not known here."""
    bare = name.lstrip("/")
    if len(bare) == 1:
        return bare
    if bare in _NAMES:
        return _NAMES[bare]
    match = re.fullmatch(r"uni([0-9A-Fa-f]{4})", bare)
    return chr(int(match[1], 16)) if match else ""


def _width(font: Any, character: int) -> float:
    width = ctypes.c_float()
    pdfium.FPDFFont_GetGlyphWidth(font, character, 1000.0, width)
    return float(width.value)
