"""Admission control: which documents may enter the queue, and after which time a refused one should be sent again.

The rules:
- When the queue is full, a model that uses less than its share of it is admitted all the same, so that one model cannot
  keep the others out. So at most twice the limit waits.
- An admitted document with a deadline is finished before it, unless the device slows down: the estimate counts what
  must be done by then, with a reserve.

Pure: time is passed in.
"""

from __future__ import annotations

from service.core.scheduling.deadline_plan import DeadlineTracker
from service.core.scheduling.queue_stats import QueueStats
from service.core.types import Refusal, Submission

RESERVE = 4 / 3
"""Factor on the waiting tokens: batches are whole, speeds vary, and answers take a moment on their way."""


class Admission:
    """The admission control of one queue, of which it reads the sums and the deadlines."""

    def __init__(self, queue_limit_tokens: int, stats: QueueStats, deadlines: DeadlineTracker) -> None:
        self._limit_tokens = queue_limit_tokens
        self._stats = stats
        self._deadlines = deadlines

    def refusal_for(
        self, submission: Submission, running_tokens: int, now: float, tokens_per_second: float | None
    ) -> Refusal | None:
        """Why a document is refused (`queue_full` or `deadline_exceeded`); None admits it."""
        speed = tokens_per_second or float("inf")
        waiting_tokens = self._stats.total.waiting_tokens
        over = waiting_tokens + submission.tokens - self._limit_tokens
        if over > 0 and waiting_tokens and not self._within_share(submission):
            detail = f"{waiting_tokens} tokens wait; the limit is {self._limit_tokens}"
            return Refusal(submission.key, "queue_full", detail, retry_after_seconds=over / speed)
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

    def _within_share(self, submission: Submission) -> bool:
        waiting = self._stats.of(submission.model).waiting_tokens
        return waiting + submission.tokens <= self._stats.share(submission.model) * self._limit_tokens

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
