"""What the service says of itself while it is loaded: /metrics once a second, and its processes where they are ours.

A thread of its own; a scrape that fails is a gap, never an error. Metric names are data here: nothing else in the load
test knows them.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx

from loadtest.telemetry.exposition import Scrape, read
from loadtest.telemetry.process_usage import usage

EVERY_SECONDS = 1.0
GAUGES = {
    "queue_documents": "gleaner_queue_documents",
    "queue_tokens": "gleaner_queue_tokens",
    "oldest_age_seconds": "gleaner_queue_oldest_age_seconds",
    "backlog_seconds": "gleaner_backlog_seconds",
    "work_ratio": "gleaner_work_ratio",
    "capacity_tokens_per_second": "gleaner_capacity_tokens_per_second",
    "gpu_utilization": "gleaner_gpu_utilization_ratio",
    "gpu_memory_bytes": "gleaner_gpu_memory_used_bytes",
}
COUNTERS = {
    "busy_seconds": "gleaner_busy_seconds_total",
    "batches": "gleaner_batches_total",
    "tokens": "gleaner_tokens_total",
    "engine_starts": "gleaner_engine_starts_total",
}
REFUSALS = "gleaner_refusals_total"


@dataclass(frozen=True, slots=True)
class MetricsSample:
    """One look: seconds since the start of the run, and values by our short names."""

    at: float
    values: dict[str, float]
    refusals: dict[str, float] = field(default_factory=dict)


class MetricsSampler:
    """Looks once a second between enter and exit."""

    def __init__(self, url: str, process: Callable[[], int | None], origin: float) -> None:
        self._url = url
        self._process = process
        self._origin = origin
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.moments: list[MetricsSample] = []

    def __enter__(self) -> MetricsSampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(10)

    def aim(self, url: str) -> None:
        """The service is at another place now."""
        self._url = url

    def _run(self) -> None:
        with httpx.Client(timeout=5.0) as client:
            while not self._over.wait(EVERY_SECONDS):
                moment = take_sample(client, self._url, self._process(), time.monotonic() - self._origin)
                if moment.values:
                    self.moments.append(moment)


def take_sample(client: httpx.Client, url: str, process: int | None, at: float) -> MetricsSample:
    """What can be seen now; no values if nothing answers."""
    values: dict[str, float] = {}
    refusals: dict[str, float] = {}
    scrape = fetch(client, url)
    if scrape is not None:
        for name, metric in {**GAUGES, **COUNTERS}.items():
            if (value := scrape.total(metric)) is not None:
                values[name] = value
        refusals = scrape.by(REFUSALS, "code")
    if process is not None:
        used = usage(process)
        values.update(memory_bytes=float(used.memory_bytes), open_files=float(used.open_files))
        values.update(cpu_seconds=used.cpu_seconds, processes=float(used.processes))
    return MetricsSample(at, values, refusals)


def fetch(client: httpx.Client, url: str) -> Scrape | None:
    """The service's metrics; None if it has none."""
    try:
        answer = client.get(f"{url}/metrics")
    except httpx.HTTPError:
        return None
    return read(answer.text) if answer.status_code == 200 else None


def rates(moments: list[MetricsSample], name: str) -> list[tuple[float, float]]:
    """How fast a counter grew between looks, per second; a restart, which sets it back, is a gap."""
    known = [(moment.at, moment.values[name]) for moment in moments if name in moment.values]
    pairs = itertools.pairwise(known)
    return [(b, (y - x) / (b - a)) for (a, x), (b, y) in pairs if y >= x and b > a]
