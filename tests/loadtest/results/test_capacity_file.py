"""The file capacity.json: fits of batch latency, stable names, and what the scaling policy reads."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from infra.scaling.capacity import read_capacity
from infra.scaling.policy import targets_for
from loadtest.generator.sampler import MetricsSample
from loadtest.results.capacity_file import BatchLatencyFit, describe, from_answers, from_metrics
from loadtest.results.knee import Knee, evaluate
from tests.support.load_records import steady


def test_the_fit_of_batches_is_found_from_three_counters() -> None:
    draw = np.random.default_rng(1)
    busy = batches = tokens = 0.0
    samples = []
    for second in range(40):
        samples.append(MetricsSample(second, {"busy_seconds": busy, "batches": batches, "tokens": tokens}))
        new, size = float(draw.integers(3, 12)), float(draw.integers(50, 2_000))
        batches, tokens = batches + new, tokens + new * size
        busy += new * 0.004 + new * size * 8e-5 + draw.normal(0, 1e-4)
    fit = from_metrics(samples)
    assert fit is not None
    assert fit.base_seconds == pytest.approx(0.004, rel=0.1)
    assert fit.seconds_per_token == pytest.approx(8e-5, rel=0.01)
    assert fit.typical_error < 0.01


def test_the_fit_of_single_documents_is_found_from_answers() -> None:
    tokens = np.arange(20, 500, 20, dtype=np.float64)
    fit = from_answers(tokens, 0.01 + 5e-5 * tokens)
    assert fit is not None
    assert [fit.base_seconds, fit.seconds_per_token] == pytest.approx([0.01, 5e-5])


def test_without_compute_times_there_is_no_fit() -> None:
    assert from_metrics([]) is None
    assert from_answers(np.ones(50), np.full(50, np.nan)) is None


KNEE = Knee(40.0, 42.0, (evaluate(40.0, steady(40, 20, 100), 500), evaluate(42.0, steady(42, 20, 600), 500)))
CAPACITY = describe(
    KNEE,
    slo_ms=500,
    saturated=50.0,
    tokens_per_document=150.0,
    service_time=BatchLatencyFit(0.004, 8e-5, "metrics", 0.99),
    start_seconds=4.2,
    measured={},
)


def test_the_scaling_policy_reads_capacity_json() -> None:
    read = read_capacity(msgspec.json.encode(CAPACITY).decode())
    assert (read.documents_per_second, read.tokens_per_second, read.slo_ms) == (40.0, 6_000.0, 500)
    assert read.saturated_documents_per_second == 50.0


def test_the_names_in_capacity_json_are_stable() -> None:
    found = json.loads(msgspec.json.encode(CAPACITY))
    assert found["format"] == 1
    assert found["service_time"]["base_seconds"] == 0.004
    assert found["service_time"]["seconds_per_token"] == 8e-5
    assert found["start_seconds"] == 4.2
    assert found["p99_ms"] == pytest.approx(KNEE.trials[0].p99_ms)
    assert [trial["word"] for trial in found["knee"]] == ["holds", "fails"]


def test_advice_follows_from_the_figures() -> None:
    advice = {each.name: each.value for each in CAPACITY.recommended}
    assert advice["GLEANER_QUEUE_LIMIT_TOKENS"] == 50 * 150 * 0.5
    assert advice["GLEANER_MAX_QUEUE_MS"] == 500
    assert "GLEANER_DEADLINE_MS" not in advice, "a long document would be refused for being long"
    assert advice["scaling.work_ratio"] == pytest.approx(0.8 * 40 / 50)
    assert advice["scaling.documents_per_second_each"] == pytest.approx(0.8 * 40)


def test_targets_are_those_that_the_stacks_compute_from_the_file() -> None:
    advice = {each.name: each.value for each in CAPACITY.recommended}
    targets = targets_for(read_capacity(msgspec.json.encode(CAPACITY).decode()))
    assert advice["scaling.work_ratio"] == targets.work_ratio
    assert advice["scaling.backlog_seconds"] == targets.backlog_seconds
    assert advice["scaling.queue_depth"] == targets.queue_depth
    assert all(each.reason for each in CAPACITY.recommended)
