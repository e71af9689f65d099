"""Escapes in a text: decodes those of addresses, of JSON and programs, and of HTML, and keeps the places. Pure.

`%20` stands in addresses (RFC 3986), `\\u0020` and `\\n` in JSON and source code, `&nbsp;` and `&#32;` in HTML. A text
may be escaped several times (`%2520`), so it is decoded again and again.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

MOST_DECODINGS = 3
"""Most times that a text is decoded."""
_ESCAPE = re.compile(
    r"(?:%[0-9A-Fa-f]{2})+|(?:\\u[0-9A-Fa-f]{4})+|\\u\{[0-9A-Fa-f]{1,6}\}|\\x[0-9A-Fa-f]{2}|\\[nrtfvb\"'/\\]"
    r"|&(?:#[0-9]{1,7}|#[Xx][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
_LARGEST = 0x10FFFF


class Escape(NamedTuple):
    """A decoded escape: its range in the decoded text, and in the text before."""

    start: int
    end: int
    start_before: int
    end_before: int


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A decoded text, and its escapes in order."""

    text: str
    escapes: tuple[Escape, ...]

    def range_before(self, start: int, end: int) -> tuple[int, int]:
        """Find where `[start, end)` stood in the text before; of an escape always the whole."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, index: int) -> tuple[int, int]:
        number = bisect_right(self.escapes, index, key=lambda escape: escape.start) - 1
        if number < 0:
            return index, index + 1
        escape = self.escapes[number]
        if index < escape.end:
            return escape.start_before, escape.end_before
        place = escape.end_before + index - escape.end
        return place, place + 1


def decoded(text: str) -> DecodedText | None:
    """Decode each escape of a text once; None if it has none."""
    parts, escapes, length, reached = list[str](), list[Escape](), 0, 0
    for found in _ESCAPE.finditer(text):
        meant = _meant(found.group())
        begin = length + found.start() - reached
        parts += [text[reached : found.start()], meant]
        length, reached = begin + len(meant), found.end()
        escapes.append(Escape(begin, length, found.start(), reached))
    return DecodedText("".join((*parts, text[reached:])), tuple(escapes)) if escapes else None


def decodings(text: str) -> Iterator[list[DecodedText]]:
    """Yield the steps that lead to each further decoding of a text, as long as one has escapes."""
    steps = list[DecodedText]()
    while len(steps) < MOST_DECODINGS and (step := decoded(steps[-1].text if steps else text)) is not None:
        steps = [*steps, step]
        yield steps


def _meant(escape: str) -> str:
    if escape[0] == "%":
        meant = unquote_to_bytes(escape)
        try:
            return meant.decode()
        except UnicodeDecodeError:  # Older programs escape Latin-1: `M%FCller`.
            return meant.decode("latin-1")
    if escape[0] == "&":
        return html.unescape(escape)
    if escape[1] not in "ux":
        return escape[1] if escape[1] in "\"'/\\" else " "
    if "{" in escape:
        return chr(min(int(escape[3:-1], 16), _LARGEST))
    units = b"".join(int(unit, 16).to_bytes(2, "big") for unit in re.split(r"\\[ux]", escape)[1:])
    return units.decode("utf-16-be", "replace")
