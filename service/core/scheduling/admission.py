"""Who is let into the queue. Pure; the reasons against a document, each with the time after which to come again.

The rules:
- When the queue is full, a model that waits with less than its share of it is let in all the same: no model can shut
  the door on the others. So at most twice the limit waits.
- Who is let in with a deadline is through before it, unless the device slows down: the door counts what must be done
  until then, with a reserve.
"""

from __future__ import annotations

from service.core.scheduling.promises import DeadlineTracker
from service.core.scheduling.queue_stats import QueueStats
from service.core.types import Refusal, Submission

RESERVE = 4 / 3
"""What waits is taken for so much more: batches are whole, speeds vary, and answers need a moment on their way."""


class Admission:
    """The door of one queue, of which it reads the books and the promises."""

    def __init__(self, queue_limit_tokens: int, books: QueueStats, promises: DeadlineTracker) -> None:
        self._limit_tokens = queue_limit_tokens
        self._books = books
        self._promises = promises

    def reason_against(
        self, submission: Submission, running_tokens: int, now: float, tokens_per_second: float | None
    ) -> Refusal | None:
        """Why a document cannot come in; None: it can."""
        speed = tokens_per_second or float("inf")
        waiting_tokens = self._books.total.waiting_tokens
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
        if self._promises.would_break(submission, speed):
            wait = self.seconds_of_work(tokens_per_second)
            detail = "documents that were let in before would miss their deadlines"
            return Refusal(submission.key, "deadline_exceeded", detail, retry_after_seconds=wait)
        return None

    def seconds_of_work(self, tokens_per_second: float | None) -> float | None:
        """How long the device needs for what waits; None while its speed is unknown."""
        return self._books.total.waiting_tokens / tokens_per_second if tokens_per_second else None

    def _within_share(self, submission: Submission) -> bool:
        waiting = self._books.of(submission.model).waiting_tokens
        return waiting + submission.tokens <= self._books.share(submission.model) * self._limit_tokens

    def _tokens_before(self, submission: Submission, running_tokens: int) -> float:
        """What may be served before this document is through.

        Fairness serves no other more than it does, whatever waits: that with a reserve. But all with deadlines up to
        its own have been promised as much: at least that.
        """
        total = self._books.total
        fair = total.documents * submission.tokens
        promised = self._promises.tokens_until(submission.deadline_seconds)
        shared = min(total.waiting_tokens, fair) * RESERVE
        return running_tokens + max(shared, min(promised, total.waiting_tokens))
