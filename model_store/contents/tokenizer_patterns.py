"""Regular expressions of a tokenizer: those that may backtrack without an end are told by their groups.

The rules: a group that is repeated any number of times holds neither a repeat nor alternatives, as in `(?:x+x+)+y`; an
alternative has at most `MOST_REPEATS`, since `x*x*x*x*y` takes the fourth power of a text's length; no group is called.
Those of the known tokenizers repeat characters and classes alone, at most two in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_REPEATS = 2
"""Most repeats without a limit in an alternative of a pattern."""
_PIECE = re.compile(
    r"\\.|(?:[*+?]|\{\d*,?\d*\})[+?]?|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\((?:\?(?:<?[=!]|<\w+>|[a-zA-Z-]*:|>))?|\)|.",
    re.S,
)
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
    """True if a pattern breaks one of the rules."""
    holds, repeats = [False], 0
    for found in _PIECE.finditer(pattern):
        piece, end = found.group(), found.end()
        repeats = 0 if piece == "|" and len(holds) == 1 else repeats + bool(_ENDLESS.match(piece))
        if piece == r"\g" or repeats > MOST_REPEATS:
            return True
        if piece.startswith("("):
            holds.append(False)
        elif piece == "|" or _REPEAT.match(piece):
            holds[-1] = True
        elif piece == ")" and len(holds) > 1:
            inner = holds.pop()
            if inner and _ENDLESS.match(pattern, end):
                return True
            holds[-1] |= inner
    return False
