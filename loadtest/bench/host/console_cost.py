"""What ten open consoles take of a service at full load: its processor time and its documents a second, beside none.

The device answers at once (`host_cost`), so that a document costs the host nearly all that there is, and what the
consoles take shows most. Rounds come in pairs, one without and one with consoles, in turns as to which is first, so
that a machine that grows slower meanwhile speaks for neither; the figure is the median of the pairs, with their
quarters. Nearly every round without consoles comes after ten that were closed.

Processor time is that of the service's own processes. Documents a second hold more: on one machine its client and the
consoles' readers have the same cores, which makes that figure the higher one.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from loadtest.bench.host.feed_readers import open_consoles
from loadtest.bench.host.host_cost import SEED, TEXTS, WORDS, ReplayingService, replaying_service, spent_by_part
from loadtest.workload.prose import paragraph

CONSOLES = 10
PAIRS = 9
DOCUMENTS = 6_000
"""Of a round: some seconds, of which the clock ticks of the kernel's account, 10 ms, are less than 0.5 %."""
SIZE, CLIENTS = 16, 12


@dataclass(frozen=True, slots=True)
class Round:
    """What one round took: the service's processor time for a document, and how fast documents were answered."""

    milliseconds: float
    documents_per_second: float


def measure(home: Path) -> None:
    """Print what ten consoles cost."""
    draw = Random(SEED)
    texts = [paragraph(WORDS, draw) for _ in range(TEXTS)]
    pairs = []
    with replaying_service(home, "documents", 0) as service:
        _round(service, texts, 0)
        for number in range(PAIRS):
            order = (0, CONSOLES) if number % 2 else (CONSOLES, 0)
            rounds = {count: _round(service, texts, count) for count in order}
            pairs.append((rounds[0], rounds[CONSOLES]))
    print(f"\n## {CONSOLES} consoles that watch, beside none ({PAIRS} pairs of {DOCUMENTS:,} documents)\n")
    print("| | none | ten | change, median | its quarters |\n|---|---|---|---|---|")
    _row("service's processor, ms a document", [(a.milliseconds, b.milliseconds) for a, b in pairs], 3)
    _row("documents a second", [(a.documents_per_second, b.documents_per_second) for a, b in pairs], 0)


def changes(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Lower quarter, median and upper quarter of how much the second of each pair is above the first, as shares."""
    lower, median, upper = statistics.quantiles(
        [after / before - 1 for before, after in pairs], n=4, method="inclusive"
    )
    return lower, median, upper


def _row(name: str, pairs: Sequence[tuple[float, float]], digits: int) -> None:
    lower, median, upper = changes(pairs)
    none, ten = (statistics.median(values) for values in zip(*pairs, strict=True))
    print(
        f"| {name} | {none:,.{digits}f} | {ten:,.{digits}f} | {median:+.1%} | {lower:+.1%} to {upper:+.1%} |",
        flush=True,
    )


def _round(service: ReplayingService, texts: Sequence[str], consoles: int) -> Round:
    with open_consoles(service.port, consoles):
        parts, asked = spent_by_part(service, texts, SIZE, CLIENTS, DOCUMENTS)
        return Round(sum(parts.values()), asked.documents / asked.seconds)
