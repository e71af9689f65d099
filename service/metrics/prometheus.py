"""Prometheus metrics of several processes: makes them, keeps their values in files, and sums over all processes.

Each process keeps its values in files of one folder (`PROMETHEUS_MULTIPROC_DIR`), none in prometheus-client's registry.
A metric's name, labels and help text are an interface: dashboards, alarms and `service/publisher` refer to them.

prometheus-client maps sparse files: on a full disk the first write to a page kills the process (SIGBUS). Here the space
is allocated before a file is mapped; without space the values go on in memory, left out of the sums.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import BinaryIO, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

FIRST_BYTES = 1 << 16
_ENTRY_BYTES = 32
"""Most bytes of an entry beyond its key: length, padding, value and time."""
_UNUSED = 8
"""Used bytes of an empty file: the header, which holds only this number."""


class AllocatedValues(MmapedDict):
    """Values of one kind of metric of one process, by key."""

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        self._in_file = read_mode or _make(filename)
        if self._in_file:
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]
            return
        self._f: BinaryIO = open(os.devnull, "rb")  # noqa: SIM115
        self._fname = filename
        self._capacity = FIRST_BYTES
        self._m = mmap.mmap(-1, FIRST_BYTES)
        self._m[:4] = _UNUSED.to_bytes(4, "little")
        self._used = _UNUSED
        self._positions: dict[str, int] = {}

    def _init_value(self, key: str) -> None:
        while self._used + len(key.encode()) + _ENTRY_BYTES > self._capacity:
            self._grow(2 * self._capacity)
        super()._init_value(key)  # type: ignore[no-untyped-call]

    def _grow(self, size: int) -> None:
        """Map more of the file, or, on a full disk, copy the values into memory."""
        old = self._m
        self._in_file = self._in_file and _allocate(self._f.fileno(), size)
        if self._in_file:
            self._m = mmap.mmap(self._f.fileno(), size)
        else:
            self._m = mmap.mmap(-1, size)
            self._m[: self._capacity] = old[: self._capacity]
        self._capacity = size


def _make(filename: str) -> bool:
    """Make the file, under its name only once its space is there: other processes read files with that name."""
    if os.path.exists(filename):
        return True
    unnamed = f"{filename}.new"
    try:
        with open(unnamed, "wb") as file:
            if _allocate(file.fileno(), FIRST_BYTES):
                os.rename(unnamed, filename)
                return True
        os.unlink(unnamed)
    except OSError:
        pass
    return False


def _allocate(descriptor: int, size: int) -> bool:
    """Give a file this size, with space on the disk for all of it; returns False when there is none."""
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, size)
        else:
            have = os.fstat(descriptor).st_size
            os.pwrite(descriptor, bytes(size - have), have)
    except OSError:
        return False
    return True


setattr(values, MmapedDict.__name__, AllocatedValues)


REFUSALS_TEXT = (
    "Documents refused by the engine, but for `too_long_for_deadline`, and requests refused while no engine answers."
)
"""Help text of a counter that the engine and the workers share."""


def counter(name: str, text: str, *labels: str) -> Counter:
    """Make a counter; the processes' values are added up."""
    return Counter(name, text, labels, registry=None)


def gauge(name: str, text: str, *labels: str) -> Gauge:
    """Make a gauge whose latest value counts, even after its process has ended."""
    return Gauge(name, text, labels, multiprocess_mode="mostrecent", registry=None)


def gauge_by_model(name: str, text: str, *more_labels: str) -> Gauge:
    """Make a gauge that disappears with its engine process, because the next one may serve other models.

    In every metric `model` is a model's name, and `revision` the digest of one revision of it.
    """
    return Gauge(name, text, ("model", *more_labels), multiprocess_mode="livemostrecent", registry=None)


def gauge_of_processes(name: str, text: str, *labels: str, together: Literal["livesum", "livemax"]) -> Gauge:
    """Make a gauge that several processes have: its sum or its maximum over those that live."""
    return Gauge(name, text, labels, multiprocess_mode=together, registry=None)


def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    """Make a histogram; the processes' buckets are added up."""
    return Histogram(name, text, labels, buckets=buckets, registry=None)


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition() -> bytes:
    """Write the metrics of all processes in Prometheus' text format."""
    return generate_latest(_all_processes())


def series() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read the values of all processes: (sample name, sorted labels) → value."""
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
