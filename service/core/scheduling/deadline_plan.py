"""Earliest-deadline-first plan of the queue: finds late and urgent documents, and the tokens due by a deadline.

If every document can finish in time when the earliest deadline is served first, all deadlines can be met (Jackson's
rule, 1955). Fair sharing alone cannot meet them: under steady overload it lets long documents advance side by side
until all of them miss their deadlines together. So:
- a document that would be late even in this order is *late*: it is refused before more is spent on it;
- when one has little slack left in this order, it and all with earlier deadlines are *urgent*: among the documents of
  their client they go first, earliest deadline first.

Pure: time is passed in. A plan is recomputed from everything that waits (`make_plan`); `DeadlineTracker` keeps the last
plan and adds what was admitted since.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from service.core.types import Submission

URGENT_SHARE = 0.15
"""Share of a document's time from admission to deadline; with less slack it is urgent."""

PLAN_SECONDS, LONGEST_PLAN_SECONDS = 0.02, 0.25
"""Least and most seconds for which a plan is used; making one costs time by the number of waiting documents."""
PLAN_SHARE = 0.02
"""Share of the time to the earliest deadline for which a plan is used, within these limits."""


class Waiting(NamedTuple):
    """One document with sequences that are not launched yet; ordered by deadline."""

    deadline_seconds: float
    key: str
    admitted_seconds: float
    tokens: int


@dataclass(frozen=True, slots=True)
class DeadlinePlan:
    """The queue in the order of its deadlines.

    Attributes:
        late: keys of documents that cannot be in time.
        urgent: keys of documents that must go first, earliest deadline first.
        deadlines: deadlines of all documents that are not late, ascending.
        sums: tokens of the first 0, 1, 2, … documents in that order.
        slacks: least slack in seconds of the last n, n - 1, …, 0 documents.
    """

    late: tuple[str, ...] = ()
    urgent: tuple[str, ...] = ()
    deadlines: tuple[float, ...] = ()
    sums: tuple[int, ...] = (0,)
    slacks: tuple[float, ...] = (float("inf"),)

    @property
    def last_deadline_seconds(self) -> float:
        """The latest deadline; -inf for an empty plan."""
        return self.deadlines[-1] if self.deadlines else float("-inf")

    def tokens_due_by(self, deadline_seconds: float) -> int:
        """Tokens that wait with this deadline or an earlier one."""
        return self.sums[bisect_right(self.deadlines, deadline_seconds)]

    def slack_after(self, deadline_seconds: float) -> float:
        """Seconds by which all documents with later deadlines can be delayed without making one late."""
        return self.slacks[bisect_right(self.deadlines, deadline_seconds)]


def make_plan(waiting: Iterable[Waiting], running_tokens: int, now: float, tokens_per_second: float) -> DeadlinePlan:
    """Make the plan at `now` for a device with `running_tokens` in flight and this speed."""
    late, kept, slacks, urgent = [], [], [], 0
    ahead_tokens = running_tokens
    for document in sorted(waiting):
        slack = document.deadline_seconds - now - (ahead_tokens + document.tokens) / tokens_per_second
        if slack < 0:
            late.append(document.key)
            continue
        ahead_tokens += document.tokens
        kept.append(document)
        slacks.append(slack)
        if slack < URGENT_SHARE * (document.deadline_seconds - document.admitted_seconds):
            urgent = len(kept)
    return DeadlinePlan(
        tuple(late),
        tuple(document.key for document in kept[:urgent]),
        tuple(document.deadline_seconds for document in kept),
        tuple(accumulate((document.tokens for document in kept), initial=0)),
        tuple(reversed(tuple(accumulate(reversed(slacks), min, initial=float("inf"))))),
    )


def _plan_seconds(left_seconds: float) -> float:
    """Seconds for which a plan is used, by the time to the earliest deadline."""
    return min(max(PLAN_SHARE * left_seconds, PLAN_SECONDS), LONGEST_PLAN_SECONDS)


class DeadlineTracker:
    """Deadlines of all admitted documents: the last plan, and the documents admitted since."""

    def __init__(self) -> None:
        self._plan = DeadlinePlan()
        self._next_plan_seconds = float("-inf")
        self._since_plan: list[tuple[float, int]] = []
        self._tokens_since_plan = 0

    def add(self, submission: Submission, now: float) -> None:
        """Count an admitted document."""
        deadline, tokens = submission.deadline_seconds, submission.tokens
        self._next_plan_seconds = min(self._next_plan_seconds, now + _plan_seconds(deadline - now))
        insort(self._since_plan, (deadline, tokens))
        self._tokens_since_plan += tokens

    def is_old(self, now: float) -> bool:
        """True when another plan is due: the earlier the first deadline is, the sooner."""
        return now >= self._next_plan_seconds

    def renew(
        self, waiting: Iterable[Waiting], running_tokens: int, now: float, tokens_per_second: float
    ) -> DeadlinePlan:
        """Replace the plan by one of this moment, and return it."""
        self._plan = make_plan(waiting, running_tokens, now, tokens_per_second)
        earliest = self._plan.deadlines[0] if self._plan.deadlines else float("inf")
        self._next_plan_seconds = now + _plan_seconds(earliest - now)
        self._since_plan.clear()
        self._tokens_since_plan = 0
        return self._plan

    def tokens_due_by(self, deadline_seconds: float) -> int:
        """Admitted tokens that are due by this time."""
        return self._plan.tokens_due_by(deadline_seconds) + self._admitted_until(deadline_seconds)

    def would_miss(self, submission: Submission, tokens_per_second: float) -> bool:
        """True when admitting this document would make one with a later deadline late."""
        pushing = submission.tokens + self._admitted_until(self._plan.last_deadline_seconds)
        return pushing / tokens_per_second > self._plan.slack_after(submission.deadline_seconds)

    def _admitted_until(self, deadline_seconds: float) -> int:
        """Tokens admitted since the plan with deadlines up to this one.

        Counted from the end: the document that was admitted last mostly has the latest deadline.
        """
        later = 0
        for deadline, tokens in reversed(self._since_plan):
            if deadline <= deadline_seconds:
                break
            later += tokens
        return self._tokens_since_plan - later
