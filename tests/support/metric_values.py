"""Metrics as tests read them: those that an object holds, and the value of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from prometheus_client import Metric
from prometheus_client.metrics import MetricWrapperBase

from service.metrics.bulk import BulkMetrics
from service.metrics.engine import EngineMetrics, GpuMetrics
from service.metrics.worker import WorkerMetrics
from service.publisher.loop import PublisherMetrics

ALL_METRICS = (WorkerMetrics, EngineMetrics, GpuMetrics, PublisherMetrics, BulkMetrics)


def value(metric: Any, **labels: str) -> float:
    """The sum of a metric's samples with exactly these labels."""
    samples = next(iter(metric.collect())).samples
    return float(sum(each.value for each in samples if each.labels == labels and not each.name.endswith("_created")))


def instruments(metrics: object) -> Iterator[MetricWrapperBase]:
    """The counters, gauges and histograms that an object holds, those of its groups included."""
    for each in vars(metrics).values():
        if isinstance(each, MetricWrapperBase):
            yield each
        elif hasattr(each, "__dict__"):
            yield from instruments(each)


def collected(metrics: object) -> list[Metric]:
    """Every metric that an object holds, as it is exposed."""
    return [metric for each in instruments(metrics) for metric in each.collect()]


def signatures(metrics: object) -> list[tuple[str, ...]]:
    """Name, kind and labels of every metric that an object holds; prometheus-client has no public way to the labels."""
    return [(each._name, str(each._type), *each._labelnames) for each in instruments(metrics)]


def exported_names() -> set[str]:
    """The names of all metrics of the service, without the suffixes of their samples (`_total`, `_bucket`, …)."""
    return {metric.name for kind in ALL_METRICS for metric in collected(kind())}
