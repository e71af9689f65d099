"""The metrics of all processes of one service, added up: as Prometheus' text format, or as values.

prometheus-client keeps each process's values in files of one folder (`PROMETHEUS_MULTIPROC_DIR`) and sums them here.
"""

from __future__ import annotations

from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition() -> bytes:
    """The metrics of all processes in Prometheus' text format."""
    return generate_latest(_all_processes())


def series() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """The values of all processes: (sample name, sorted labels) → value."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in _all_processes().collect()
        for sample in metric.samples
    }


def forget_process(process: int, folder: Path) -> None:
    """Drop the live gauges of a process that has ended; its counters stay in the sums."""
    mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]


def _all_processes() -> CollectorRegistry:
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry
