"""Generator process: sends its part of a schedule, and reports progress and records to the process that started it.

It is an open loop: each request leaves at its intended time, or as soon after it as this process can send it. Nothing
that the server does delays the next request. The delay of this process itself is a request's *lag*: sent - intended. It
is recorded for each request and judged afterwards (`run.assess_generator`).
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
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import uvloop

from loadtest.generator.connection_burst import raise_open_files
from loadtest.generator.http_client import HttpClient
from loadtest.generator.records import Recorder, save
from loadtest.scenario.scenario import Scenario, schedule
from loadtest.scenario.workload import Job, make_jobs

Due = tuple[float, int]
"""An intended time on the monotonic clock, and the number of the request that is due then."""


class Sender:
    """Sends jobs and records how each request ended. Request `n` sends job `n` modulo their number."""

    def __init__(self, client: HttpClient, jobs: Sequence[Job], recorder: Recorder) -> None:
        self._client = client
        self._jobs = jobs
        self._recorder = recorder
        self.under_way = 0

    async def on_schedule(self, schedule: Iterator[Due]) -> None:
        """Send every request when it is due, then wait for the last reply or its timeout."""
        async with asyncio.TaskGroup() as requests:
            for intended, number in schedule:
                await asyncio.sleep(
                    max(intended - time.monotonic(), 0.0)
                )  # Behind schedule, the one before leaves now.
                while (wait := intended - time.monotonic()) > 0:  # A timer may fire up to a millisecond early.
                    await asyncio.sleep(wait)
                requests.create_task(self._send(intended, number))

    async def back_to_back(self, at_once: int, until: float, numbers: Iterator[int]) -> None:
        """Keep `at_once` requests under way until this moment: a closed loop, only to measure the capacity."""
        async with asyncio.TaskGroup() as clients:
            for _ in range(at_once):
                clients.create_task(self._one_after_another(until, numbers))

    async def _one_after_another(self, until: float, numbers: Iterator[int]) -> None:
        while (now := time.monotonic()) < until:
            await self._send(now, next(numbers))

    async def _send(self, intended: float, number: int) -> None:
        sent, job = time.monotonic(), number % len(self._jobs)
        self.under_way += 1
        reply = await self._client.post(self._jobs[job])
        self.under_way -= 1
        self._recorder.note(job, intended, sent, time.monotonic(), reply)


REPORT_SECONDS = 0.5
SPARE_FILES = 64
NICENESS = -10
"""Priority of the generator where the system allows it: its clock must not wait for the service under test."""


class GeneratorConfig(msgspec.Struct, frozen=True):
    """The work of one generator process. `at_once` above 0: a closed loop for `seconds`, to measure the capacity."""

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
    """The number of connections that the limit of open files allows, raised as far as permitted."""
    raise_open_files()
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
