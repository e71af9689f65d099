"""What must be done by when for all who were let in: the last plan (`deadlines`), and who came since. Pure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable

from service.core.scheduling.deadline_plan import DeadlinePlan, Waiting, make_plan
from service.core.types import Submission

PLAN_SECONDS = 0.02
"""A plan holds for so long; making one costs time in proportion to what waits."""


class DeadlineTracker:
    """The deadlines of those who wait."""

    def __init__(self) -> None:
        self._plan = DeadlinePlan()
        self._next_plan_seconds = float("-inf")
        self._since_plan: list[tuple[float, int]] = []
        self._tokens_since_plan = 0

    def add(self, submission: Submission) -> None:
        """A document was let in."""
        insort(self._since_plan, (submission.deadline_seconds, submission.tokens))
        self._tokens_since_plan += submission.tokens

    def is_old(self, now: float) -> bool:
        """Whether it is time for another plan."""
        return now >= self._next_plan_seconds

    def renew(self, waiting: Iterable[Waiting], running_tokens: int, now: float, speed: float) -> DeadlinePlan:
        """Make the plan anew."""
        self._plan = make_plan(waiting, running_tokens, now, speed)
        self._next_plan_seconds = now + PLAN_SECONDS
        self._since_plan.clear()
        self._tokens_since_plan = 0
        return self._plan

    def tokens_until(self, deadline_seconds: float) -> int:
        """What was promised for this moment or an earlier one."""
        return self._plan.tokens_until(deadline_seconds) + self._admitted_until(deadline_seconds)

    def would_break(self, submission: Submission, speed: float) -> bool:
        """Whether those with later deadlines could not all be in time if this document were let in."""
        pushing = submission.tokens + self._admitted_until(self._plan.last_deadline_seconds)
        return pushing / speed > self._plan.slack_after(submission.deadline_seconds)

    def _admitted_until(self, deadline_seconds: float) -> int:
        """Tokens let in since the plan was made, with deadlines up to this one; who comes last is mostly due last."""
        later = 0
        for deadline, tokens in reversed(self._since_plan):
            if deadline <= deadline_seconds:
                break
            later += tokens
        return self._tokens_since_plan - later
