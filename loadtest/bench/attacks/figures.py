"""The figures of an attack, the goals that they are held to, and the row that says both. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

MOST_LIVEZ_SECONDS = 0.100
MOST_BYTES = 2_000_000_000
MOST_ANSWERS = 4
"""Kinds of answers of the attacker that a row names."""
HEAD = (
    "attack",
    "finding",
    "another's requests: answered, refused, lost",
    "p50, p99 ms",
    "`/livez` p99, most, ms",
    "memory at most, MB",
    "the attacker was answered",
    "outside the goals",
)


class Observation(msgspec.Struct, frozen=True):
    """What others noticed in a stretch of time.

    Attributes:
        seconds: of each answered request of the neighbour, from when it was due.
        refused: its requests that were refused with a type and a time to come back.
        lost: all others, by what became of them.
        livez_seconds: of each question to `/livez`.
        livez_failed: those without a 200 among them.
        peak_bytes: proportional memory of all processes of the service, at its most.
    """

    seconds: list[float]
    refused: int
    lost: dict[str, int]
    livez_seconds: list[float]
    livez_failed: int
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class AttackFigures:
    """One attack's figures. `ended`: it ended the service."""

    name: str
    finding: str
    observed: Observation
    answers: Counter[str] = field(default_factory=Counter)
    ended: bool = False

    def misses(self) -> list[str]:
        """The goals that were missed, in words."""
        seen = self.observed
        found = {
            "the service ended": self.ended,
            "`/livez` over 100 ms": quantile(seen.livez_seconds, 1.0) > MOST_LIVEZ_SECONDS,
            f"`/livez` failed {seen.livez_failed} times": seen.livez_failed > 0,
            "over 2 GB": seen.peak_bytes > MOST_BYTES,
            f"lost: {_counts(Counter(seen.lost))}": bool(seen.lost),
        }
        return [words for words, missed in found.items() if missed]

    def row(self) -> str:
        """A row of the table."""
        seen = self.observed
        cells = (
            self.name,
            self.finding,
            f"{len(seen.seconds)}, {seen.refused}, {sum(seen.lost.values())}",
            f"{_ms(seen.seconds, 0.5)}, {_ms(seen.seconds, 0.99)}",
            f"{_ms(seen.livez_seconds, 0.99)}, {_ms(seen.livez_seconds, 1.0)}",
            f"{seen.peak_bytes / 1e6:,.0f}",
            _counts(self.answers),
            "; ".join(self.misses()),
        )
        return _line(cells)


def table_head() -> str:
    """The two lines above the rows."""
    return f"{_line(HEAD)}\n{'|---' * len(HEAD)}|"


def quantile(values: Sequence[float], share: float) -> float:
    """The least value that this share of the values does not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _ms(values: Sequence[float], share: float) -> str:
    return f"{quantile(values, share) * 1000:.0f}" if values else "–"


def _counts(counts: Counter[str]) -> str:
    shown = [f"{count:,} × {name}" for name, count in counts.most_common() if count]
    rest = len(shown) - MOST_ANSWERS
    return ", ".join([*shown[:MOST_ANSWERS], *([f"{rest} other kinds"] if rest > 0 else [])]) or "–"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
