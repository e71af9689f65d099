"""Serving tasks, second by second: who gets what comes, what waits, what is refused, what each task publishes. Pure.

A task's queue is what its busiest stage still has to do, in seconds. Its signals are the service's: asked-for work
with the service's own horizon, refused work counted, the other stages in proportion. The balancer is AWS's: least
outstanding requests, which levels the queues. A tally counts documents by wait and utilization, from which latencies
follow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from loadtest.simulator.alarm_evaluation import Point, Series
from loadtest.simulator.demand import Floats
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.single_task import LEVELS, LatencyTable, level_of
from service.core.worker_load import HORIZON_SECONDS
from service.signals.catalog import (
    BACKLOG_SECONDS,
    GPU_UTILIZATION,
    OLDEST_AGE_SECONDS,
    PERIOD_SECONDS,
    QUEUE_DEPTH,
    WORK_RATIO,
    Signal,
)

FIRST_WAIT_SECONDS = 0.01
LAST_WAIT_SECONDS = 600.0
WAITS = 240
_STEP = math.log(LAST_WAIT_SECONDS / FIRST_WAIT_SECONDS) / (WAITS - 1)
WAIT_SECONDS = np.concatenate([[0.0], FIRST_WAIT_SECONDS * np.exp(_STEP * np.arange(WAITS))])
"""Each bin's wait; the first is for none."""


class Tally:
    """Answered documents by `[level, wait]`, and the refused."""

    def __init__(self) -> None:
        self.answered = np.zeros((LEVELS, WAITS + 1))
        self.refused = 0.0

    def add(self, level: int, count: float) -> None:
        """Documents that did not wait for a queue."""
        self.answered[level, 0] += count

    def add_waits(self, levels: npt.NDArray[np.int64], waits: Floats, counts: Floats) -> None:
        """Documents of several tasks."""
        scaled = np.log(np.maximum(waits, FIRST_WAIT_SECONDS * 1e-3) / FIRST_WAIT_SECONDS) / _STEP
        bins = np.clip(np.rint(scaled) + 1, 0, WAITS).astype(np.int64)
        np.add.at(self.answered, (levels, bins), counts)

    def take_back(self, count: float) -> float:
        """Take documents that waited out of the answered; returns how many, at most those that waited."""
        waited = self.answered[-1]
        taken = min(count, float(waited.sum()))
        if taken:
            waited *= 1 - taken / waited.sum()
        return taken

    @property
    def documents(self) -> float:
        return float(self.answered.sum())

    def quantile(self, table: LatencyTable, share: float) -> float:
        """Seconds within which this share of the answered documents had their answer."""
        seconds, weights = self._spread(table)
        order = np.argsort(seconds)
        reached = np.cumsum(weights[order])
        if not len(reached) or not reached[-1]:
            return math.nan
        return float(seconds[order][np.searchsorted(reached, share * reached[-1])])

    def late(self, table: LatencyTable, limit_seconds: float) -> float:
        """Answered documents that took longer."""
        seconds, weights = self._spread(table)
        return float(weights[seconds > limit_seconds].sum())

    def _spread(self, table: LatencyTable) -> tuple[Floats, Floats]:
        levels, waits = np.nonzero(self.answered)
        latencies = WAIT_SECONDS[waits][:, None] * table.wait_factors + table.seconds[levels]
        weights = np.repeat(self.answered[levels, waits] / latencies.shape[1], latencies.shape[1])
        return latencies.ravel(), weights


NEARLY_FULL = 0.999
DECAY = math.exp(-1 / HORIZON_SECONDS)
FRESH = math.exp(-0.5 / HORIZON_SECONDS)
"""Weight, at a second's end, of the work that came in its course: on average half a second old."""
FADING = FRESH * np.power(DECAY, np.arange(PERIOD_SECONDS)[::-1])
"""Weights, at a period's end, of the work that came in each of its seconds."""


class TaskGroup:
    """The serving tasks, in the order in which they came.

    Attributes:
        names: of the tasks; the arrays have the same order.
        queue: seconds of work that wait, `[tasks]`.
        asked, refused: decaying sums of seconds of work, `[tasks]`.
        done: work of the last second, `[tasks]`: how busy the stage was.
        lost: documents that came while no task served.
        room_seconds: of the tasks together, that interactive work has left since somebody set it to zero.
        is_filled: whether bulk work takes that room, so that whatever comes waits for the rest of a full batch.
    """

    def __init__(self, model: ServiceModel, table: LatencyTable, tally: Tally) -> None:
        self._model, self._table, self._tally = model, table, tally
        self._limit = model.wait_limit_seconds
        self._device_share = model.device_seconds / model.document_seconds
        self.names: list[int] = []
        self.queue, self.asked, self.refused, self.done = (np.zeros(0) for _ in range(4))
        self.lost = self.room_seconds = 0.0
        self.is_filled = False

    def __len__(self) -> int:
        return len(self.names)

    def join(self, name: int) -> None:
        """Let a task serve."""
        self.names.append(name)
        for each in ("queue", "asked", "refused", "done"):
            setattr(self, each, np.append(getattr(self, each), 0.0))

    def leave(self, name: int) -> None:
        """Send a task no more requests; those that it has are answered as they were counted when they came."""
        place = self.names.index(name)
        self.names.remove(name)
        for each in ("queue", "asked", "refused", "done"):
            setattr(self, each, np.delete(getattr(self, each), place))

    def fail(self, name: int) -> float:
        """Remove a task with what waits on it; returns these documents, which nobody answers."""
        waiting = float(self.queue[self.names.index(name)]) / self._model.document_seconds
        self.leave(name)
        return self._tally.take_back(waiting)

    def calm_seconds(self, counts: Floats, lengths: Floats) -> bool:
        """Let documents come for a period or less, if no queue forms in any second; else nothing is done: False."""
        if not self.names or self.queue.max() > 0:
            return False
        work = counts * lengths * (self._model.document_seconds / len(self.names))
        if work.max() > NEARLY_FULL:
            return False
        weights = FADING[-len(work) :]
        faded = math.pow(DECAY, len(work))
        self.asked = self.asked * faded + float((work * weights).sum())
        self.refused = self.refused * faded
        self.done = np.full(len(self.names), work.mean())
        self.room_seconds += float((1 - work).sum()) * len(self.names)
        for count, each in zip(counts.tolist(), work.tolist(), strict=True):
            self._tally.add(LEVELS - 1 if self.is_filled else level_of(each), count)
        return True

    def second(self, count: float, length: float) -> float:
        """Let documents come for a second; returns how many of them were refused."""
        if not self.names:
            self.lost += count
            return 0.0
        each = self._model.document_seconds * length
        work = self._shared(count * each)
        after = self.queue + work - 1.0
        over = np.clip(after - self._limit, 0.0, work) if self._limit < math.inf else np.zeros_like(after)
        left = np.maximum(after - over, 0.0)
        admitted = (work - over) / each
        waits = (self.queue + left) / 2
        is_behind = (self.queue > 0) | (left > 0) | self.is_filled
        levels = np.where(is_behind, LEVELS - 1, np.minimum((work * LEVELS).astype(np.int64), LEVELS - 2))
        self._tally.add_waits(levels, waits, admitted)
        self.done = np.minimum(self.queue + work - over, 1.0)
        self.room_seconds += float((1 - self.done).sum())
        self.queue = left
        self.asked = self.asked * DECAY + work * FRESH
        self.refused = self.refused * DECAY + over * FRESH
        return float(over.sum() / each)

    def _shared(self, work: float) -> Floats:
        """Each task's part: by least outstanding requests, the shortest queues are filled up to one level."""
        number = len(self.names)
        if self.queue.max() == self.queue.min():
            return np.full(number, work / number)
        ordered = np.sort(self.queue)
        levels = (work + np.cumsum(ordered)) / np.arange(1, number + 1)
        filled = int(np.argmax(levels <= np.append(ordered[1:], math.inf)))
        parts: Floats = np.maximum(levels[filled] - self.queue, 0.0)
        return parts

    # What the tasks publish

    @property
    def work_ratio(self) -> Floats:
        """Arriving work over capacity, of the busiest stage."""
        return self.asked / HORIZON_SECONDS

    @property
    def backlog_seconds(self) -> Floats:
        """Seconds of queued and recently refused work."""
        return self.queue + self.refused

    @property
    def queue_depth(self) -> Floats:
        return self.queue / self._model.document_seconds

    @property
    def oldest_seconds(self) -> Floats:
        """Age of the oldest that waits: under a steady load, as long as it still would."""
        return self.queue

    @property
    def gpu_percent(self) -> Floats:
        """NVML's utilization: a batching server's device is busy long before it is full."""
        if self.is_filled:
            return np.full(len(self.names), 100.0)
        return 100.0 * self._table.busy_at(np.minimum(self.done * self._device_share, 1.0))


def publish(series: Series, tasks: TaskGroup, now: float, same_of_all: Mapping[Signal, float] | None = None) -> None:
    """Put the signals of all serving tasks; without a task there are none, as in CloudWatch.

    Args:
        same_of_all: signals of which each task publishes one value.
    """
    if not len(tasks):
        return
    values: tuple[tuple[Signal, Floats], ...] = (
        (WORK_RATIO, tasks.work_ratio),
        (BACKLOG_SECONDS, tasks.backlog_seconds),
        (QUEUE_DEPTH, tasks.queue_depth),
        (OLDEST_AGE_SECONDS, tasks.oldest_seconds),
        (GPU_UTILIZATION, tasks.gpu_percent),
    )
    for signal, found in values:
        for point in points(found, now):
            series.put(signal, point)
    for signal, value in (same_of_all or {}).items():
        series.put(signal, Point(now, value, len(tasks)))


def points(values: Floats, now: float) -> list[Point]:
    """Points with the statistics of all values, three at most."""
    each: list[float] = values.tolist()  # For so few, numpy's own take several times as long.
    low, high, others = min(each), max(each), len(each) - 2
    if low == high:
        return [Point(now, low, len(each))]
    found = [Point(now, low), Point(now, high)]
    if others:
        found.append(Point(now, (sum(each) - low - high) / others, others))
    return found
