"""Metrics as tests read them: the value of one."""

from __future__ import annotations

from typing import Any


def value(metric: Any, **labels: str) -> float:
    """The sum of a metric's samples with exactly these labels."""
    samples = next(iter(metric.collect())).samples
    return float(sum(each.value for each in samples if each.labels == labels and not each.name.endswith("_created")))
