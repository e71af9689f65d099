"""The generator processes of one run: started, followed, told where to aim, and their records put together."""

from __future__ import annotations

import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from loadtest.errors import LoadtestError
from loadtest.records.records import Records, load, merge
from loadtest.runner.generator_process import (
    GeneratorConfig,
    GeneratorMessage,
    GeneratorProgress,
    GeneratorReady,
    GeneratorStats,
)
from loadtest.scenario.scenario import Scenario, most_per_second

LEAD_SECONDS = 0.2
"""Between the word that all are ready and the first request."""
RATE_OF_ONE = 2_000.0
"""Requests per second that one process is asked for (BENCHMARKS.md: it can do several times that)."""

_said = msgspec.json.Decoder(GeneratorMessage)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the load goes, with the API key of each tenant."""

    url: str
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorRun:
    """What a run gave: its records, what each process said of itself, and its start on the monotonic clock."""

    records: Records
    accounts: tuple[GeneratorStats, ...]
    start: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How it goes, all processes together; handed out every half second."""

    elapsed: float
    sent: int
    ok: int
    refused: int
    failed: int
    open: int
    latencies_ms: tuple[float, ...]
    lag_ms: float


class GeneratorPool:
    """Generator processes at work. Its context ends them, whatever happens."""

    def __init__(
        self, aim: Endpoint, scenario: Scenario, *, processes: int = 0, at_once: int = 0, seconds: float = 0
    ) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="gleaner-load-")
        self._count = processes or processes_for(most_per_second(scenario) if not at_once else 0.0)
        self.start = 0.0
        self._latest: dict[int, GeneratorProgress] = {}
        self._fresh: list[GeneratorProgress] = []
        self._ready: set[int] = set()
        self._accounts: dict[int, GeneratorStats] = {}
        self._heard: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._order = GeneratorConfig(aim.url, scenario, 0, self._count, "", aim.keys, at_once, seconds)
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> GeneratorPool:
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        for share in range(self._count):
            process = subprocess.Popen(
                [sys.executable, "-m", "loadtest.runner.generator_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._processes.append(process)
            order = msgspec.structs.replace(self._order, share=share, records=str(self._file(share)))
            self._write(process, msgspec.json.encode(order))
            threading.Thread(target=self._hear, args=(share, process), daemon=True).start()
        while len(self._ready) < self._count:
            self._listen()
        self.start = time.monotonic() + LEAD_SECONDS
        for process in self._processes:
            self._write(process, repr(self.start).encode())

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()
        self._home.cleanup()

    def aim(self, url: str) -> None:
        """New requests go there from now on."""
        for process in self._processes:
            self._write(process, url.encode())

    def follow(self, tick: Callable[[RunProgress], None]) -> GeneratorRun:
        """Wait for the end and hand out how it goes.

        Raises:
            LoadtestError: a process died.
        """
        while len(self._accounts) < self._count:
            self._listen()
            if len(self._fresh) >= self._count:
                tick(self._tick())
        records = merge(load(self._file(share)) for share in range(self._count))
        return GeneratorRun(records, tuple(self._accounts[share] for share in range(self._count)), self.start)

    def _listen(self) -> None:
        share, line = self._heard.get()
        if not line:
            if share not in self._accounts:
                raise LoadtestError("a generator process died; what it printed says why")
            return
        said = _said.decode(line)
        if isinstance(said, GeneratorReady):
            self._ready.add(share)
        elif isinstance(said, GeneratorStats):
            self._accounts[share] = said
        else:
            self._latest[share] = said
            self._fresh.append(said)

    def _tick(self) -> RunProgress:
        fresh, self._fresh = self._fresh, []
        latest = self._latest.values()
        return RunProgress(
            time.monotonic() - self.start,
            sum(each.sent for each in latest),
            sum(each.ok for each in latest),
            sum(each.refused for each in latest),
            sum(each.failed for each in latest),
            sum(each.open for each in latest),
            tuple(value for each in fresh for value in each.latencies_ms),
            max((each.lag_ms for each in fresh), default=0.0),
        )

    def _hear(self, share: int, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._heard.put((share, line))
        self._heard.put((share, b""))

    def _file(self, share: int) -> Path:
        return Path(self._home.name) / f"{share}.npz"

    @staticmethod
    def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(line + b"\n")
        process.stdin.flush()


def processes_for(rate: float) -> int:
    """How many processes a rate needs; never more than the machine has cores."""
    return max(1, min(math.ceil(rate / RATE_OF_ONE), os.cpu_count() or 1))
