"""Minutes of hostile load: texts from one token to very long ones, bursts, several models, a hog beside the service.

The service and a process that takes and frees memory share one control group with little room. Nothing may fail, no
process may be restarted, and memory must not grow: the figures are printed whatever they are.
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
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from loadtest.bench.engine.cgroup import MemoryCgroup, memory_cgroup
from loadtest.bench.fixtures import serve
from loadtest.bench.models import published
from loadtest.bench.texts import vocabulary

MODELS = ("documents", "small", "six-layer")
SPARE_BYTES = 768 << 20
"""Room in the group beyond what the service takes when it is ready."""
LEAVE_BYTES = 96 << 20
"""What the hog leaves of it."""
LONGEST_WORDS = 20_000
SETTLED_SHARE = 0.25
"""Of the time; growth is counted from then on, when every kernel has been used."""
ROOM = "gleaner_memory_room_bytes"
STARTS, SPLITS = "gleaner_engine_starts_total", "gleaner_batch_splits_total"
MEMORY_SPLITS, SHRINKS = "gleaner_memory_splits_total", "gleaner_memory_shrinks"
PARTS = ("engine", "api")


@dataclass(slots=True)
class HostileFigures:
    """What a run came to."""

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
        settings = {"MODELS": ",".join(MODELS), "MODEL_STORE": home / "store"}
        enter = group.enter if group is not None else None
        with serve(home / "bench.log", enter, **settings) as url:
            if group is not None:
                group.limit(group.used_bytes() + SPARE_BYTES)
            with hog(group):
                figures = asyncio.run(attack(url, MODELS, minutes * 60))
            kills = group.kills() if group is not None else 0
    _print(figures, group is not None, kills)


@contextmanager
def hog(group: MemoryCgroup | None) -> Iterator[None]:
    """A process that takes and frees memory meanwhile."""
    folder = "" if group is None else str(group.folder)
    command = [sys.executable, "-m", "loadtest.bench.engine.memory_hog", folder, str(LEAVE_BYTES)]
    enter = None if group is None else group.enter
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=enter)
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def attack(
    url: str, models: Sequence[str], seconds: float, *, longest_words: int = LONGEST_WORDS, seed: int = 0
) -> HostileFigures:
    """Wave after wave until the time is up."""
    figures, draw, words = HostileFigures(), random.Random(seed), vocabulary(4_000)
    end = time.monotonic() + seconds
    async with httpx.AsyncClient(base_url=url, timeout=600.0, limits=httpx.Limits(max_connections=64)) as client:
        watcher = asyncio.create_task(_watch(client, figures))
        while time.monotonic() < end:
            requests = (
                _ask(client, figures, draw.choice(models), texts) for texts in _wave(draw, words, longest_words)
            )
            await asyncio.gather(*requests)
            await asyncio.sleep(draw.choice((0.0, 0.0, 0.3)))
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
        figures.samples.append(await _sample(client))
    return figures


def _wave(draw: random.Random, words: list[str], longest_words: int) -> list[list[str]]:
    """The documents of each request of a wave: a burst, heaps of one-word texts, a giant with small ones, batches."""
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
    begun = time.monotonic()
    documents = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    try:
        answer = await client.post("/extract", json={"model": model, "documents": documents})
        outcomes = [str(answer.status_code)] if answer.status_code != 200 else _outcomes(answer)
    except httpx.HTTPError as error:
        outcomes = [type(error).__name__]
    figures.answers.update(outcomes)
    figures.seconds.append(time.monotonic() - begun)
    figures.characters += sum(map(len, texts))
    figures.longest_words = max(figures.longest_words, *(text.count(" ") + 1 for text in texts))


def _outcomes(answer: httpx.Response) -> list[str]:
    return [each["error"]["code"] if each["error"] else "ok" for each in answer.json()["documents"]]


async def _watch(client: httpx.AsyncClient, figures: HostileFigures) -> None:
    while True:
        figures.samples.append(await _sample(client))
        await asyncio.sleep(1.0)


async def _sample(client: httpx.AsyncClient) -> dict[str, float]:
    """Gauges and counters of the service, and the resident memory of its parts."""
    text = (await client.get("/metrics")).text
    found = dict.fromkeys((ROOM, STARTS, SPLITS, MEMORY_SPLITS, SHRINKS), 0.0)
    for line in text.splitlines():
        name = line.partition("{")[0].partition(" ")[0]
        if name in found:
            found[name] += float(line.rpartition(" ")[2])
    return found | {f"{part} bytes": float(_resident_bytes(f"service.{part}", os.getpid())) for part in PARTS}


def _resident_bytes(module: str, process: int) -> int:
    """Of a process and those below it, as far as they run this module."""
    folder = Path(f"/proc/{process}")
    try:
        counts = module.encode() in (folder / "cmdline").read_bytes().split(b"\0")
        own = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if counts else 0
        below = [(task / "children").read_text().split() for task in (folder / "task").iterdir()]
    except OSError:  # It has ended meanwhile.
        return 0
    return own + sum(_resident_bytes(module, int(child)) for children in below for child in children)


def _print(figures: HostileFigures, boxed: bool, kills: int) -> None:
    first, last = figures.samples[int(len(figures.samples) * SETTLED_SHARE)], figures.samples[-1]
    rooms = [sample[ROOM] / 1e6 for sample in figures.samples]
    cuts = statistics.quantiles(figures.seconds, n=100)
    rows = {
        "requests / documents": f"{len(figures.seconds):,} / {sum(figures.answers.values()):,}",
        "characters; longest text": f"{figures.characters:,}; {figures.longest_words:,} words",
        "failed": f"{figures.failed} {dict(figures.answers) if figures.failed else ''}",
        "engines started": f"{last[STARTS]:.0f}",
        "killed for want of memory": f"{kills}" if boxed else "not known: no control group could be made",
        "batches split; for memory": f"{last[SPLITS]:.0f}; {last[MEMORY_SPLITS]:.0f}",
        "room for a batch, MB: least, most": f"{min(rooms):.0f}, {max(rooms):.0f}",
        "times the room shrank": f"{last[SHRINKS]:.0f}",
        "seconds of a request p50, p99": f"{cuts[49]:.2f}, {cuts[98]:.2f}",
        **{f"{part}, MB: after a quarter, at the end": _growth(first, last, part) for part in PARTS},
    }
    print("| what | figure |\n|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value} |", flush=True)


def _growth(first: dict[str, float], last: dict[str, float], part: str) -> str:
    before, after = first[f"{part} bytes"] / 1e6, last[f"{part} bytes"] / 1e6
    return f"{before:.0f}, {after:.0f}"
