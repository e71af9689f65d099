"""What stands where something went: its label, asterisks, or a keyed hash by which equal values stay equal."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from service.core.redaction.spans import RedactedSpan

HASH_DIGITS = 16
"""Hexadecimal digits of a hash: among a million values, two get the same one in 1 of 37 million cases."""


class RedactionMode(StrEnum):
    """`replace`: `<PERSON>`; `mask`: an asterisk for each character; `hash`: `<PERSON:3f9a…>`."""

    REPLACE = "replace"
    MASK = "mask"
    HASH = "hash"


@dataclass(frozen=True, slots=True)
class ReplacedSpan:
    """A range that went, and the range of the new text that stands for it, both in code points."""

    span: RedactedSpan
    replacement: str
    new_start: int

    @property
    def new_end(self) -> int:
        """The end of what stands for it."""
        return self.new_start + len(self.replacement)


def replacer(mode: RedactionMode, key: bytes, value_of: Callable[[str, str], str]) -> Callable[[str, str], str]:
    """What stands for a label's text; `key`: of the hashes, `value_of`: the value that a label's text states."""
    if mode is RedactionMode.REPLACE:
        return lambda label, _text: f"<{label}>"
    if mode is RedactionMode.MASK:
        return lambda _label, text: "".join(each if each in "\r\n" else "*" for each in text)
    return lambda label, text: f"<{label}:{hashed(key, value_of(label, text))}>"


def hashed(key: bytes, value: str) -> str:
    """The hash of a value: HMAC-SHA256 (RFC 2104), whatever its letters' case, cut.

    Keyed, since names and numbers are few enough to be tried one by one against a plain hash.
    """
    return hmac.new(key, value.casefold().encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:HASH_DIGITS]


def replaced_text(
    text: str, spans: Iterable[RedactedSpan], replace: Callable[[str, str], str]
) -> tuple[str, list[ReplacedSpan]]:
    """The text with each span, in order and apart from the others, replaced; and where each replacement stands."""
    parts: list[str] = []
    made: list[ReplacedSpan] = []
    reached = length = 0
    for span in spans:
        replacement = replace(span.label, text[span.start : span.end])
        parts += [text[reached : span.start], replacement]
        length += span.start - reached
        made.append(ReplacedSpan(span, replacement, length))
        length += len(replacement)
        reached = span.end
    return "".join((*parts, text[reached:])), made
