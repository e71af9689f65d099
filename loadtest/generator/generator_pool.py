"""The generator processes of one run: started together, followed to their end, and their records merged."""

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
from loadtest.generator.generator_process import (
    GeneratorConfig,
    GeneratorMessage,
    GeneratorProgress,
    GeneratorReady,
    GeneratorStats,
)
from loadtest.generator.records import Records, load, merge
from loadtest.scenario.scenario import Scenario, most_per_second

LEAD_SECONDS = 0.2
"""Seconds from the moment at which all processes are ready to the first request."""
RATE_OF_ONE = 1_000.0
"""Requests per second of one process, which take about a third of a core."""

_messages = msgspec.json.Decoder(GeneratorMessage)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The URL of a service, with the API key of each tenant."""

    url: str
    keys: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class GeneratorRun:
    """The records of a run, the last report of each process, and the start on the monotonic clock."""

    records: Records
    stats: tuple[GeneratorStats, ...]
    start: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of all processes together, every half second."""

    elapsed: float
    sent: int
    ok: int
    refused: int
    failed: int
    open: int
    latencies_ms: tuple[float, ...]
    lag_ms: float


class GeneratorPool:
    """Generator processes of one run; leaving the context kills those that still run."""

    def __init__(
        self, endpoint: Endpoint, scenario: Scenario, *, processes: int = 0, at_once: int = 0, seconds: float = 0
    ) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="gleaner-load-")
        self._count = processes or processes_for(most_per_second(scenario) if not at_once else 0.0)
        self.start = 0.0
        self._latest: dict[int, GeneratorProgress] = {}
        self._recent: list[GeneratorProgress] = []
        self._ready: set[int] = set()
        self._stats: dict[int, GeneratorStats] = {}
        self._lines: queue.SimpleQueue[tuple[int, bytes]] = queue.SimpleQueue()
        self._config = GeneratorConfig(endpoint.url, scenario, 0, self._count, "", endpoint.keys, at_once, seconds)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._readers: list[threading.Thread] = []

    def __enter__(self) -> GeneratorPool:
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
        for reader in self._readers:
            reader.join()  # Its pipe has ended with the process.
        for process in self._processes:
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()
        self._home.cleanup()

    def redirect(self, url: str) -> None:
        """Send new requests to this URL from now on."""
        for process in self._processes:
            self._write(process, url.encode())

    def follow(self, on_progress: Callable[[RunProgress], None]) -> GeneratorRun:
        """Wait for the end of all processes and report their progress on the way.

        Raises:
            LoadtestError: a process died.
        """
        while len(self._stats) < self._count:
            self._take_line()
            if len(self._recent) >= self._count:
                on_progress(self._progress())
        records = merge(load(self._file(share)) for share in range(self._count))
        return GeneratorRun(records, tuple(self._stats[share] for share in range(self._count)), self.start)

    def _begin(self) -> None:
        for share in range(self._count):
            process = subprocess.Popen(
                [sys.executable, "-m", "loadtest.generator.generator_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._processes.append(process)
            config = msgspec.structs.replace(self._config, share=share, records=str(self._file(share)))
            self._write(process, msgspec.json.encode(config))
            self._readers.append(threading.Thread(target=self._read_lines, args=(share, process), daemon=True))
            self._readers[-1].start()
        while len(self._ready) < self._count:
            self._take_line()
        self.start = time.monotonic() + LEAD_SECONDS
        for process in self._processes:
            self._write(process, repr(self.start).encode())

    def _take_line(self) -> None:
        share, line = self._lines.get()
        if not line:
            if share not in self._stats:
                raise LoadtestError("a generator process died; its output on stderr has the reason")
            return
        message = _messages.decode(line)
        if isinstance(message, GeneratorReady):
            self._ready.add(share)
        elif isinstance(message, GeneratorStats):
            self._stats[share] = message
        else:
            self._latest[share] = message
            self._recent.append(message)

    def _progress(self) -> RunProgress:
        recent, self._recent = self._recent, []
        latest = self._latest.values()
        return RunProgress(
            time.monotonic() - self.start,
            sum(each.sent for each in latest),
            sum(each.ok for each in latest),
            sum(each.refused for each in latest),
            sum(each.failed for each in latest),
            sum(each.open for each in latest),
            tuple(value for each in recent for value in each.latencies_ms),
            max((each.lag_ms for each in recent), default=0.0),
        )

    def _read_lines(self, share: int, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put((share, line))
        self._lines.put((share, b""))

    def _file(self, share: int) -> Path:
        return Path(self._home.name) / f"{share}.npz"

    @staticmethod
    def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
        assert process.stdin is not None
        process.stdin.write(line + b"\n")
        process.stdin.flush()


def processes_for(rate: float) -> int:
    """The number of processes that a rate needs; at most one per core."""
    return max(1, min(math.ceil(rate / RATE_OF_ONE), os.cpu_count() or 1))
