"""One generator process: `python -m loadtest.runner.generator_process`, with its configuration as JSON on stdin.

It prepares its requests, reports that it is ready, and reads the start time. Then it sends its share of the schedule
(every k-th request), reports its progress every half second, and writes its records into a file. It measures its own
lag and CPU time; the parent decides from them whether the generator was the bottleneck.
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

from loadtest.client.http import HttpClient
from loadtest.client.open_loop import Sender
from loadtest.records.files import save
from loadtest.records.recorder import Recorder
from loadtest.scenario.scenario import Scenario
from loadtest.scenario.schedule import schedule
from loadtest.workload.mix import make_jobs

REPORT_SECONDS = 0.5
SPARE_FILES = 64
NICENESS = -10
"""Priority of the generator where the system allows it: its clock must not wait for the service under test."""


class GeneratorConfig(msgspec.Struct, frozen=True):
    """What one process does. `at_once` above 0: a closed loop for `seconds`, to measure the capacity."""

    url: str
    scenario: Scenario
    share: int
    shares: int
    records: str
    keys: dict[str, str] = {}
    at_once: int = 0
    seconds: float = 0.0


class GeneratorReady(msgspec.Struct, frozen=True, tag=True):
    """All requests are prepared; the process waits for the start time."""


class GeneratorProgress(msgspec.Struct, frozen=True, tag=True):
    """Counts since the start, and the latencies and largest lag since the report before."""

    sent: int
    ok: int
    refused: int
    failed: int
    open: int
    latencies_ms: list[float]
    lag_ms: float


class GeneratorStats(msgspec.Struct, frozen=True, tag=True):
    """The last report of a process. `cpu_share`: of one core, while it sent."""

    share: int
    cpu_share: float
    most_open: int
    exhausted: int
    resent: int


GeneratorMessage = GeneratorReady | GeneratorProgress | GeneratorStats


def main() -> None:
    """Run the configuration of the first line; the second is the start time, later ones are URLs to redirect to."""
    config = msgspec.json.decode(sys.stdin.buffer.readline(), type=GeneratorConfig)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    uvloop.run(_generate(config))


async def _generate(config: GeneratorConfig) -> None:
    jobs = make_jobs(config.scenario.mix, config.keys)
    _collect_garbage_rarely()
    most = _connection_limit()
    async with HttpClient(config.url, most=most, timeout_seconds=config.scenario.timeout_seconds) as client:
        _report(GeneratorReady())
        start = float(await asyncio.to_thread(sys.stdin.buffer.readline))
        recorder = Recorder(start)
        sender = Sender(client, jobs, recorder)
        helpers = [asyncio.create_task(_follow_redirects(client)), asyncio.create_task(_progress(sender, recorder))]
        began, cpu = time.monotonic(), time.process_time()
        if config.at_once:
            numbers = itertools.count(config.share, config.shares)
            await sender.back_to_back(config.at_once, start + config.seconds, numbers)
        else:
            await sender.on_schedule(_own_share(config, start))
        cpu_share = (time.process_time() - cpu) / max(time.monotonic() - began, 1e-9)
        for helper in helpers:
            helper.cancel()
    save(recorder.records(), Path(config.records))
    _report(GeneratorStats(config.share, cpu_share, client.most_under_way, client.exhausted, client.resent))


def _collect_garbage_rarely() -> None:
    """Raise the thresholds: a full collection over a million records would delay requests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 1_000)


def _own_share(config: GeneratorConfig, start: float) -> Iterator[tuple[float, int]]:
    moments = enumerate(schedule(config.scenario))
    own = itertools.islice(moments, config.share, None, config.shares)
    return ((start + moment, number) for number, moment in own)


def _connection_limit() -> int:
    """How many connections the limit of open files allows, after raising it as far as permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65_536) - SPARE_FILES


async def _follow_redirects(client: HttpClient) -> None:
    """Redirect the client to each URL that comes in, one a line."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        client.redirect(line.decode().strip())


async def _progress(sender: Sender, recorder: Recorder) -> None:
    while True:
        await asyncio.sleep(REPORT_SECONDS)
        ok, refused, failed = recorder.ok, recorder.refused, recorder.failed
        latencies, lag = recorder.take_recent()
        sent = ok + refused + failed + sender.under_way
        _report(GeneratorProgress(sent, ok, refused, failed, sender.under_way, latencies, lag))


def _report(message: GeneratorMessage) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
