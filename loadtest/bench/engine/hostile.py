"""Hostile load for minutes: texts from one token to very long ones, bursts, several models, and a memory hog.

The service and the hog, which takes and frees memory, share one control group with little memory. No request may fail,
no process may be restarted, and memory must not grow; the figures are printed in any case.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from loadtest.bench.engine.cgroup import MemoryCgroup, memory_cgroup
from loadtest.bench.fixtures import published, service, vocabulary
from loadtest.telemetry.process_usage import processes_running

MODELS = ("documents", "small", "six-layer")
SPARE_BYTES = 768 << 20
"""Memory of the group beyond what the service uses when it is ready."""
LEAVE_BYTES = 96 << 20
"""The part of the spare memory that the hog leaves."""
LONGEST_WORDS = 20_000
SETTLED_SHARE = 0.25
"""The part of the run after which growth is measured: every kernel has run by then."""
HEADROOM = "gleaner_memory_room_bytes"
STARTS, SPLITS = "gleaner_engine_starts_total", "gleaner_batch_splits_total"
MEMORY_SPLITS, SHRINKS = "gleaner_memory_splits_total", "gleaner_memory_shrinks"
PARTS = ("engine", "api")


@dataclass(slots=True)
class HostileFigures:
    """The figures of one run."""

    answers: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    characters: int = 0
    longest_words: int = 0
    samples: list[dict[str, float]] = field(default_factory=list)

    @property
    def failed(self) -> int:
        return sum(count for outcome, count in self.answers.items() if outcome != "ok")


def measure(home: Path, minutes: float = 10.0) -> None:
    """Print the figures of one run."""
    print(f"\n## Hostile load, {minutes:g} minutes\n")
    for shape in MODELS[1:]:
        published(home, shape)
    with memory_cgroup() as group:
        preexec = group.enter if group is not None else None
        with service(home, preexec, MODELS=",".join(MODELS)) as running:
            if group is not None:
                group.limit(group.used_bytes() + SPARE_BYTES)
            with memory_hog(group):
                figures = asyncio.run(attack(running.url, MODELS, minutes * 60))
            kills = group.kills() if group is not None else 0
    _print(figures, group is not None, kills)


@contextmanager
def memory_hog(group: MemoryCgroup | None) -> Iterator[None]:
    """Run a memory hog in this group, or outside of any, while the context is open."""
    folder = "" if group is None else str(group.folder)
    command = [sys.executable, "-m", "loadtest.bench.engine.memory_hog", folder, str(LEAVE_BYTES)]
    preexec = None if group is None else group.enter
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=preexec)
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def attack(
    url: str, models: Sequence[str], seconds: float, *, longest_words: int = LONGEST_WORDS, seed: int = 0
) -> HostileFigures:
    """Send wave after wave of requests, each when the one before is answered, for this time."""
    figures, draw, words = HostileFigures(), random.Random(seed), vocabulary(4_000)
    end = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=url, timeout=600.0, limits=httpx.Limits(max_connections=64)) as client:
        sampling = asyncio.create_task(_sample_regularly(client, figures))
        while time.monotonic() < end:
            requests = (
                _ask(client, figures, draw.choice(models), texts) for texts in _wave(draw, words, longest_words)
            )
            await asyncio.gather(*requests)
            await asyncio.sleep(draw.choice((0.0, 0.0, 0.3)))
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
        figures.samples.append(await _sample(client))
    return figures


def _wave(draw: random.Random, words: list[str], longest_words: int) -> list[list[str]]:
    """The documents of each request of a wave: a burst, many one-word texts, a giant with small ones, or batches."""
    kind = draw.randrange(4)
    if kind == 0:
        return [[_text(draw, words, draw.randint(1, 400))] for _ in range(draw.randint(20, 60))]
    if kind == 1:
        return [["a"] * draw.randint(1, 50) for _ in range(draw.randint(1, 20))]
    if kind == 2:
        giant = [_text(draw, words, draw.randint(longest_words // 4, longest_words))]
        return [giant, *([_text(draw, words, draw.randint(1, 40))] for _ in range(10))]
    return [[_text(draw, words, int(10 ** draw.uniform(0, 3.3))) for _ in range(draw.randint(1, 30))] for _ in range(3)]


def _text(draw: random.Random, words: list[str], count: int) -> str:
    return " ".join(draw.choices(words, k=count))


async def _ask(client: httpx.AsyncClient, figures: HostileFigures, model: str, texts: list[str]) -> None:
    began = time.monotonic()
    documents = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    try:
        answer = await client.post("/extract", json={"model": model, "documents": documents})
        outcomes = [str(answer.status_code)] if answer.status_code != 200 else _outcomes(answer)
    except httpx.HTTPError as error:
        outcomes = [type(error).__name__]
    figures.answers.update(outcomes)
    figures.seconds.append(time.monotonic() - began)
    figures.characters += sum(map(len, texts))
    figures.longest_words = max(figures.longest_words, *(text.count(" ") + 1 for text in texts))


def _outcomes(answer: httpx.Response) -> list[str]:
    return [each["error"]["code"] if each["error"] else "ok" for each in answer.json()["documents"]]


async def _sample_regularly(client: httpx.AsyncClient, figures: HostileFigures) -> None:
    while True:
        figures.samples.append(await _sample(client))
        await asyncio.sleep(1.0)


async def _sample(client: httpx.AsyncClient) -> dict[str, float]:
    """Gauges and counters of the service, and the resident memory of its processes."""
    text = (await client.get("/metrics")).text
    found = dict.fromkeys((HEADROOM, STARTS, SPLITS, MEMORY_SPLITS, SHRINKS), 0.0)
    for line in text.splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in found:
            found[name] += float(line.rpartition(" ")[2])
    return found | {f"{part} bytes": float(_resident_bytes(f"service.{part}")) for part in PARTS}


def _resident_bytes(module: str) -> int:
    """Resident memory of the processes below this one that run a module."""
    found = 0
    for process in processes_running(module, os.getpid()):
        with suppress(psutil.Error):
            found += process.memory_info().rss
    return found


def _print(figures: HostileFigures, grouped: bool, kills: int) -> None:
    first, last = figures.samples[int(len(figures.samples) * SETTLED_SHARE)], figures.samples[-1]
    headrooms = [sample[HEADROOM] / 1e6 for sample in figures.samples]
    cuts = statistics.quantiles(figures.seconds, n=100)
    rows = {
        "requests / documents": f"{len(figures.seconds):,} / {sum(figures.answers.values()):,}",
        "characters; longest text": f"{figures.characters:,}; {figures.longest_words:,} words",
        "failed": f"{figures.failed} {dict(figures.answers) if figures.failed else ''}",
        "engines started": f"{last[STARTS]:.0f}",
        "killed for lack of memory": f"{kills}" if grouped else "not known: no control group could be made",
        "batches split; for memory": f"{last[SPLITS]:.0f}; {last[MEMORY_SPLITS]:.0f}",
        "headroom for a batch, MB: least, most": f"{min(headrooms):.0f}, {max(headrooms):.0f}",
        "times the headroom shrank": f"{last[SHRINKS]:.0f}",
        "seconds of a request p50, p99": f"{cuts[49]:.2f}, {cuts[98]:.2f}",
        **{f"{part}, MB: after a quarter, at the end": _growth(first, last, part) for part in PARTS},
    }
    print("| what | figure |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value} |", flush=True)


def _growth(first: dict[str, float], last: dict[str, float], part: str) -> str:
    before, after = first[f"{part} bytes"] / 1e6, last[f"{part} bytes"] / 1e6
    return f"{before:.0f}, {after:.0f}"
