"""Regular expressions of a tokenizer: those that may backtrack without an end are told by their groups.

The rule: a group that is repeated any number of times holds neither a repeat nor alternatives, as in `(?:x+x+)+y`.
Those of the known tokenizers repeat characters and classes alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\((?:\?(?:<?[=!]|<\w+>|[a-zA-Z-]*:|>))?|\)|.", re.S)
_REPEAT = re.compile(r"[*+]|\{\d*,\}|\{\d+(?:,\d+)?\}")
_ENDLESS = re.compile(r"[*+]|\{\d*,\}|\{(?:\d*,)?\d{2,}\}")


def regexes_in(value: object) -> Iterator[str]:
    """Yield the regular expressions in the JSON of a tokenizer: `{"Regex": ...}` at any depth."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            pending += [item for name, item in each.items() if name not in ("vocab", "merges")]
            if isinstance(each.get("Regex"), str):
                yield each["Regex"]
        elif isinstance(each, list):
            pending += each


def backtracks(pattern: str) -> bool:
    """True if a repeated group of a pattern holds a repeat or alternatives."""
    holds = [False]
    for found in _PIECE.finditer(pattern):
        piece, end = found.group(), found.end()
        if piece.startswith("("):
            holds.append(False)
        elif piece == "|" or _REPEAT.match(pattern, found.start()):
            holds[-1] = True
        elif piece == ")" and len(holds) > 1:
            inner = holds.pop()
            if inner and _ENDLESS.match(pattern, end):
                return True
            holds[-1] |= inner
    return False
