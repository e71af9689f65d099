"""Tasks by the second: against one task event by event, and against sums that must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infra.scaling.capacity import Capacity
from loadtest.simulator.service_model import ServiceModel, model_of
from loadtest.simulator.single_task import Document, LatencyTable, SingleTask, latency_table
from loadtest.simulator.task_group import Tally, TaskGroup
from service.core.worker_load import DecayingSum

CAPACITY = Capacity(documents_per_second=50.0, tokens_per_second=20_000.0, slo_ms=500.0)
MODEL = replace(model_of(CAPACITY), max_queue_seconds=2.0)


@pytest.fixture(scope="module")
def table() -> LatencyTable:
    return latency_table(MODEL)


def group(table: LatencyTable, tasks: int, model: ServiceModel = MODEL) -> TaskGroup:
    made = TaskGroup(model, table, Tally())
    for number in range(tasks):
        made.join(number)
    return made


def test_latency_grows_with_utilization(table: LatencyTable) -> None:
    medians = table.seconds[:-1, 100]
    assert medians[-2] > 2 * medians[0]
    assert table.busy_at(np.array([0.5]))[0] > 0.5
    assert table.busy_at(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_the_work_ratio_is_the_services_own(table: LatencyTable) -> None:
    tasks, own = group(table, 1), DecayingSum()
    for second in range(40):
        tasks.second(35.0, 1.0)
        for part in range(35):
            own.add(1 / 50.0, second + part / 35)
    assert tasks.work_ratio[0] == pytest.approx(own.per_second(40.0), rel=0.01)


def test_documents_are_kept_refused_or_lost_and_nothing_else(table: LatencyTable) -> None:
    tasks, refused = group(table, 2), 0.0
    for _ in range(100):
        refused += tasks.second(150.0, 1.0)
    answered = tasks._tally.documents
    assert answered + refused == pytest.approx(15_000.0)
    assert answered == pytest.approx(100 * 100.0 + 2 * 2.0 * 50.0, rel=0.01), "what was done, and two full queues"
    assert tasks.queue == pytest.approx([2.0, 2.0])


def test_least_outstanding_sends_to_new_tasks_until_queues_are_level(table: LatencyTable) -> None:
    tasks = group(table, 2)
    for _ in range(3):
        tasks.second(160.0, 1.0)
    before = tasks.queue.copy()
    tasks.join(7)
    tasks.second(40.0, 1.0)
    assert tasks.queue[:2] == pytest.approx(before - 1.0), "nothing new came to those that are behind"


def test_without_a_task_documents_are_lost(table: LatencyTable) -> None:
    tasks = group(table, 0)
    tasks.second(10.0, 1.0)
    assert tasks.lost == 10.0


@pytest.mark.parametrize("load", [0.5, 0.9, 1.3])
def test_seconds_agree_with_events(table: LatencyTable, load: float) -> None:
    """The same documents, event by event with the service's scheduler, and by the second.

    With a queue the seconds are on the safe side: fair sharing lets documents of one window go before longer ones.
    """
    draw = np.random.default_rng(4)
    count = int(load * 50 * 240)
    times = np.sort(draw.uniform(0, 240, count))
    lengths = MODEL.documents.lengths(count, draw)
    exact = SingleTask(MODEL).run(Document(a, b) for a, b in zip(times.tolist(), lengths.tolist(), strict=True))
    kept = [each.latency_seconds for each in exact if not each.refused]
    tasks, refused = group(table, 1), 0.0
    for number in np.bincount(times.astype(int), minlength=240):
        refused += tasks.second(float(number), 1.0)
    assert refused / count == pytest.approx(1 - len(kept) / count, abs=0.025)
    for share, within in ((0.5, 0.35), (0.99, 0.35)):
        expected = float(np.quantile(kept, share))
        assert tasks._tally.quantile(table, share) == pytest.approx(expected, rel=within, abs=0.03)
