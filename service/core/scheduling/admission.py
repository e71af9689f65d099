"""Admission control: which documents may enter the queue, and after which time a refused one should be sent again.

The rules:
- When the queue is full, a client that uses less than its share of it is admitted all the same, and so is a model: none
  can keep the others out. So at most 1 + 1/2 + … + 1/n times the limit waits for n equal clients of one model.
- A document whose first batch would begin later than the limit on waiting allows is refused as if the queue were full,
  however long it computes itself; one for which nothing goes first is admitted.
- A document larger than the queue is admitted when nothing waits, and leaves half of the limit to others (`occupancy`).
- An admitted document with a deadline is finished before it, unless the device slows down: the estimate counts what
  must be done by then, with a reserve.
- That promise is worth a client's share of the device. Who needs no more than his own share until his deadline is not
  refused because others were promised the rest.
- A client's own limits (`quota`) hold whether the queue is full or not.
- What an engine that died had admitted is not turned away by any of these limits, only by its deadline.

Pure: time is passed in.
"""

from __future__ import annotations

import math

from service.core.scheduling.deadline_plan import DeadlineTracker
from service.core.scheduling.fair_queue import WEIGHTS
from service.core.scheduling.queue_accounting import QueueOccupancy, QueueStats
from service.core.types import Refusal, Submission

RESERVE = 4 / 3
"""Factor on the waiting tokens: batches are whole, speeds vary, and answers take a moment on their way."""


class Admission:
    """The admission control of one queue, of which it reads the sums and the deadlines."""

    def __init__(
        self,
        occupancy: QueueOccupancy,
        stats: QueueStats,
        deadlines: DeadlineTracker,
        wait_limit_seconds: float = math.inf,
    ) -> None:
        self._occupancy = occupancy
        self._stats = stats
        self._deadlines = deadlines
        self._wait_limit_seconds = wait_limit_seconds

    def refusal_for(
        self, submission: Submission, running_tokens: int, now: float, tokens_per_second: float | None
    ) -> Refusal | None:
        """Why a document is refused (`rate_limited`, `queue_full` or `deadline_exceeded`); None admits it."""
        speed = tokens_per_second or float("inf")
        refusal = (
            self._over_quota(submission, speed)
            or self._over_limit(submission, speed)
            or self._over_wait(submission, running_tokens, speed)
        )
        if refusal is not None or self._is_within_its_share_in_time(submission, running_tokens, now, speed):
            return refusal
        needed = (self._tokens_before(submission, running_tokens) + submission.tokens) / speed
        if now + needed > submission.deadline_seconds:
            left = max(submission.deadline_seconds - now, 0.0)
            wait = self.seconds_of_work(tokens_per_second)
            detail = f"about {needed:.1f} s are needed and {left:.1f} s are left"
            return Refusal(submission.key, "deadline_exceeded", detail, retry_after_seconds=wait)
        if self._deadlines.would_miss(submission, speed):
            wait = self.seconds_of_work(tokens_per_second)
            detail = "documents that were let in before would miss their deadlines"
            return Refusal(submission.key, "deadline_exceeded", detail, retry_after_seconds=wait)
        return None

    def seconds_of_work(self, tokens_per_second: float | None) -> float | None:
        """Seconds that the device needs for the waiting tokens; None while its speed is unknown."""
        return self._stats.total.waiting_tokens / tokens_per_second if tokens_per_second else None

    def _over_quota(self, submission: Submission, speed: float) -> Refusal | None:
        most, limit = submission.quota.documents_in_flight, submission.quota.queued_tokens
        if submission.readmitted or (most is None and limit is None):
            return None
        client = self._occupancy.of(submission.client)
        documents, tokens = client.documents, client.waiting_tokens
        if most is not None and documents >= most:
            detail = f"{documents} documents of this client are in flight, its limit"
        elif limit is not None and tokens and tokens + submission.tokens > limit:
            detail = f"{tokens} tokens of this client wait; its limit is {limit}"
        else:
            return None
        wait = tokens / (self._occupancy.share(submission) * speed)
        return Refusal(submission.key, "rate_limited", detail, retry_after_seconds=wait)

    def _over_limit(self, submission: Submission, speed: float) -> Refusal | None:
        counted, limit = self._occupancy.counted_tokens, self._occupancy.limit_tokens
        over = counted + submission.tokens - limit
        if over <= 0 or not counted or submission.readmitted:
            return None
        if self._occupancy.is_within_share(submission) or self._model_has_room(submission):
            return None
        detail = f"{self._stats.total.waiting_tokens} tokens wait; the limit is {limit}"
        return Refusal(submission.key, "queue_full", detail, retry_after_seconds=over / speed)

    def _over_wait(self, submission: Submission, running_tokens: int, speed: float) -> Refusal | None:
        limit = self._wait_limit_seconds
        if submission.readmitted or limit == math.inf:
            return None
        first = self._tokens_before_first(submission)
        wait = (running_tokens + first) / speed
        if not first or wait <= limit:
            return None
        detail = f"about {wait:.1f} s would pass before its first batch; the limit is {limit:g} s"
        return Refusal(submission.key, "queue_full", detail, retry_after_seconds=wait - limit)

    def _tokens_before_first(self, submission: Submission) -> float:
        """The waiting tokens that are expected to be served before this document's first.

        Documents take turns by tokens, so each that waits has its first sequence before, of a mean length. Among
        clients those of its own client count, and what the others' shares let go meanwhile.
        """
        total, client = self._stats.total, self._occupancy.of(submission.client)
        if not total.waiting_sequences:
            return 0.0
        mean = total.waiting_tokens / total.waiting_sequences
        own = min(client.waiting_tokens, client.documents * mean)
        return min(total.waiting_tokens, total.documents * mean, own / self._share(submission))

    def _model_has_room(self, submission: Submission) -> bool:
        waiting = self._stats.of(submission.model).waiting_tokens
        return waiting + submission.tokens <= self._stats.share(submission.model) * self._occupancy.limit_tokens

    def _is_within_its_share_in_time(
        self, submission: Submission, running_tokens: int, now: float, speed: float
    ) -> bool:
        """True when the client's share of the device serves all its tokens, this document's too, by this deadline."""
        share = self._share(submission)
        tokens = self._occupancy.of(submission.client).waiting_tokens + submission.tokens
        return now + (running_tokens + RESERVE * tokens / share) / speed <= submission.deadline_seconds

    def _share(self, submission: Submission) -> float:
        """The share of the device that a submission's client has, by its model's weight and its priority."""
        of_model = self._stats.share(submission.model)
        return self._occupancy.share(submission) * of_model * WEIGHTS[submission.priority]

    def _tokens_before(self, submission: Submission, running_tokens: int) -> float:
        """An upper estimate of the tokens that are served before this document is finished.

        Fair sharing serves no other document more than this one, whatever waits: that, with the reserve. But at least
        the tokens that are due by its own deadline, which were promised before.
        """
        total = self._stats.total
        fair = total.documents * submission.tokens
        due = self._deadlines.tokens_due_by(submission.deadline_seconds)
        shared = min(total.waiting_tokens, fair) * RESERVE
        return running_tokens + max(shared, min(due, total.waiting_tokens))
