"""Process metrics: CPU time, memory and open files, under the names of Prometheus' clients.

prometheus-client exports them of the one process that answers. Here each process of the service counts its own, and a
worker those of its parsers, so the label `process` and a sum stand for all of them, and CPU time outlives its process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from prometheus_client import Gauge, ProcessCollector

from service.metrics.prometheus import counter, gauge_of_processes

_CPU = "process_cpu_seconds"


class ProcessMetrics:
    """Metrics of this process, and of all below it if `children` names them; empty without /proc."""

    def __init__(self, name: str, *, children: str = "") -> None:
        self.cpu_seconds = counter(_CPU, "Seconds of CPU time, of all processes of a kind.", "process")
        self.resident_bytes = gauge_of_processes(
            "process_resident_memory_bytes", "Bytes in memory, shared pages in each.", "process", together="livesum"
        )
        self.open_files = gauge_of_processes(
            "process_open_fds", "Open files, of processes that show them.", "process", together="livesum"
        )
        self.most_files = gauge_of_processes(
            "process_max_fds", "Most open files, of processes that show them.", "process", together="livesum"
        )
        self.start_seconds = gauge_of_processes(
            "process_start_time_seconds", "Unix time at which the latest one started.", "process", together="livemax"
        )
        self._gauges: dict[Gauge, Callable[[list[float]], float]] = {
            self.resident_bytes: sum,
            self.open_files: sum,
            self.most_files: sum,
            self.start_seconds: partial(max, default=0.0),
        }
        self._name, self._children = name, children
        self._counted: dict[int, float] = {}
        self._process = 0
        self._reader = ProcessCollector(pid=lambda: self._process, registry=None)

    def update(self) -> None:
        """Set all gauges and count the CPU time since the last update."""
        kinds = {self._name: [os.getpid()]}
        if self._children:
            kinds[self._children] = list(_below(os.getpid()))
        used: dict[int, float] = {}
        for kind, processes in kinds.items():
            read = {process: self._read(process) for process in processes}
            cpu = {process: values[_CPU] for process, values in read.items() if values}
            self.cpu_seconds.labels(kind).inc(sum(max(cpu[each] - self._counted.get(each, 0.0), 0.0) for each in cpu))
            used |= cpu
            for gauge, together in self._gauges.items():
                values = [each[gauge._name] for each in read.values() if gauge._name in each]
                gauge.labels(kind).set(together(values))
        self._counted = used

    def _read(self, process: int) -> dict[str, float]:
        """Read a process's values by name; none if it has ended."""
        self._process = process
        with suppress(OSError, ValueError):
            return {metric.name: metric.samples[0].value for metric in self._reader.collect()}
        return {}


def _below(process: int) -> Iterator[int]:
    """Yield the processes that any thread of this one has started, and theirs."""
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, children.read_text().split()):
                yield child
                yield from _below(child)
