"""A text as the readers of values see it: compatible forms and digits of all scripts as plain ones, words as keys."""

from __future__ import annotations

import re
import unicodedata

LONGEST_CHARACTERS = 120
"""Of an entity that is read to more than its text; what is longer is none."""

_SPACES = re.compile("[\u00a0\u2007\u202f\u2009]")
_GAP = re.compile(r"(?:[\t\n\r\f\v]|\s{2})\s*")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters that are not seen: break opportunities, soft hyphens, joiners, marks of direction, byte order marks."""
_MINUS = str.maketrans({"−": "-", "﹣": "-", "‐": "-", "‑": "-", "٫": ".", "٬": ","})
_KEPT = "²³ºª"
"""What NFKC would make a digit or a letter of its own: `100 m²`, `1º`."""
_DEVANAGARI = re.compile("[\u0900-\u097f]")
WORD = re.compile(r"[^\W\d_]+(?:[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0970][^\W\d_]*)*")
"""A word with its combining marks."""

GAP = "\t"
"""What stands for a line break, a tab or several spaces, which separate numbers where one space may group digits."""


def plain(text: str) -> str:
    """The text in NFKC, with ASCII's digits, spaces and minus signs, of what is seen only; each gap is a `GAP`."""
    text = _GAP.sub(GAP, _SPACES.sub(" ", visible(text).strip()))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    text = "".join(each if each in _KEPT else unicodedata.normalize("NFKC", each) for each in text)
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text.translate(_MINUS))


def visible(text: str) -> str:
    """The text without its invisible characters."""
    return text if text.isascii() else INVISIBLE.sub("", text)


def folded(text: str) -> str:
    """What is seen of a text, with each run of white space as one space."""
    return " ".join(visible(text).split())


def key(word: str) -> str:
    """A word as tables have it: without case and, in scripts that keep their words apart without them, accents."""
    if word.isascii():
        return word.lower()
    word = unicodedata.normalize("NFC", word).casefold()
    if _DEVANAGARI.search(word):
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(each for each in parts if unicodedata.category(each) != "Mn").replace("ı", "i").replace("ł", "l")
