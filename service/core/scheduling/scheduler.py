"""Scheduler: admits documents into the queue and forms batches out of it. Knows no clock, socket or tensor.

The rules:
- Every submission ends exactly once: refused at admission, or admitted and later delivered, expired or cancelled.
- A batch never mixes models, and its shape is one that the memory budget admits.
- Admission refuses what does not fit the queue and what could not be finished before its deadline (`admission`).
- Models by weight, then clients by weight, then documents share by tokens (`fair_queue`), so that a long document
  cannot block short ones. A sequence that no longer fits the batch is passed over: short sequences fill the gaps.
- A client's urgent documents go first, and late ones are refused (`deadline_plan`).
- Clients with a small backlog may get a batch of their own (`small_backlog`).
- A document that an engine died on runs alone until it is finished, so that it cannot harm others a second time.

Time is passed in. An opaque payload travels with each document from its admission to its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Generic, TypeVar

from service.core.admission.policy import refuse, too_long
from service.core.memory.budget import MemoryBudget
from service.core.scheduling.admission import Admission
from service.core.scheduling.deadline_plan import DeadlinePlan, DeadlineTracker, Waiting
from service.core.scheduling.fair_queue import FairShareQueue, client_of
from service.core.scheduling.queue_accounting import ModelQueueStats, QueueOccupancy, QueueStats
from service.core.scheduling.small_backlog import small_backlogs
from service.core.types import Batch, Load, Priority, Refusal, Sequence, Shape, Submission

LOOK_AHEAD = 32
"""Most documents that are tried for a gap before the batch is closed."""

Payload = TypeVar("Payload")


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """`queue_tokens`: most tokens that may wait. `wait_seconds`: longest wait before a document's first batch."""

    queue_tokens: int
    wait_seconds: float = math.inf


@dataclass(slots=True)
class _Document(Generic[Payload]):
    submission: Submission
    payload: Payload | None
    admitted_seconds: float
    waiting_tokens: int
    admitted_tokens_per_second: float | None
    next_index: int = 0
    delivered: int = 0

    def next_sequence(self) -> Sequence:
        return Sequence(self.submission.key, self.next_index, self.submission.lengths[self.next_index])

    @property
    def waits(self) -> bool:
        return self.next_index < len(self.submission.lengths)


class Scheduler(Generic[Payload]):
    """The queue in front of one device."""

    def __init__(self, limits: QueueLimits) -> None:
        self.limits = limits
        self._documents: dict[str, _Document[Payload]] = {}
        self._fair_share = FairShareQueue()
        self._stats = QueueStats()
        self._deadlines = DeadlineTracker()
        self._occupancy = QueueOccupancy(limits.queue_tokens)
        self._admission = Admission(self._occupancy, self._stats, self._deadlines, limits.wait_seconds)
        self._running_tokens = 0

    def __len__(self) -> int:
        return len(self._documents)

    def __iter__(self) -> Iterator[str]:
        """Iterate over a copy of all admitted keys; the queue may change meanwhile."""
        return iter(list(self._documents))

    def payload(self, key: str) -> Payload | None:
        """Look up the payload of an admitted document; None for an unknown key."""
        document = self._documents.get(key)
        return None if document is None else document.payload

    def client(self, key: str) -> str | None:
        """Look up a document's client; None for an unknown key."""
        document = self._documents.get(key)
        return None if document is None else document.submission.client

    def set_weight(self, model: str, weight: float | None) -> None:
        """Set a model's weight, which is its share of device and queue; None removes it."""
        self._stats.set_weight(model, weight)

    def admit(
        self, submission: Submission, now: float, tokens_per_second: float | None, payload: Payload | None = None
    ) -> Refusal | None:
        """Admit a document, or return why it is refused. A key that is admitted already is left as it is."""
        if submission.key in self._documents:
            return None
        refusal = self._admission.refusal_for(submission, self._running_tokens, now, tokens_per_second)
        if refusal is None:
            self._enqueue(_Document(submission, payload, now, submission.tokens, tokens_per_second), now)
        return refusal

    def cancel(self, key: str) -> Payload | None:
        """Remove a document and return its payload; None for an unknown key. Sequences in flight are not stopped."""
        document = self._documents.get(key)
        if document is None:
            return None
        self._dequeue(document)
        self._forget(document)
        return document.payload

    def expire(
        self, now: float, tokens_per_second: float | None, alone: Callable[[str], float | None] = lambda _: None
    ) -> list[tuple[Refusal, Payload | None]]:
        """Remove the documents that can no longer meet their deadlines; also determines which are urgent.

        One that has the engine to itself is late only by the speed that it was admitted by too: the present one may be
        that of a bad moment, and nobody waits for its place.

        Args:
            alone: speed of the device with nothing but work of a model, None while unknown: by it a document that was
                admitted, and would be late on an idle engine as well, is known to be too long for its deadline.
        """
        if not self._deadlines.is_old(now):
            return []
        speed = tokens_per_second or math.inf
        if len(self._documents) == 1:
            (only,) = self._documents.values()
            speed = max(speed, only.admitted_tokens_per_second or 0.0, alone(only.submission.model) or 0.0)
        plan = self._make_plan(now, speed)
        late = [self._documents[key].submission for key in plan.late]
        payloads = [self.cancel(key) for key in plan.late]
        wait = self._admission.seconds_of_work(tokens_per_second)
        refusals = [_refusal_of_late(submission, alone(submission.model), wait) for submission in late]
        return list(zip(refusals, payloads, strict=True))

    def next_batch(self, memory: MemoryBudget) -> Batch | None:
        """Form the next batch, of the model that fair sharing serves next; None when nothing waits."""
        return next(filter(None, (self.next_batch_of(model, memory) for model in self.models())), None)

    def models(self) -> list[str]:
        return self._fair_share.models()

    def next_batch_of(self, model: str, memory: MemoryBudget, *, mixed: bool = True) -> Batch | None:
        """Form the next batch of one model; None when nothing of it waits, or the budget admits nothing of it.

        Args:
            mixed: take any documents; else only those with the priority of the next one.
        """
        first = next(self._fair_share.clients(model), None)
        priority = None if mixed or first is None else first[0][1]
        return self._batch(model, tuple(self._fill(model, memory, lambda: self._fair_share.documents(model, priority))))

    def is_batch_work(self, batch: Batch) -> bool:
        return all(submission.priority is Priority.BATCH for submission in self._submissions(batch))

    def interactive_batch_of(self, model: str, memory: MemoryBudget, running: Iterable[Batch]) -> Batch | None:
        """Form a batch of one model's interactive work beside others; None if there is none, or one must run alone.

        Args:
            running: the batches on the device.
        """
        if any(submission.attempt for batch in running for submission in self._submissions(batch)):
            return None
        return self._batch(model, tuple(self._fill(model, memory, lambda: self._interactive(model))))

    def _interactive(self, model: str) -> Iterator[str]:
        """Keys of the interactive documents of one model that need not run alone."""
        keys = self._fair_share.documents(model, Priority.INTERACTIVE)
        return (key for key in keys if not self._documents[key].submission.attempt)

    def small_backlog_batch_of(self, model: str, memory: MemoryBudget, running: Iterable[Batch]) -> Batch | None:
        """Form a batch of one model's clients with a small backlog (`small_backlog`); None if there are none.

        Args:
            running: the batches on the device.
        """
        served = [submission for batch in running for submission in self._submissions(batch)]
        if any(submission.attempt for submission in served):
            return None
        clients = islice(self._fair_share.clients(model), LOOK_AHEAD)
        backlogs = ((client, map(self._documents.__getitem__, keys)) for client, keys in clients)
        small = small_backlogs(backlogs, {client_of(each) for each in served}, memory.budget_tokens(model))
        if not small:
            return None
        fill = self._fill(model, memory, lambda: (each.submission.key for each in small if each.waits))
        return self._batch(model, tuple(fill))

    def delivered(self, batch: Batch) -> None:
        """Count a batch as finished; documents whose sequences are all delivered are removed."""
        self._running_tokens -= batch.tokens
        for sequence in batch.sequences:
            document = self._documents.get(sequence.key)
            if document is not None:
                document.delivered += 1
                if document.delivered == len(document.submission.lengths):
                    self._forget(document)

    def load(self, now: float) -> Load:
        """Measure the waiting documents, sequences and tokens, and the age of the oldest."""
        waiting = [document for document in self._documents.values() if document.waits]
        oldest = min((document.admitted_seconds for document in waiting), default=now)
        total = self._stats.total
        return Load(len(waiting), total.waiting_sequences, total.waiting_tokens, self._running_tokens, now - oldest)

    @property
    def waiting_tokens(self) -> int:
        """Tokens that are admitted and not launched."""
        return self._stats.total.waiting_tokens

    def stats(self, model: str) -> ModelQueueStats:
        return self._stats.of(model)

    def _batch(self, model: str, sequences: tuple[Sequence, ...]) -> Batch | None:
        if not sequences:
            return None
        batch = Batch(model, sequences)
        self._running_tokens += batch.tokens
        return batch

    def _make_plan(self, now: float, speed: float) -> DeadlinePlan:
        waiting = (
            Waiting(document.submission.deadline_seconds, key, document.admitted_seconds, document.waiting_tokens)
            for key, document in self._documents.items()
            if document.waits
        )
        plan = self._deadlines.renew(waiting, self._running_tokens, now, speed)
        self._fair_share.prioritize(self._documents[key].submission for key in plan.urgent)
        return plan

    def _enqueue(self, document: _Document[Payload], now: float) -> None:
        submission = document.submission
        self._documents[submission.key] = document
        self._deadlines.add(submission, now)
        self._stats.enter(submission.model, len(submission.lengths), document.waiting_tokens)
        self._occupancy.enter(submission)
        self._fair_share.join(submission, self._stats.weight(submission.model))

    def _forget(self, document: _Document[Payload]) -> None:
        del self._documents[document.submission.key]
        self._stats.leave(document.submission.model)
        self._occupancy.leave(document.submission)

    def _dequeue(self, document: _Document[Payload]) -> None:
        sequences = len(document.submission.lengths) - document.next_index
        self._stats.stop_waiting(document.submission.model, sequences, document.waiting_tokens)
        self._occupancy.stop_waiting(document.submission, document.waiting_tokens, 0)
        document.waiting_tokens = 0
        document.next_index = len(document.submission.lengths)
        self._fair_share.leave(document.submission)

    def _fill(self, model: str, memory: MemoryBudget, waiting: Callable[[], Iterable[str]]) -> Iterator[Sequence]:
        """Yield a batch's sequences; `waiting`: keys of the documents that may be in it, in the order of service."""
        shape, alone = Shape(), None
        while (found := self._next_fitting(waiting(), model, shape, memory, alone)) is not None:
            document, sequence, shape = found
            self._take(document, sequence)
            yield sequence
            if document.submission.attempt:
                alone = sequence.key

    def _next_fitting(
        self, waiting: Iterable[str], model: str, shape: Shape, memory: MemoryBudget, alone: str | None
    ) -> tuple[_Document[Payload], Sequence, Shape] | None:
        """Find the next document whose next sequence fits a batch of this shape, the sequence, and the larger shape."""
        for key in islice(waiting, LOOK_AHEAD):
            document = self._documents[key]
            mixes = document.submission.attempt == 0 and alone is None
            if not (mixes or not shape.sequences or document.submission.key == alone):
                continue
            sequence = document.next_sequence()
            larger = shape.plus(sequence.tokens)
            if memory.admits(model, larger):
                return document, sequence, larger
        return None

    def _submissions(self, batch: Batch) -> Iterator[Submission]:
        """Yield the submissions of a batch that were not answered yet."""
        for sequence in batch.sequences:
            if (document := self._documents.get(sequence.key)) is not None:
                yield document.submission

    def _take(self, document: _Document[Payload], sequence: Sequence) -> None:
        document.next_index += 1
        before = document.waiting_tokens
        document.waiting_tokens = before - sequence.tokens
        self._occupancy.stop_waiting(document.submission, before, document.waiting_tokens)
        self._stats.stop_waiting(document.submission.model, 1, sequence.tokens)
        if document.waits:
            self._fair_share.charge(document.submission, sequence.tokens)
        else:
            self._fair_share.leave(document.submission, sequence.tokens)


def _refusal_of_late(submission: Submission, alone: float | None, wait_seconds: float | None) -> Refusal:
    decision = too_long(submission.tokens, alone, submission.allowed_seconds)
    if not decision.refuses:
        detail = "the deadline could not be met any more while the document waited"
        decision = refuse("deadline_exceeded", detail, wait_seconds)
    return Refusal(submission.key, decision.code, decision.detail, decision.retry_after_seconds)
