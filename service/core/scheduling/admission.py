"""Admission to the engine's queue: describes the queue to the admission policy for each arriving document.

The rules (`core/admission/policy`, moment ENGINE), in this order:
- A client's own limits (`quota`) hold whether the queue is full or not.
- When the queue is full, a client that uses less than its share of it is admitted all the same, and so is a model: none
  can keep the others out. So at most 1 + 1/2 + … + 1/n times the limit waits for n equal clients of one model.
- A document whose first batch would begin later than the limit on waiting allows is refused as if the queue were full,
  however long it computes itself; one for which nothing goes first is admitted.
- A document larger than the queue is admitted when nothing waits, and leaves half of the limit to others.
- An admitted document with a deadline is finished before it, unless the device slows down: the estimate counts what
  must be done by then, with a reserve.
- That promise is worth a client's share of the device: a client that needs no more than its own share until the
  deadline is not refused because others were promised the rest.
- What an engine that died had admitted is not turned away by any of these limits, only by its deadline.

Pure: time is passed in.
"""

from __future__ import annotations

import math

from service.core.admission.policy import ADMIT, RESERVE, Decision, QueueState, over_quota, over_wait, refuse
from service.core.scheduling.deadline_plan import DeadlineTracker
from service.core.scheduling.fair_queue import WEIGHTS
from service.core.scheduling.queue_accounting import QueueOccupancy, QueueStats
from service.core.types import Refusal, Submission


class Admission:
    """The admission control of one queue; reads its sums and deadlines."""

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
        """Refuse a document (`rate_limited`, `queue_full` or `deadline_exceeded`), or admit it with None."""
        decision = self._decide(submission, running_tokens, now, tokens_per_second or math.inf)
        if not decision.refuses:
            return None
        return Refusal(submission.key, decision.code, decision.detail, decision.retry_after_seconds)

    def seconds_of_work(self, tokens_per_second: float | None) -> float | None:
        """Seconds that the device needs for the waiting tokens; None while its speed is unknown."""
        return self._stats.total.waiting_tokens / tokens_per_second if tokens_per_second else None

    def _decide(self, submission: Submission, running_tokens: int, now: float, speed: float) -> Decision:
        queue, left = self._queue(submission, running_tokens, speed), submission.deadline_seconds - now
        if not submission.readmitted:
            decision = self._within_limits(submission, queue)
            if decision.refuses:
                return decision
        if self._is_within_its_share_in_time(submission, queue, left):
            return ADMIT
        decision = queue.late(submission.tokens, left)
        if not decision.refuses and self._deadlines.would_miss(submission, speed):
            detail = "documents that were admitted before would miss their deadlines"
            return refuse("deadline_exceeded", detail, queue.seconds_of_work)
        return decision

    def _queue(self, submission: Submission, running_tokens: int, speed: float) -> QueueState:
        total = self._stats.total
        return QueueState(
            speed,
            waiting_tokens=total.waiting_tokens,
            counted_tokens=self._occupancy.counted_tokens,
            limit_tokens=self._occupancy.limit_tokens,
            documents=total.documents,
            running_tokens=running_tokens,
            due_tokens=self._deadlines.tokens_due_by(submission.deadline_seconds),
            has_room=self._occupancy.is_within_share(submission) or self._model_has_room(submission),
        )

    def _within_limits(self, submission: Submission, queue: QueueState) -> Decision:
        """Apply the limits of the client, of the queue and on waiting."""
        client = self._occupancy.of(submission.client)
        share = self._occupancy.share(submission) * queue.tokens_per_second
        decision = over_quota(submission.quota, client.documents, client.waiting_tokens, submission.tokens, share)
        if not decision.refuses:
            decision = queue.full(submission.tokens)
        if decision.refuses or math.isinf(self._wait_limit_seconds):
            return decision
        first = self._tokens_before_first(submission)
        wait = (queue.running_tokens + first) / queue.tokens_per_second if first else 0.0
        return over_wait("its first batch", wait, self._wait_limit_seconds)

    def _tokens_before_first(self, submission: Submission) -> float:
        """Estimate the waiting tokens that are served before this document's first.

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

    def _is_within_its_share_in_time(self, submission: Submission, queue: QueueState, left_seconds: float) -> bool:
        """True when the client's share of the device serves all its tokens, this document's too, by this deadline."""
        tokens = self._occupancy.of(submission.client).waiting_tokens + submission.tokens
        needed = queue.running_tokens + RESERVE * tokens / self._share(submission)
        return needed / queue.tokens_per_second <= left_seconds

    def _share(self, submission: Submission) -> float:
        """The device share of a submission's client, by weights and priority."""
        of_model = self._stats.share(submission.model)
        return self._occupancy.share(submission) * of_model * WEIGHTS[submission.priority]
