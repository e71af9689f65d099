"""One generator process: `python -m loadtest.runner.generator_process`. Its order comes as JSON on its standard input.

It prepares, says that it is ready, and is told when the run starts. Then it makes its share of the schedule (every k-th
request), sends it, says every half second how it is going, and leaves its records in a file. It measures its own lag
and CPU time; whether it was the bottleneck is judged by the parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import uvloop

from loadtest.client.open_loop import Sender
from loadtest.client.pool import Pool
from loadtest.client.target import read_target, request_bytes
from loadtest.records.records import Recorder, save
from loadtest.scenario.scenario import Scenario, schedule
from loadtest.workload.mix import make_jobs

SAY_SECONDS = 0.5
SPARE_FILES = 64
GREED = -10
"""Of the generator among processes, where the system lets it: a clock must not wait for what it measures."""


class GeneratorConfig(msgspec.Struct, frozen=True):
    """What one process is to do. `at_once` above 0: a closed loop for `seconds`, to find the capacity."""

    url: str
    scenario: Scenario
    share: int
    shares: int
    records: str
    keys: dict[str, str] = {}
    at_once: int = 0
    seconds: float = 0.0


class GeneratorReady(msgspec.Struct, frozen=True, tag=True):
    """All requests are made; the start may be named."""


class GeneratorProgress(msgspec.Struct, frozen=True, tag=True):
    """How it goes: since the start, and the latencies of the answers since the last time."""

    sent: int
    ok: int
    refused: int
    failed: int
    open: int
    latencies_ms: list[float]
    lag_ms: float


class GeneratorStats(msgspec.Struct, frozen=True, tag=True):
    """What the process says of itself at its end. `cpu_share`: of one core, over the time in which it sent."""

    share: int
    cpu_share: float
    most_open: int
    exhausted: int
    resent: int


GeneratorMessage = GeneratorReady | GeneratorProgress | GeneratorStats


def main() -> None:
    """Do as the first line orders; the second is the start, later ones name new URLs to aim at."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=GeneratorConfig)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, GREED)
    uvloop.run(_generate(order))


async def _generate(order: GeneratorConfig) -> None:
    target = read_target(order.url)
    requests = [request_bytes(target, job) for job in make_jobs(order.scenario.mix, order.keys)]
    _collect_seldom()
    _say(GeneratorReady())
    start = float(await asyncio.to_thread(sys.stdin.buffer.readline))
    recorder = Recorder(start)
    pool = Pool(target, _room_for_connections())
    sender = Sender(pool, requests, recorder, order.scenario.timeout_seconds)
    listener = asyncio.create_task(_listen(pool))
    speaker = asyncio.create_task(_speak(sender, recorder))
    begun, cpu = time.monotonic(), time.process_time()
    numbers = itertools.count(order.share, order.shares)
    if order.at_once:
        await sender.back_to_back(order.at_once, start + order.seconds, numbers)
    else:
        await sender.on_schedule(_own_share(order, start))
    cpu_share = (time.process_time() - cpu) / max(time.monotonic() - begun, 1e-9)
    for task in (listener, speaker):
        task.cancel()
    pool.close()
    save(recorder.records(), Path(order.records))
    _say(GeneratorStats(order.share, cpu_share, pool.most_open, pool.exhausted, pool.resent))


def _collect_seldom() -> None:
    """A full collection over a million records would stop the clock."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 1_000)


def _own_share(order: GeneratorConfig, start: float) -> Iterator[tuple[float, int]]:
    moments = enumerate(schedule(order.scenario))
    own = itertools.islice(moments, order.share, None, order.shares)
    return ((start + moment, number) for number, moment in own)


def _room_for_connections() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536) - SPARE_FILES


async def _listen(pool: Pool) -> None:
    """New URLs, one a line."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        pool.aim(read_target(line.decode().strip()))


async def _speak(sender: Sender, recorder: Recorder) -> None:
    while True:
        await asyncio.sleep(SAY_SECONDS)
        ok, refused, failed = recorder.ok, recorder.refused, recorder.failed
        latencies, lag = recorder.fresh()
        _say(GeneratorProgress(ok + refused + failed + sender.open, ok, refused, failed, sender.open, latencies, lag))


def _say(what: GeneratorMessage) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(what) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
