"""Normalization of texts whose values are read: compatible forms and digits of all scripts become plain, words keys."""

from __future__ import annotations

import re
import unicodedata

LONGEST_CHARACTERS = 120
"""Characters of the longest entity whose value is parsed; longer ones get none."""

TYPED_SPACES = "\u00a0\u2007\u202f\u2009"
"""Spaces that do not break a line or are thin, as they are typed within numbers."""
_SPACES = re.compile(f"[{TYPED_SPACES}]")
_GAP = re.compile(r"(?:[\t\n\r\f\v]|\s{2})\s*")
INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
"""Characters that do not show: break opportunities, soft hyphens, joiners, marks of direction, byte order marks."""
_MINUS = str.maketrans({"−": "-", "﹣": "-", "‐": "-", "‑": "-", "٫": ".", "٬": ","})
RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_KEPT = f"{RAISED}ºª"
"""Characters that NFKC would make digits or letters: `100 m²`, `1º`."""
_IN_CIRCLES = "\u2460-\u249b\u24ea-\u24ff\u2776-\u2793\u3251-\u325f\u32b1-\u32bf"
NOTES = f"{RAISED}{_IN_CIRCLES}†‡§¶⁎∗※＊"
"""Marks of notes, as a range of a pattern: numbers that are raised, in circles or in brackets, daggers, stars."""
_NOTE = re.compile(rf"[ \u00a0]?[{NOTES}]+")
_NOTE_NO_POWER = re.compile(
    rf"[ \u00a0]?(?<!(?<![0-9.,])10)(?:(?<![^\W\d_])(?<![^\W\d_][ \u00a0])[²³]+|[{re.sub('[²³]', '', NOTES)}]+)"
)
_STARRED = re.compile(r"\*{0,2}\s?([^*\[]*[^*\s\[])\s?(?:\*{1,2}|\[[0-9a-z*]{1,2}\])?")
_DEVANAGARI = re.compile("[\u0900-\u097f]")
WORD_MARKS = "\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0962\u0963\u0970"
"""Combining marks of words, as a part of a pattern's character class."""
WORD = re.compile(rf"[^\W\d_]+(?:[{WORD_MARKS}][^\W\d_]*)*")
"""A word with its combining marks."""

GAP = "\t"
"""Sign for a line break, a tab or several spaces, which separate numbers where one space may group digits."""


def plain(text: str, *, with_powers: bool = False) -> str:
    """Write the visible text in NFKC with ASCII's digits, spaces and minus signs; each gap becomes a `GAP`.

    Marks of notes are left out; `with_powers`: but not those of `m²` and `10³`.
    """
    text = without_notes(visible(text).strip(), _NOTE_NO_POWER if with_powers else _NOTE)
    text = _GAP.sub(GAP, _SPACES.sub(" ", text))
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text)
    text = "".join(character if character in _KEPT else unicodedata.normalize("NFKC", character) for character in text)
    return "".join(
        str(unicodedata.decimal(character)) if character.isdecimal() else character
        for character in text.translate(_MINUS)
    )


def without_notes(text: str, notes: re.Pattern[str] = _NOTE) -> str:
    """Remove marks of notes from a text with a number: `2026-03-12³`, `EUR 5.00 *`, `19 % [2]`."""
    if "*" in text or "[" in text:
        text = starred[1] if (starred := _STARRED.fullmatch(text)) else text
    if text.isascii():
        return text
    bare = notes.sub("", text)
    return bare.strip() if any(map(str.isdecimal, bare)) else text


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
