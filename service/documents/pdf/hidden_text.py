"""Judges the hidden text of a scan: what another program recognized, set invisibly over the picture; often badly.

looks like text, by the form of its words → is used
does not        → the page is recognized anew; the hidden text stays if the two agree, and goes if not
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pypdfium2.raw as pdfium

from service.documents.pdf.angles import Flags
from service.documents.pdf.glyphs import Glyphs
from service.documents.pdf.page_objects import Painted, is_invisible

_FEWEST_WORDS = 5
"""Words of a page; fewer say nothing about it."""
_LEAST_FORMED = 0.7
"""Least share of a hidden text's characters in well-formed words: a good one has 0.9 and more."""
_LEAST_AGREEMENT = 0.5
"""Least share of a hidden text's words that are recognized in the picture too."""

_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[^\W\d_a-z]+")
"""Letters in small, in capitals, or in small after a first capital."""
_NUMBER = re.compile(r"[A-Z]{0,4}\d{2,}|\d")
_MARKS = r"[-()\[\].,:;!?\"'„“”‚‘’«»*–—/&%§+@€$£¥=]+"
_LAST_OF_EUROPE = "\u052f"
"""The last Cyrillic letter, after the Latin and Greek ones; words of other scripts are not judged."""


def is_doubtful(objects: Sequence[Painted], glyphs: Glyphs) -> bool:
    """True if most of a page's text objects are hidden, and their words do not look like text."""
    texts = [each.handle for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_TEXT]
    hidden = sum(map(is_invisible, texts))
    if 2 * hidden <= len(texts) or not hidden:
        return False
    return not looks_like_text(words_of(glyphs))


def looks_like_text(words: Sequence[str]) -> bool:
    """True if most of what stands in words is formed as words are, in any script; few words always do."""
    formed = sum(len(word) for word in words if _is_formed(word))
    return len(words) < _FEWEST_WORDS or formed >= _LEAST_FORMED * sum(map(len, words))


def _is_formed(word: str) -> bool:
    """True if a word is letters of a usual case, a number, a code, or such parts with marks between them.

    A single Latin letter is none: there are few in a text, and many where strokes were taken for letters.
    """
    if any(sign > _LAST_OF_EUROPE and sign.isalpha() for sign in word):
        return True
    parts = [part for part in re.split(_MARKS, word) if part]
    if len(word) == 1 and word.isalpha():
        return False
    return bool(parts) and all(_NUMBER.fullmatch(part) or _WORD.fullmatch(part) for part in parts)


def words_of(glyphs: Glyphs) -> list[str]:
    """The words of a page's glyphs."""
    signs = map(chr, glyphs.codes.tolist())
    return "".join(
        f" {sign}" if is_first else sign for sign, is_first in zip(signs, glyphs.spaced, strict=True)
    ).split()


def shown_ones(glyphs: Glyphs, text_page: Any) -> Flags:
    """True for the glyphs that are not hidden."""
    objects = (pdfium.FPDFText_GetTextObject(text_page, index) for index in glyphs.indices.tolist())
    return np.array([not is_invisible(each) for each in objects], np.bool_)


def agree(hidden: Iterable[str], recognized: Iterable[str]) -> bool:
    """True if most words of a hidden text are recognized as well."""
    known = {word.casefold() for word in recognized}
    found = [word.casefold() in known for word in hidden]
    return bool(found) and sum(found) >= _LEAST_AGREEMENT * len(found)


def has_hidden_text(objects: Iterable[Painted]) -> bool:
    """True if one of a page's objects is hidden text."""
    return any(is_invisible(each.handle) for each in objects if each.kind == pdfium.FPDF_PAGEOBJ_TEXT)
