"""Who is let in, and what runs next. Owns the queue; knows neither clock, socket nor tensor: time is passed in.

The rules:
- Every submission is answered once: admitted (and later delivered, expired or cancelled), or refused with a reason.
- A batch never mixes models and is never of a shape that the memory model does not admit.
- Who may come in is as `admission` says: what is full, and what could not be through before its deadline, is refused.
- Models (by weight), then clients, then documents share by tokens (`turns`); so a long document cannot block short
  ones. What no longer fits into a batch is passed over for what does: short sequences fill the gaps.
- A client's documents that run out of slack go first, and those that are late are refused (`deadlines`).
- A document that an engine died on runs alone until it is through, so that it can harm nobody a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from service.core.memory.budget import MemoryBudget
from service.core.scheduling.admission import Admission
from service.core.scheduling.deadline_plan import DeadlinePlan, Waiting
from service.core.scheduling.fair_share import FairShareQueue
from service.core.scheduling.promises import DeadlineTracker
from service.core.scheduling.queue_stats import ModelQueueStats, QueueStats
from service.core.types import Batch, Load, Refusal, Sequence, Shape, Submission

LOOK_AHEAD = 32
"""Documents that are tried for a gap before the batch is closed."""


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """`queue_tokens`: most tokens that may wait."""

    queue_tokens: int


@dataclass(slots=True)
class _Document:
    submission: Submission
    admitted_seconds: float
    next_index: int = 0
    delivered: int = 0
    waiting_tokens: int = field(default=0)

    def next_sequence(self) -> Sequence:
        return Sequence(self.submission.key, self.next_index, self.submission.lengths[self.next_index])

    @property
    def waits(self) -> bool:
        return self.next_index < len(self.submission.lengths)


class Scheduler:
    """The queue in front of one device."""

    def __init__(self, limits: QueueLimits) -> None:
        self._documents: dict[str, _Document] = {}
        self._turns = FairShareQueue()
        self._books = QueueStats()
        self._promises = DeadlineTracker()
        self._admission = Admission(limits.queue_tokens, self._books, self._promises)
        self._running_tokens = 0

    def __contains__(self, key: str) -> bool:
        return key in self._documents

    def __len__(self) -> int:
        return len(self._documents)

    def weigh(self, model: str, weight: float | None) -> None:
        """Know a model's weight, which sets its share of the device and of the queue; None forgets it."""
        self._books.weigh(model, weight)

    def admit(self, submission: Submission, now: float, tokens_per_second: float | None) -> Refusal | None:
        """Let a document in, or say why not. A key that is in already is let be (a repeated message)."""
        if submission.key in self._documents:
            return None
        refusal = self._admission.reason_against(submission, self._running_tokens, now, tokens_per_second)
        if refusal is None:
            self._enqueue(submission, now)
        return refusal

    def cancel(self, key: str) -> bool:
        """Forget a document; what of it is running runs on, and its result will find nobody."""
        document = self._documents.get(key)
        if document is not None:
            self._dequeue(document)
            self._forget(document)
        return document is not None

    def expire(self, now: float, tokens_per_second: float | None) -> list[Refusal]:
        """Refuse those whose deadline can no longer be met, and note who must hurry now."""
        if not self._promises.is_old(now):
            return []
        plan = self._make_plan(now, tokens_per_second or float("inf"))
        for key in plan.late:
            self.cancel(key)
        wait = self._admission.seconds_of_work(tokens_per_second)
        detail = "the deadline could not be met any more while the document waited"
        return [Refusal(key, "deadline_exceeded", detail, retry_after_seconds=wait) for key in plan.late]

    def next_batch(self, memory: MemoryBudget) -> Batch | None:
        """The fairest sequences of one model that the memory model admits together; None when nothing waits."""
        return next(filter(None, (self.next_batch_of(model, memory) for model in self.models())), None)

    def models(self) -> list[str]:
        """The models that have work waiting, the most deserving first."""
        return self._turns.models()

    def next_batch_of(self, model: str, memory: MemoryBudget) -> Batch | None:
        """The same for one model; None also when nothing of it is admitted."""
        sequences = tuple(self._fill(model, memory))
        if not sequences:
            return None
        batch = Batch(model, sequences)
        self._running_tokens += batch.tokens
        return batch

    def delivered(self, batch: Batch) -> None:
        """Note that a batch is through; documents of which nothing is left are forgotten."""
        self._running_tokens -= batch.tokens
        for sequence in batch.sequences:
            document = self._documents.get(sequence.key)
            if document is not None:
                document.delivered += 1
                if document.delivered == len(document.submission.lengths):
                    self._forget(document)

    def load(self, now: float) -> Load:
        """What waits at this moment."""
        waiting = [document for document in self._documents.values() if document.waits]
        oldest = min((document.admitted_seconds for document in waiting), default=now)
        total = self._books.total
        return Load(len(waiting), total.waiting_sequences, total.waiting_tokens, self._running_tokens, now - oldest)

    @property
    def waiting_tokens(self) -> int:
        """Tokens that are admitted and not launched."""
        return self._books.total.waiting_tokens

    def account(self, model: str) -> ModelQueueStats:
        """What one model has in the queue."""
        return self._books.of(model)

    def _make_plan(self, now: float, speed: float) -> DeadlinePlan:
        waiting = (
            Waiting(document.submission.deadline_seconds, key, document.admitted_seconds, document.waiting_tokens)
            for key, document in self._documents.items()
            if document.waits
        )
        plan = self._promises.renew(waiting, self._running_tokens, now, speed)
        self._turns.hurry(self._documents[key].submission for key in plan.urgent)
        return plan

    def _enqueue(self, submission: Submission, now: float) -> None:
        document = _Document(submission, now, waiting_tokens=submission.tokens)
        if not document.waits:
            return
        self._documents[submission.key] = document
        self._promises.add(submission)
        self._books.enter(submission.model, len(submission.lengths), submission.tokens)
        self._turns.join(submission, self._books.weight(submission.model))

    def _forget(self, document: _Document) -> None:
        del self._documents[document.submission.key]
        self._books.leave(document.submission.model)

    def _dequeue(self, document: _Document) -> None:
        sequences = len(document.submission.lengths) - document.next_index
        self._books.stop_waiting(document.submission.model, sequences, document.waiting_tokens)
        document.waiting_tokens = 0
        document.next_index = len(document.submission.lengths)
        self._turns.leave(document.submission)

    def _fill(self, model: str, memory: MemoryBudget) -> Iterator[Sequence]:
        shape, alone = Shape(), None
        while (document := self._fairest(model, shape, memory, alone)) is not None:
            sequence = document.next_sequence()
            self._take(document, sequence)
            shape = shape.plus(sequence.tokens)
            yield sequence
            if document.submission.attempt:
                alone = sequence.key

    def _fairest(self, model: str, shape: Shape, memory: MemoryBudget, alone: str | None) -> _Document | None:
        for key in islice(self._turns.documents(model), LOOK_AHEAD):
            document = self._documents[key]
            mixes = document.submission.attempt == 0 and alone is None
            if not (mixes or not shape.sequences or document.submission.key == alone):
                continue
            if memory.admits(model, shape.plus(document.next_sequence().tokens)):
                return document
        return None

    def _take(self, document: _Document, sequence: Sequence) -> None:
        self._turns.charge(document.submission, sequence.tokens)
        document.next_index += 1
        document.waiting_tokens -= sequence.tokens
        self._books.stop_waiting(document.submission.model, 1, sequence.tokens)
        if not document.waits:
            self._turns.leave(document.submission)
