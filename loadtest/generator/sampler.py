"""Metrics sampler: scrapes the service's /metrics once a second during a run, and its processes where they are ours.

It runs in a thread of its own. A failed scrape is a gap in the samples, never an error: the load test needs no metrics.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import httpx
from prometheus_client.parser import text_string_to_metric_families

from loadtest.service_process import usage
from service.signals.points import Snapshot, total

INTERVAL_SECONDS = 1.0
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


@dataclass(frozen=True, slots=True)
class MetricsSample:
    """One sample: its time in seconds since the start of the run, and values by short name."""

    at: float
    values: dict[str, float]


class MetricsSampler:
    """Takes a sample once a second while its context is open."""

    def __init__(self, url: str, process: Callable[[], int | None], origin: float) -> None:
        self._url = url
        self._process = process
        self._origin = origin
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.samples: list[MetricsSample] = []

    def __enter__(self) -> MetricsSampler:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join(10)

    def redirect(self, url: str) -> None:
        self._url = url

    def _run(self) -> None:
        with httpx.Client(timeout=5.0) as client:
            while not self._stopped.wait(INTERVAL_SECONDS):
                sample = take_sample(client, self._url, self._process(), time.monotonic() - self._origin)
                if sample.values:
                    self.samples.append(sample)


def take_sample(client: httpx.Client, url: str, process: int | None, at: float) -> MetricsSample:
    """A sample of the service at `url` and of the tree under `process`; without values if neither responds."""
    values: dict[str, float] = {}
    snapshot = scrape(client, url)
    if snapshot is not None:
        for name, metric in {**GAUGES, **COUNTERS}.items():
            if (value := total(snapshot, metric)) is not None:
                values[name] = value
    if process is not None:
        used = usage(process)
        values.update(memory_bytes=float(used.memory_bytes), open_files=float(used.open_files))
        values.update(cpu_seconds=used.cpu_seconds, processes=float(used.processes))
    return MetricsSample(at, values)


def scrape(client: httpx.Client, url: str) -> Snapshot | None:
    """The metrics of the service at `url`; None if it does not respond or exports none."""
    try:
        answer = client.get(f"{url}/metrics")
    except httpx.HTTPError:
        return None
    return parse_metrics(answer.text) if answer.status_code == 200 else None


def parse_metrics(text: str) -> Snapshot | None:
    """The series in Prometheus' text format, as of now; None if the text is in another format."""
    try:
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    except ValueError:
        return None
    values = {(sample.name, tuple(sorted(sample.labels.items()))): float(sample.value) for sample in samples}
    return Snapshot(time.monotonic(), time.time(), values)


def rates(samples: list[MetricsSample], name: str) -> list[tuple[float, float]]:
    """A counter's increase per second between samples; no point where it fell, because the service was restarted."""
    known = [(sample.at, sample.values[name]) for sample in samples if name in sample.values]
    pairs = itertools.pairwise(known)
    return [(b, (y - x) / (b - a)) for (a, x), (b, y) in pairs if y >= x and b > a]
