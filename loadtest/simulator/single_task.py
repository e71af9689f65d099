"""Simulator of one task, event by event, with the service's own parsers' queue, admission, scheduler and memory budget.

    arrives → ParserQueue (a file) → tokenized by a worker → Scheduler.admit → next_batch → device → answered

What is simulated is only what takes time: parsers, workers, and the device by S(tokens). As in the engine's loop, one
batch runs and a second is formed ahead only when it is full. A fleet is simulated by seconds; what happens within one,
batches and the short queues between them, is looked up in a table that such runs fill (`latency_table`).
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from loadtest.simulator.demand import Floats
from loadtest.simulator.service_model import ServiceModel
from service.core.decoding.windows import split_windows
from service.core.memory.budget import Budget, Headroom, ModelMemory
from service.core.memory.cost_model import UNMEASURED
from service.core.parser_queue import ParserQueue, QueuedFile, Step
from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.scheduling.throughput import ThroughputMeter, TimedBatch
from service.core.types import Batch, Priority, Submission

MODEL = "model"
CLIENT = "client"
FILE_BYTES = 100_000
PARSER_LIMIT_BYTES = 1 << 40
PARSER_LIMIT_SECONDS = 60.0
MOST_IN_FLIGHT = 2
LOOK = -1
"""Stands for a file when the parsers' queue itself wants to look."""


@dataclass(frozen=True, slots=True)
class Document:
    """One document: when it comes, its tokens, and what its parser needs (0 for text)."""

    at_seconds: float
    tokens: int
    parse_seconds: float = 0.0


@dataclass(slots=True)
class Answer:
    """The end of a simulated document. `refused`: the reason's code, or empty."""

    document: Document
    ended_seconds: float = math.nan
    refused: str = ""

    @property
    def latency_seconds(self) -> float:
        return self.ended_seconds - self.document.at_seconds


class Event(IntEnum):
    """A kind of event, in the order in which simultaneous ones are handled."""

    BATCH = 0
    PARSER = 1
    TOKENIZED = 2
    ARRIVAL = 3


class SingleTask:
    """One simulated task.

    Attributes:
        answers: of all documents so far, in the order in which they came.
        busy_seconds: of the device.
        waiting: samples of (time, waiting tokens, work ratio), one for each batch's end.
    """

    def __init__(self, model: ServiceModel) -> None:
        self.model = model
        self.answers: list[Answer] = []
        self.busy_seconds = 0.0
        self.waiting: list[tuple[float, int, float]] = []
        self._scheduler: Scheduler[int] = Scheduler(
            QueueLimits(int(min(model.queue_limit_tokens, 1e15)), model.max_queue_seconds)
        )
        memory = ModelMemory(UNMEASURED, model.window_tokens, model.batch_tokens)
        self._budget = Budget(Headroom(1, 1), {MODEL: memory})
        self._meter = ThroughputMeter()
        warm = TimedBatch(model.batch_tokens, model.batch_seconds(model.batch_tokens))
        self._meter.warmed(warm, full_tokens=model.batch_tokens)
        self._parsers = ParserQueue(model.parsers, PARSER_LIMIT_BYTES, PARSER_LIMIT_SECONDS, model.max_queue_seconds)
        self._files: dict[int, QueuedFile] = {}
        self._next_look = math.inf
        self._workers_free = [0.0] * model.workers
        self._in_flight: deque[Batch] = deque()
        self._open: dict[str, int] = {}
        self._events: list[tuple[float, Event, int, int]] = []
        self._sequence = 0

    def run(self, documents: Iterable[Document]) -> list[Answer]:
        """Let all documents come, and end when the last is answered."""
        for document in documents:
            self._at(document.at_seconds, Event.ARRIVAL, len(self.answers))
            self.answers.append(Answer(document))
        while self._events:
            now, event, _, number = heapq.heappop(self._events)
            if event is Event.ARRIVAL:
                self._arrive(number, now)
            elif event is Event.PARSER:
                self._parser_looks(number, now)
            elif event is Event.TOKENIZED:
                self._submit(number, now)
            else:
                self._batch_ended(now)
        return self.answers

    def _at(self, seconds: float, event: Event, number: int) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (seconds, event, self._sequence, number))

    # API workers

    def _arrive(self, number: int, now: float) -> None:
        document = self.answers[number].document
        if not document.parse_seconds:
            self._tokenize(number, now)
            return
        deadline = document.at_seconds + self.model.deadline_seconds
        file = QueuedFile(number, CLIENT, FILE_BYTES, now, deadline, self.model.documents.parse_seconds)
        decision = self._parsers.decide_on(file, now)
        if decision.refuses:
            self._refuse(number, decision.code, now)
            return
        self._parsers.join(file)
        self._files[number] = file
        self._parsers_decide(now)

    def _parser_looks(self, number: int, now: float) -> None:
        """End a file's parser, unless it was interrupted meanwhile."""
        if number == LOOK:
            self._next_look = math.inf
        file = self._files.get(number)
        if file is not None:
            work = self.answers[number].document.parse_seconds
            if file.state == "running" and file.ran_seconds + now - file.charged_until >= work - 1e-9:
                self._parsers.leave(number, now)
                del self._files[number]
                self._tokenize(number, now)
        self._parsers_decide(now)

    def _parsers_decide(self, now: float) -> None:
        for step, number in self._parsers.decide(now):
            file = self._files[number]
            if step in (Step.START, Step.RESUME):
                left = self.answers[number].document.parse_seconds - file.ran_seconds
                self._at(now + max(left, 0.0), Event.PARSER, number)
            elif step is Step.MEASURE:
                self._parsers.note_processor_seconds(number, file.ran_seconds)
            elif step in (Step.TIME_OUT, Step.STALL, Step.GIVE_UP):
                del self._files[number]
                self._refuse(number, "queue_full" if step is Step.GIVE_UP else "deadline_exceeded", now)
        look = self._parsers.next_look(now)
        if look is not None and look < self._next_look:
            self._next_look = max(look, now + 1e-6)
            self._at(self._next_look, Event.PARSER, LOOK)

    def _tokenize(self, number: int, now: float) -> None:
        begun = max(now, heapq.heappop(self._workers_free))
        ended = begun + self.model.documents.text_seconds
        heapq.heappush(self._workers_free, ended)
        self._at(ended, Event.TOKENIZED, number)

    # Engine

    def _submit(self, number: int, now: float) -> None:
        document = self.answers[number].document
        model, key = self.model, str(number)
        windows = split_windows(document.tokens, window=model.window_tokens, overlap=model.overlap_tokens)
        lengths = tuple(window.stop - window.start for window in windows)
        deadline = document.at_seconds + model.deadline_seconds
        submission = Submission(key, MODEL, lengths, CLIENT, Priority.INTERACTIVE, deadline)
        self._meter.arrived(submission.tokens, now)
        refusal = self._scheduler.admit(submission, now, self._meter.tokens_per_second)
        if refusal is not None:
            self._meter.refused(submission.tokens, now)
            self._refuse(number, refusal.code, now)
            return
        self._open[key] = len(lengths)
        self._launch(now)

    def _launch(self, now: float) -> None:
        while self._scheduler.waiting_tokens and self._accepts():
            batch = self._scheduler.next_batch(self._budget)
            if batch is None:
                return
            self._in_flight.append(batch)
            if len(self._in_flight) == 1:
                self._begin(now)

    def _accepts(self) -> bool:
        running = len(self._in_flight)
        is_full = self._scheduler.waiting_tokens >= self.model.batch_tokens
        return not running or (running < MOST_IN_FLIGHT and is_full)

    def _begin(self, now: float) -> None:
        self._at(now + self.model.batch_seconds(self._in_flight[0].tokens), Event.BATCH, 0)

    def _batch_ended(self, now: float) -> None:
        batch = self._in_flight.popleft()
        seconds = self.model.batch_seconds(batch.tokens)
        self.busy_seconds += seconds
        self._meter.computed(batch.tokens, now - seconds, now, full_tokens=self.model.batch_tokens)
        self._scheduler.delivered(batch)
        for sequence in batch.sequences:
            if sequence.key in self._open:
                self._open[sequence.key] -= 1
                if not self._open[sequence.key]:
                    del self._open[sequence.key]
                    self.answers[int(sequence.key)].ended_seconds = now + self.model.overhead_seconds
        if self._in_flight:
            self._begin(now)
        for refusal, _ in self._scheduler.expire(now, self._meter.tokens_per_second):
            self._open.pop(refusal.key, None)
            self._refuse(int(refusal.key), refusal.code, now)
        self._launch(now)
        self.waiting.append((now, self._scheduler.waiting_tokens, self._meter.work_ratio(now)))

    def _refuse(self, number: int, code: str, now: float) -> None:
        answer = self.answers[number]
        answer.refused, answer.ended_seconds = code, now + self.model.overhead_seconds


LEVELS = 20
"""Levels of utilization; the last is a task with a queue, whose documents wait for those ahead, then for batches."""
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
        wait_factors: by quantile, a document's wait divided by the work ahead of it: fair sharing lets a document of
            one window go first, and interleaves the windows of a long one with later documents.
    """

    seconds: Floats
    busy: Floats
    wait_factors: Floats

    def busy_at(self, utilization: Floats) -> Floats:
        """The device's busy share at these utilizations."""
        busy: Floats = np.interp(utilization, _UTILIZATIONS, [0.0, *self.busy[:-1].tolist(), 1.0])
        return busy


def level_of(utilization: float) -> int:
    """The level of a task without a queue."""
    return min(int(utilization * LEVELS), LEVELS - 2)


def latency_table(model: ServiceModel) -> LatencyTable:
    """The table of a task; its stages are those of the model, its limits do not matter here."""
    probabilities = _probabilities()
    seconds, busy = np.zeros((LEVELS, QUANTILES)), np.ones(LEVELS)
    for level in range(LEVELS - 1):
        draw = np.random.default_rng([1, level])
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
    # A document that has waited needs the rest of the running batch, its own batch, parsing and tokenizing.
    before = model.documents.parse_seconds + model.documents.text_seconds + model.overhead_seconds
    seconds[-1] = full * (1 + probabilities) + before
    return LatencyTable(seconds, busy, _wait_factors(model, seconds[-1], np.random.default_rng([1, LEVELS])))


def _wait_factors(model: ServiceModel, after: Floats, draw: np.random.Generator) -> Floats:
    """Measure factors in a run with more than the task can do, where the limit's full amount is ahead of everyone."""
    limited = replace(model, max_queue_seconds=WAIT_SECONDS, queue_limit_tokens=math.inf, deadline_seconds=1e6)
    times = np.cumsum(draw.exponential(model.document_seconds / TOO_MUCH, OVERLOADED))
    lengths = model.documents.lengths(OVERLOADED, draw)
    parse = draw.exponential(model.documents.parse_seconds, OVERLOADED)
    rows = zip(times.tolist(), lengths.tolist(), parse.tolist(), strict=True)
    answers = SingleTask(limited).run(Document(*row) for row in rows)[OVERLOADED // 3 : OVERLOADED * 5 // 6]
    found = np.quantile([each.latency_seconds for each in answers if not each.refused], _probabilities())
    waits: Floats = np.maximum(found - after, 0.0) / WAIT_SECONDS
    return waits


def _probabilities() -> Floats:
    return (np.arange(QUANTILES, dtype=np.float64) + 0.5) / QUANTILES
