"""Metrics samples: what is read from /metrics and from processes, and a counter's rates."""

from __future__ import annotations

import os

import httpx

from loadtest.generator.sampler import (
    MetricsSample,
    parse_metrics,
    rates,
    take_sample,
)
from service.signals.points import total
from tests.support.local_http import Reply, http_server

TEXT = """# HELP gleaner_refusals_total Refusals.
# TYPE gleaner_refusals_total counter
gleaner_refusals_total{code="queue_full"} 3.0
gleaner_refusals_total{code="deadline_exceeded",pid="7"} 2
gleaner_refusals_total{code="deadline_exceeded",pid="8"} 1.5e1 1700000000
gleaner_queue_documents 4.0
odd{label="a \\"quoted\\" one, with } and ,"} 1
"""


def test_series_are_summed_by_name() -> None:
    snapshot = parse_metrics(TEXT)
    assert snapshot is not None
    assert total(snapshot, "gleaner_queue_documents") == 4
    assert total(snapshot, "gleaner_refusals_total") == 20
    assert total(snapshot, "odd", label='a "quoted" one, with } and ,') == 1
    assert total(snapshot, "none") is None


def test_a_sample_has_values_by_short_name() -> None:
    with http_server(lambda _: Reply(TEXT.encode())) as url, httpx.Client() as client:
        found = take_sample(client, url, None, 2.0)
    assert found == MetricsSample(2.0, {"queue_documents": 4.0})


def test_where_nothing_responds_only_the_processes_are_sampled() -> None:
    with httpx.Client() as client:
        assert take_sample(client, "http://127.0.0.1:9", None, 1.0) == MetricsSample(1.0, {})
        values = take_sample(client, "http://127.0.0.1:9", os.getpid(), 1.0).values
    assert set(values) == {"memory_bytes", "open_files", "cpu_seconds", "processes"}
    assert values["memory_bytes"] > 1e6


def test_a_counter_that_fell_has_no_rate() -> None:
    samples = [MetricsSample(at, {"tokens": value}) for at, value in ((0, 0), (1, 10), (3, 50), (4, 5), (5, 6))]
    assert rates(samples, "tokens") == [(1, 10), (3, 20), (5, 1)]
    assert rates(samples, "batches") == []
