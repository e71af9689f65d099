"""One client's p99 with and without what another does, in alternating rounds on one service.

A greedy tenant that offers fifty times its share may raise another's p99 by a quarter beyond a batch of the tenant's (a
batch that runs is not interrupted); 300 slow clients by a tenth.
"""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from loadtest.bench.attacks.attack import Strike
from loadtest.bench.attacks.callers import ask_at_a_rate, ask_on
from loadtest.bench.attacks.command import LEAD_SECONDS, observe, observer_of
from loadtest.bench.attacks.connections import dawdling
from loadtest.bench.attacks.figures import Observation, quantile
from loadtest.bench.attacks.target import Target, attacked, attackers_job
from loadtest.bench.fixtures import PipelineProcess
from loadtest.workload.mix import JSON, Job
from loadtest.workload.prose import paragraph

ROUNDS = 6
ROUND_SECONDS = 15.0
RATE = 12.0
"""Requests a second of the client whose p99 it is."""
SETTLE_SECONDS = 2.0
TIMES_ITS_SHARE = 50.0
BATCH, WORDS = 200, 110
MOST_GREEDY = 64
"""Requests of the greedy tenant under way at once."""
SLOW_CLIENTS = 300
BUSY, FILL = "gleaner_busy_seconds_total", "gleaner_batch_fill"
HALF = f'{FILL}_bucket{{le="0.5"}}'


@dataclass(slots=True)
class Contrast:
    """The figures of one contrast. `rise`: the share of the p99 without that the p99 with may be higher.

    `batches`: in each round beside the other, seconds in which the device was busy, and batches of at least half of the
    budget, which are the other's. `waits`: one of them may have begun, so its time may be added to the p99.
    """

    name: str
    rise: float
    waits: bool
    without: list[Observation] = field(default_factory=list)
    beside: list[Observation] = field(default_factory=list)
    batches: list[tuple[float, float]] = field(default_factory=list)

    @property
    def batch_seconds(self) -> float:
        """The mean of a batch of the other's; 0 where there was none."""
        seconds, count = map(sum, zip(*self.batches, strict=True)) if self.batches else (0.0, 0.0)
        return seconds / count if count else 0.0

    @property
    def allowed_seconds(self) -> float:
        """The highest p99 beside the other that is within the goal."""
        return (1 + self.rise) * _p99(self.without) + (self.batch_seconds if self.waits else 0.0)

    def row(self) -> str:
        """A row of the table."""
        without, beside = _p99(self.without), _p99(self.beside)
        lost = sum(sum(seen.lost.values()) + seen.refused for seen in self.beside)
        cells = (
            self.name,
            f"{_answered(self.without)}, {_answered(self.beside)}",
            f"{without * 1000:.0f}",
            f"{beside * 1000:.0f}",
            f"{self.batch_seconds * 1000:.0f}",
            f"{self.allowed_seconds * 1000:.0f}",
            str(lost),
            "yes" if beside <= self.allowed_seconds and not lost else "no",
        )
        return f"| {' | '.join(cells)} |"


HEAD = (
    "beside",
    "answered: without, with",
    "p99 without, ms",
    "p99 with, ms",
    "a batch, ms",
    "allowed, ms",
    "refused or lost",
    "within the goal",
)


def measure(home: Path) -> None:
    """Print a row for each contrast."""
    print(f"\n## One client beside others, {ROUNDS} rounds with and {ROUNDS} without\n")
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|", flush=True)
    print(greedy_tenant(home / "greedy").row(), flush=True)
    print(slow_clients(home / "slow").row(), flush=True)


def slow_clients(home: Path, rounds: int = ROUNDS, seconds: float = ROUND_SECONDS) -> Contrast:
    """300 slow and silent clients."""
    contrast = Contrast(f"{SLOW_CLIENTS} slow clients", 0.10, waits=False)
    with attacked(home, {}) as target, closing(observer_of(target, target.url)) as observer:
        _alternate(contrast, target, observer, dawdling(SLOW_CLIENTS), rounds, seconds)
    return contrast


def greedy_tenant(home: Path, rounds: int = ROUNDS, seconds: float = ROUND_SECONDS) -> Contrast:
    """A tenant that offers `TIMES_ITS_SHARE` what half of the service, its share, can do; first that is measured."""
    contrast = Contrast(f"a tenant at {TIMES_ITS_SHARE:g} times its share", 0.25, waits=True)
    job = _batch()
    with attacked(home, {}) as target, closing(observer_of(target, target.url)) as observer:
        asyncio.run(ask_on(target, lambda: job, 4, time.monotonic() + seconds))
        share = max(target.answers["200 ok"], 1) / seconds / 2

        async def strike(target: Target, end: float) -> None:
            await ask_at_a_rate(target, job, TIMES_ITS_SHARE * share, MOST_GREEDY, end)

        _alternate(contrast, target, observer, strike, rounds, seconds)
    return contrast


def _alternate(
    contrast: Contrast, target: Target, observer: PipelineProcess, strike: Strike, rounds: int, seconds: float
) -> None:
    observe(observer, SETTLE_SECONDS, "text")
    for _ in range(rounds):
        contrast.without.append(observe(observer, seconds, "text", RATE))
        before = _batches(target.url)
        contrast.beside.append(asyncio.run(_beside(target, observer, strike, seconds)))
        after = _batches(target.url)
        contrast.batches.append((after[0] - before[0], after[1] - before[1]))
        observe(observer, SETTLE_SECONDS, "text")


async def _beside(target: Target, observer: PipelineProcess, strike: Strike, seconds: float) -> Observation:
    """The other begins first, and ends last."""
    striking = asyncio.ensure_future(strike(target, time.monotonic() + seconds + 2 * LEAD_SECONDS))
    await asyncio.sleep(LEAD_SECONDS)
    seen = await asyncio.to_thread(observe, observer, seconds, "text", RATE)
    await striking
    return seen


def _batch() -> Job:
    draw = Random("greedy")
    texts = [{"text": paragraph(WORDS, draw)} for _ in range(BATCH)]
    return attackers_job(json.dumps({"documents": texts}).encode(), JSON)


def _batches(url: str) -> tuple[float, float]:
    """The seconds in which the device was busy, and the batches of at least half of the budget that it ran."""
    lines = httpx.get(f"{url}/metrics", timeout=30.0).text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if line.startswith("gleaner_"))
    busy, all_batches, small = (float(values[name]) for name in (BUSY, f"{FILL}_count", HALF))
    return busy, all_batches - small


def _p99(seen: list[Observation]) -> float:
    return quantile([second for each in seen for second in each.seconds], 0.99)


def _answered(seen: list[Observation]) -> int:
    return sum(len(each.seconds) for each in seen)
