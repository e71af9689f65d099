"""What a rule finds, and how a text is searched in bounded time.

The rule: every pattern begins where a run of its characters begins and has bounded repetitions only, so each character
of a text costs a bounded number of steps; and no search runs over more than `STEP_CHARACTERS` and a match, so that
other threads get their turn in between. Most texts have nothing for most rules: a dear pattern has a cheap `sign`, that
every match of it has within.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

STEP_CHARACTERS = 8_192
LONGEST_CHARACTERS = 2_100
"""Of a match with what is looked at after it."""
_BEFORE_CHARACTERS = 28
"""How far before a number the word that says what it is may stand."""


class Strength(IntEnum):
    """What a finding is worth beside the model."""

    BORDERS = 1
    """It says where something ends and begins that the model has found; it is no entity of its own."""
    LIKELY = 2
    """It is an entity where the model says nothing else."""
    PROVEN = 3
    """It is an entity whatever the model says: a checksum holds, or nothing else is written so."""


class Finding(NamedTuple):
    """The code points `[start, end)` that a rule holds for an entity. `score`: how often such findings are right."""

    label: str
    start: int
    end: int
    strength: Strength
    score: float


def scan(pattern: re.Pattern[str], text: str, sign: re.Pattern[str] | None = None) -> Iterator[re.Match[str]]:
    """All matches from left to right, none overlapping, as `finditer` gives them, but a step at a time.

    A text without `sign` is not scanned.
    """
    if sign is not None and sign.search(text) is None:
        return
    start = 0
    while start < len(text):
        stop = start + STEP_CHARACTERS
        for match in pattern.finditer(text, start, min(len(text), stop + LONGEST_CHARACTERS)):
            if match.start() >= stop:
                break
            start = match.end()
            yield match
        start = max(start, stop)


def is_named(pattern: re.Pattern[str], text: str, start: int) -> bool:
    """Whether a word that the pattern has stands shortly before a place, on its line or the one above."""
    return pattern.search(text[max(0, start - _BEFORE_CHARACTERS) : start]) is not None
