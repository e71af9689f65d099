"""The kinds of metric that the processes make: counters, histograms and gauges, none in prometheus-client's registry.

Each process writes its values into files; `exposition` adds them up. A metric's name, labels and help text are an
interface: dashboards, alarms and `service/publisher` refer to them.
"""

from __future__ import annotations

from typing import Literal

from prometheus_client import Counter, Gauge, Histogram

from service.metrics.files import keep_in_allocated_files

keep_in_allocated_files()


def counter(name: str, text: str, *labels: str) -> Counter:
    """A counter; the processes' values are added up."""
    return Counter(name, text, labels, registry=None)


def gauge(name: str, text: str, *labels: str) -> Gauge:
    """A gauge whose latest value counts, even after its process has ended."""
    return Gauge(name, text, labels, multiprocess_mode="mostrecent", registry=None)


def gauge_by_model(name: str, text: str, *more_labels: str) -> Gauge:
    """A gauge that disappears with its engine process, because the next one may serve other models."""
    return Gauge(name, text, ("model", *more_labels), multiprocess_mode="livemostrecent", registry=None)


def gauge_of_workers(name: str, text: str, *, together: Literal["livesum", "livemax"]) -> Gauge:
    """A gauge that each worker has: its sum or its maximum over those that live."""
    return Gauge(name, text, (), multiprocess_mode=together, registry=None)


def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
    """A histogram; the processes' buckets are added up."""
    return Histogram(name, text, labels, buckets=buckets, registry=None)
