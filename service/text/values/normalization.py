"""Normalization of texts whose values are read: compatible forms and digits of all scripts become plain, words keys."""

from __future__ import annotations

import re
import unicodedata

LONGEST_CHARACTERS = 120
"""Characters of the longest entity whose value is parsed; longer ones get none."""

_SPACES = re.compile("[\u00a0\u2007\u202f\u2009]")
_GAP = re.compile(r"(?:[\t\n\r\f\v]|\s{2})\s*")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters that do not show: break opportunities, soft hyphens, joiners, marks of direction, byte order marks."""
_MINUS = str.maketrans({"−": "-", "﹣": "-", "‐": "-", "‑": "-", "٫": ".", "٬": ","})
_KEPT = "²³ºª"
"""Characters that NFKC would make digits or letters: `100 m²`, `1º`."""
_DEVANAGARI = re.compile("[\u0900-\u097f]")
WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0970][^\W\d_]*)*")
"""A word with its combining marks."""

GAP = "\t"
"""Sign for a line break, a tab or several spaces, which separate numbers where one space may group digits."""


def plain(text: str) -> str:
    """Write the visible text in NFKC with ASCII's digits, spaces and minus signs; each gap becomes a `GAP`."""
    text = _GAP.sub(GAP, _SPACES.sub(" ", visible(text).strip()))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    text = "".join(character if character in _KEPT else unicodedata.normalize("NFKC", character) for character in text)
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in text.translate(_MINUS)
    )


def visible(text: str) -> str:
    """Remove invisible characters."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def folded(text: str) -> str:
    """Remove invisible characters, and make each run of white space one space."""
    return " ".join(visible(text).split())


def key(word: str) -> str:
    """Make a word's key in tables: without case and, in scripts whose words stay distinct, without accents."""
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFC", word).casefold()
    if _DEVANAGARI.search(word):
        return word
    parts = unicodedata.normalize("NFKD", word)
    return (
        "".join(character for character in parts if unicodedata.category(character) != "Mn")
        .replace("ı", "i")
        .replace("ł", "l")
    )
