"""Who is let in, and what runs next. Owns the queue; knows neither clock, socket nor tensor: time is passed in.

The rules:
- Every submission is answered once: admitted (and later delivered, expired or cancelled), or refused with a reason.
- A batch never mixes models and is never of a shape that the memory model does not admit.
- Models (by weight), then clients, then documents share by tokens, as in `fair_queue`; so a long document cannot block
  short ones. What no longer fits into a batch is passed over for what does: short sequences fill the gaps.
- When the queue is full, a model that waits with less than its share of it is let in all the same: no model can shut
  the door on the others. So at most twice the limit waits.
- Who is let in with a deadline is through before it, unless the device slows down: the door counts what must be done
  until then, with a reserve, and a client's documents that run out of slack go first (`deadlines`).
- A document that an engine died on runs alone until it is through, so that it can harm nobody a second time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from service.core.books import Account, Books
from service.core.deadlines import Plan, Waiting, make_plan
from service.core.fair_queue import FairQueue
from service.core.memory import MemoryModel
from service.core.sequence import Batch, Load, Priority, Refusal, Sequence, Shape, Submission

Client = tuple[str, Priority]

WEIGHTS = {Priority.INTERACTIVE: 1.0, Priority.BATCH: 1 / 16}
LOOK_AHEAD = 32
"""Documents that are tried for a gap before the batch is closed."""
RESERVE = 4 / 3
"""What waits is taken for so much more: batches are whole, speeds vary, and answers need a moment on their way."""
PLAN_SECONDS = 0.02
"""A plan holds for so long; making one costs time in proportion to what waits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`queue_tokens`: most tokens that may wait."""

    queue_tokens: int


@dataclass(slots=True)
class _Document:
    submission: Submission
    admitted_seconds: float
    next_index: int = 0
    delivered: int = 0
    waiting_tokens: int = field(default=0)

    @property
    def client(self) -> Client:
        return (self.submission.client, self.submission.priority)

    def next_sequence(self) -> Sequence:
        return Sequence(self.submission.key, self.next_index, self.submission.lengths[self.next_index])

    @property
    def waits(self) -> bool:
        return self.next_index < len(self.submission.lengths)


class Scheduler:
    """The queue in front of one device."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._documents: dict[str, _Document] = {}
        self._models: FairQueue[str] = FairQueue()
        self._clients: dict[str, FairQueue[Client]] = defaultdict(FairQueue)
        self._queues: dict[tuple[str, Client], FairQueue[str]] = defaultdict(FairQueue)
        self._books = Books()
        self._running_tokens = 0
        self._plan = Plan()
        self._next_plan_seconds = float("-inf")
        self._since_plan: list[Submission] = []
        self._urgent: dict[tuple[str, Client], list[str]] = {}

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
        refusal = self._reason_against(submission, now, tokens_per_second)
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
        if now < self._next_plan_seconds:
            return []
        self._make_plan(now, tokens_per_second or float("inf"))
        for key in self._plan.late:
            self.cancel(key)
        wait = self._seconds_of_work(tokens_per_second)
        detail = "the deadline could not be met any more while the document waited"
        return [Refusal(key, "deadline_exceeded", detail, retry_after_seconds=wait) for key in self._plan.late]

    def next_batch(self, memory: MemoryModel) -> Batch | None:
        """The fairest sequences of one model that the memory model admits together; None when nothing waits."""
        return next(filter(None, (self.next_batch_of(model, memory) for model in self.models())), None)

    def models(self) -> list[str]:
        """The models that have work waiting, the most deserving first."""
        return list(self._models.in_order())

    def next_batch_of(self, model: str, memory: MemoryModel) -> Batch | None:
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

    def account(self, model: str) -> Account:
        """What one model has in the queue."""
        return self._books.of(model)

    def _reason_against(self, submission: Submission, now: float, tokens_per_second: float | None) -> Refusal | None:
        speed = tokens_per_second or float("inf")
        over = self.waiting_tokens + submission.tokens - self._limits.queue_tokens
        if over > 0 and self.waiting_tokens and not self._within_share(submission):
            detail = f"{self.waiting_tokens} tokens wait; the limit is {self._limits.queue_tokens}"
            return Refusal(submission.key, "queue_full", detail, retry_after_seconds=over / speed)
        needed = (self._tokens_before(submission) + submission.tokens) / speed
        if now + needed > submission.deadline_seconds:
            left = max(submission.deadline_seconds - now, 0.0)
            detail = f"about {needed:.1f} s are needed and {left:.1f} s are left"
            wait = self._seconds_of_work(tokens_per_second)
            return Refusal(submission.key, "deadline_exceeded", detail, retry_after_seconds=wait)
        pushing = submission.tokens + self._admitted_until(self._plan.last_deadline_seconds)
        if pushing / speed > self._plan.slack_after(submission.deadline_seconds):
            detail = "documents that were let in before would miss their deadlines"
            wait = self._seconds_of_work(tokens_per_second)
            return Refusal(submission.key, "deadline_exceeded", detail, retry_after_seconds=wait)
        return None

    def _seconds_of_work(self, tokens_per_second: float | None) -> float | None:
        return self.waiting_tokens / tokens_per_second if tokens_per_second else None

    def _within_share(self, submission: Submission) -> bool:
        waiting = self._books.of(submission.model).waiting_tokens
        return waiting + submission.tokens <= self._books.share(submission.model) * self._limits.queue_tokens

    def _tokens_before(self, submission: Submission) -> float:
        """What may be served before this document is through.

        Fairness serves no other more than it does, whatever waits: that with a reserve. But all with deadlines up to
        its own have been promised as much: at least that.
        """
        fair = len(self._documents) * submission.tokens
        deadline = submission.deadline_seconds
        promised = self._plan.tokens_until(deadline) + self._admitted_until(deadline)
        shared = min(self.waiting_tokens, fair) * RESERVE
        return self._running_tokens + max(shared, min(promised, self.waiting_tokens))

    def _admitted_until(self, deadline_seconds: float) -> int:
        """Tokens let in since the plan was made, with deadlines up to this one."""
        return sum(each.tokens for each in self._since_plan if each.deadline_seconds <= deadline_seconds)

    def _make_plan(self, now: float, speed: float) -> None:
        waiting = (
            Waiting(document.submission.deadline_seconds, key, document.admitted_seconds, document.waiting_tokens)
            for key, document in self._documents.items()
            if document.waits
        )
        self._plan = make_plan(waiting, self._running_tokens, now, speed)
        self._next_plan_seconds = now + PLAN_SECONDS
        self._since_plan.clear()
        self._urgent = defaultdict(list)
        for key in self._plan.urgent:
            document = self._documents[key]
            self._urgent[document.submission.model, document.client].append(key)

    def _enqueue(self, submission: Submission, now: float) -> None:
        document = _Document(submission, now, waiting_tokens=submission.tokens)
        if not document.waits:
            return
        self._documents[submission.key] = document
        self._since_plan.append(submission)
        self._books.enter(submission.model, len(submission.lengths), submission.tokens)
        self._models.join(submission.model, self._books.weight(submission.model))
        self._clients[submission.model].join(document.client, WEIGHTS[submission.priority])
        self._queues[submission.model, document.client].join(submission.key)

    def _forget(self, document: _Document) -> None:
        del self._documents[document.submission.key]
        self._books.leave(document.submission.model)

    def _dequeue(self, document: _Document) -> None:
        sequences = len(document.submission.lengths) - document.next_index
        self._books.stop_waiting(document.submission.model, sequences, document.waiting_tokens)
        document.waiting_tokens = 0
        document.next_index = len(document.submission.lengths)
        self._leave(document)

    def _leave(self, document: _Document) -> None:
        model, client = document.submission.model, document.client
        queue = self._queues[model, client]
        queue.leave(document.submission.key)
        if not queue:
            del self._queues[model, client]
            self._clients[model].leave(client)
        if not self._clients[model]:
            del self._clients[model]
            self._models.leave(model)

    def _fill(self, model: str, memory: MemoryModel) -> Iterator[Sequence]:
        shape, alone = Shape(), None
        while (document := self._fairest(model, shape, memory, alone)) is not None:
            sequence = document.next_sequence()
            self._take(document, sequence)
            shape = shape.plus(sequence.tokens)
            yield sequence
            if document.submission.attempt:
                alone = sequence.key

    def _fairest(self, model: str, shape: Shape, memory: MemoryModel, alone: str | None) -> _Document | None:
        for document in islice(self._in_order(model), LOOK_AHEAD):
            mixes = document.submission.attempt == 0 and alone is None
            if not (mixes or not shape.sequences or document.submission.key == alone):
                continue
            if memory.admits(model, shape.plus(document.next_sequence().tokens)):
                return document
        return None

    def _in_order(self, model: str) -> Iterator[_Document]:
        if model not in self._clients:
            return
        for client in self._clients[model].in_order():
            urgent = self._urgent.get((model, client), ())
            for key in urgent:
                if key in self._documents and self._documents[key].waits:
                    yield self._documents[key]
            for key in self._queues[model, client].in_order():
                if key not in urgent:
                    yield self._documents[key]

    def _take(self, document: _Document, sequence: Sequence) -> None:
        model, client = document.submission.model, document.client
        self._models.charge(model, sequence.tokens)
        self._clients[model].charge(client, sequence.tokens)
        self._queues[model, client].charge(sequence.key, sequence.tokens)
        document.next_index += 1
        document.waiting_tokens -= sequence.tokens
        self._books.stop_waiting(model, 1, sequence.tokens)
        if not document.waits:
            self._leave(document)
