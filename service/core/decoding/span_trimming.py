"""Span trimming cuts an entity's text at white space, column gaps, brackets and other marks, once its words are known.

The rules for all models: an entity holds whole characters, with their combining marks, and neither begins nor ends with
white space or an invisible character. A joiner behind a virama is no such one: it shapes the letter before it, as at
the end of many Malayalam words.

The rules for models that ask for them (`model_decoding`):
- A column gap (a tab, three spaces) ends an entity: what is beyond it is an entity of its own.
- No entity begins or ends with a dash, bullet, rule or quotation mark without its partner, nor with half a pair of
  brackets, nor is it wrapped in brackets or quotation marks.
- An amount keeps the minus that touches it, before (`-5.00`, `-$5.00`) or behind (`233,47-`), and its brackets
  (`(1,234.00)`): they make it negative.
- What has neither letter nor digit is no entity.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np
from numpy.typing import NDArray

from service.core.decoding.tokens import BLANKS, is_extender

AMOUNTS = frozenset({"MONEY", "NET_AMOUNT", "TAX_AMOUNT", "TOTAL_AMOUNT"})
LOOSE = BLANKS | {*",;:"}
"""Characters at which no entity of a model with labels of its own begins or ends."""
_JOINERS = ("\u200c", "\u200d")
_VIRAMA = 9
"""Canonical combining class of the signs that mute a consonant's vowel."""
_GAP = re.compile(r"[ \u00a0]*\t[ \t\u00a0]*|[ \u00a0]{3,}")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">", "“": "”", "„": "“", "«": "»", "‹": "›", '"': '"'}
_OPENING = {close: open_ for open_, close in _CLOSING.items()}
_RULES = "-‐‑–—−_=*|~•·●▪■►…\\/"
_MINUS_BEFORE = re.compile(r"(?<![^\s(:=])[-−–][€$£¥₹]?$")
_MINUS_BEHIND = re.compile(r"[-−](?![^\s)])")
_STARTS_AMOUNT = re.compile(r"[0-9€$£¥₹]")


def behind_gaps(text: str, starts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """True for words that begin in a column gap, or are the first behind one, bool `[words]`; `starts` are theirs."""
    parted = np.zeros(len(starts) + 1, dtype=np.bool_)
    if "\t" in text or "   " in text or "\u00a0\u00a0" in text:
        gaps = np.array([match.span() for match in _GAP.finditer(text)], dtype=np.int32)
        parted[np.searchsorted(starts, gaps.ravel(), side="left")] = True
    return parted[:-1]


def trim(text: str, start: int, end: int, loose: frozenset[str] = LOOSE) -> tuple[int, int]:
    """`[start, end)` as whole characters, without the loose characters at its ends; empty if nothing is left."""
    while is_extender(text[end : end + 1]):
        end += 1
    while start < end and (text[start] in loose or is_extender(text[start])):
        start += 1
    while start < end and text[end - 1] in loose:
        end -= 1
    shapes = start < end and text[end : end + 1] in _JOINERS and unicodedata.combining(text[end - 1]) == _VIRAMA
    return start, end + shapes


def settle(text: str, label: str, start: int, end: int) -> tuple[int, int]:
    """`[start, end)` by the rules of marks; empty if nothing is left."""
    start, end = trim(text, start, end)
    if label not in AMOUNTS and start < end and text[start].isalnum() and text[end - 1].isalnum():
        return start, end
    before = -1
    while end - start != before:
        before = end - start
        start, end = trim(text, start, end)
        if label in AMOUNTS:
            start, end = _signed(text, start, end)
        start, end = _without_marks(text, start, end, is_amount=label in AMOUNTS)
    has_content = any(map(str.isalnum, text[start:end]))
    return (start, end) if has_content else (start, start)


def _signed(text: str, start: int, end: int) -> tuple[int, int]:
    """An amount with the minus that touches it, and with the partner of its bracket."""
    if _STARTS_AMOUNT.match(text, start, end) and (minus := _MINUS_BEFORE.search(text, max(start - 3, 0), start)):
        start = minus.start()
    if text[end - 1 : end].isdigit() and _MINUS_BEHIND.match(text, end):
        end += 1
    if text.startswith("(", start) and text.startswith(")", end):
        end += 1
    elif start and text[start - 1] == "(" and text[end - 1] == ")" and "(" not in text[start:end]:
        start -= 1
    return start, end


def _without_marks(text: str, start: int, end: int, *, is_amount: bool) -> tuple[int, int]:
    """One mark less at each end, where it does not belong to the entity."""
    part = text[start:end]
    if len(part) < 2:
        return start, end
    first, last = part[0], part[-1]
    if _CLOSING.get(first) == last:
        inner = part[1:-1]
        wraps = first not in inner and last not in inner
        return (start + 1, end - 1) if wraps and not (is_amount and first == "(") else (start, end)
    if (first in _RULES and not (is_amount and first in "-−–")) or _is_half(first, part[1:]):
        start += 1
    is_minus = is_amount and last in "-−" and part[-2].isdigit()
    if (last in _RULES and not is_minus) or _is_half(last, part[:-1]):
        end -= 1
    elif part.endswith(".."):
        end -= len(part) - len(part.rstrip("."))
    return start, max(start, end)


def _is_half(mark: str, others: str) -> bool:
    """True for a bracket or quotation mark without its partner among the others."""
    partners = [partner for partner in (_CLOSING.get(mark), _OPENING.get(mark)) if partner]
    return bool(partners) and not any(partner in others for partner in partners)
