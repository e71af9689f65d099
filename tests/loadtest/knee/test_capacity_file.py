from __future__ import annotations

import json

import msgspec
import pytest

from infra.scaling.capacity import read_capacity
from infra.scaling.policy import targets_for
from loadtest.knee.batch_latency_fit import BatchLatencyFit
from loadtest.knee.bisection import Knee, evaluate
from loadtest.knee.capacity_file import describe
from tests.support.load_records import steady

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
