"""Tasks by the second: against one task event by event, and against sums that must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from infra.scaling.alarm_evaluation import Comparison, Condition, Point, Series, Statistic
from infra.scaling.capacity import Capacity
from loadtest.simulator.service_model import ServiceModel, model_of
from loadtest.simulator.single_task import LEVELS, Document, LatencyTable, SingleTask, latency_table
from loadtest.simulator.task_group import Tally, TaskGroup, points
from service.core.worker_load import DecayingSum
from service.signals.catalog import QUEUE_DEPTH

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


def test_latency_grows_with_utilization_and_the_device_looks_busier_than_it_is(table: LatencyTable) -> None:
    medians = table.seconds[:-1, 100]
    assert medians[-2] > 2 * medians[0]
    assert table.busy_at(np.array([0.5]))[0] > 0.5
    assert table.busy_at(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]


def test_a_calm_stretch_is_the_same_as_its_seconds(table: LatencyTable) -> None:
    counts, lengths = np.array([30.0, 42.0, 12.0, 0.0, 44.0]), np.array([1.0, 1.0, 2.0, 1.0, 1.0])
    at_once, one_by_one = group(table, 2), group(table, 2)
    assert at_once.calm_seconds(counts, lengths)
    for count, length in zip(counts, lengths, strict=True):
        one_by_one.second(count, length)
    assert at_once.asked == pytest.approx(one_by_one.asked)
    assert at_once._tally.answered == pytest.approx(one_by_one._tally.answered)


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


def test_three_points_stand_for_all(table: LatencyTable) -> None:
    values = np.array([3.0, 1.0, 7.0, 2.0, 2.0])
    short, full = Series(), Series()
    for point in points(values, 5.0):
        short.put(QUEUE_DEPTH, point)
    for value in values:
        full.put(QUEUE_DEPTH, Point(5.0, float(value)))
    for statistic in (Statistic.AVERAGE, Statistic.SUM, Statistic.MINIMUM, Statistic.MAXIMUM, Statistic.SAMPLE_COUNT):
        asked = Condition(QUEUE_DEPTH, statistic, Comparison.ABOVE, 0.0)
        assert short.statistic(asked, 0.0, 10.0) == pytest.approx(full.statistic(asked, 0.0, 10.0))


def test_the_highest_level_is_for_queues_only(table: LatencyTable) -> None:
    tasks = group(table, 1)
    tasks.second(49.0, 1.0)
    assert tasks._tally.answered[LEVELS - 1].sum() == 0.0
    tasks.second(60.0, 1.0)
    assert tasks._tally.answered[LEVELS - 1].sum() == pytest.approx(60.0)
