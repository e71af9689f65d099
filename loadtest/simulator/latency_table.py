"""Latency of a task that keeps up, by its utilization: a table, from event-by-event runs of one task (`single_task`).

A fleet is simulated by seconds. What happens within one, batches and the short queues between them, is looked up here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from loadtest.simulator.demand import Floats
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.single_task import Document, SingleTask

LEVELS = 20
"""Of utilization: the last one is a task with a queue, whose documents wait for what is ahead and then for batches."""
QUANTILES = 200
SAMPLED = 1_000
WARM = 150
_UTILIZATIONS = np.array([0.0, *((np.arange(LEVELS - 1) + 0.5) / LEVELS), 1.0])
"""Middles of the levels without a queue, and both ends."""
WAIT_SECONDS = 2.0
TOO_MUCH = 1.3
OVERLOADED = 6_000


@dataclass(frozen=True, slots=True)
class LatencyTable:
    """`seconds[level, quantile]`, and the share of time in which the device is busy, `busy[level]`.

    Attributes:
        turns: by quantile, what a document waits over what is ahead of it: fair sharing lets one of a single window go
            before, and the windows of a long one take turns with what comes later.
    """

    seconds: Floats
    busy: Floats
    turns: Floats

    def busy_at(self, utilization: Floats) -> Floats:
        """The device's busy share at these utilizations."""
        busy: Floats = np.interp(utilization, _UTILIZATIONS, [0.0, *self.busy[:-1].tolist(), 1.0])
        return busy


def level_of(utilization: float) -> int:
    """The level of a task without a queue."""
    return min(int(utilization * LEVELS), LEVELS - 2)


def latency_table(model: ServiceModel, seed: int = 1) -> LatencyTable:
    """The table of a task; its stages are those of the model, its limits do not matter here."""
    probabilities = _probabilities()
    seconds, busy = np.zeros((LEVELS, QUANTILES)), np.ones(LEVELS)
    for level in range(LEVELS - 1):
        draw = np.random.default_rng([seed, level])
        rate = (level + 0.5) / LEVELS / model.document_seconds
        times = np.cumsum(draw.exponential(1 / rate, SAMPLED))
        lengths = model.documents.lengths(SAMPLED, draw)
        parse = draw.exponential(model.documents.parse_seconds, SAMPLED)
        task = SingleTask(model)
        rows = zip(times.tolist(), lengths.tolist(), parse.tolist(), strict=True)
        answers = task.run(Document(*row) for row in rows)[WARM:]
        found = [each.latency_seconds for each in answers if not each.refused]
        seconds[level] = np.quantile(found, probabilities)
        busy[level] = min(task.busy_seconds / times[-1], 1.0)
    full = model.batch_seconds(model.batch_tokens)
    # Whoever has waited goes into the next batch: the rest of one that runs, its own, and the front.
    front = model.documents.parse_seconds + model.documents.text_seconds + model.overhead_seconds
    seconds[-1] = full * (1 + probabilities) + front
    return LatencyTable(seconds, busy, _turns(model, seconds[-1], np.random.default_rng([seed, LEVELS])))


def _turns(model: ServiceModel, after: Floats, draw: np.random.Generator) -> Floats:
    """From a run with more than the task can do, in which as much is ahead of everyone as the limit lets."""
    limited = replace(model, max_queue_seconds=WAIT_SECONDS, queue_limit_tokens=math.inf, deadline_seconds=1e6)
    times = np.cumsum(draw.exponential(model.document_seconds / TOO_MUCH, OVERLOADED))
    lengths = model.documents.lengths(OVERLOADED, draw)
    parse = draw.exponential(model.documents.parse_seconds, OVERLOADED)
    rows = zip(times.tolist(), lengths.tolist(), parse.tolist(), strict=True)
    answers = SingleTask(limited).run(Document(*row) for row in rows)[OVERLOADED // 3 : OVERLOADED * 5 // 6]
    found = np.quantile([each.latency_seconds for each in answers if not each.refused], _probabilities())
    turns: Floats = np.maximum(found - after, 0.0) / WAIT_SECONDS
    return turns


def _probabilities() -> Floats:
    return (np.arange(QUANTILES, dtype=np.float64) + 0.5) / QUANTILES
