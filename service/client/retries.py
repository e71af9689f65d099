"""Retries: which failures are worth another try, and after how long, within a budget. Pure.

The rules:
- A refusal for overload is tried again when it says so (`Retry-After`), with some of it added by chance, so that those
  who were refused together do not come back together; a broken connection after a short time that doubles.
- Never what another try would get too: errors of the request, and of the document.
- The budget is seconds, counted from the first try: what would begin after its end is not begun.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.errors import DeadlineExceeded, GleanerError, Overloaded

FIRST_SECONDS, LONGEST_SECONDS = 0.2, 10.0
"""The wait after a failure that says nothing of when; it doubles with each try."""
CHANCE = 0.5
"""Most of a wait that is added to it by chance."""


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """How long and how often a client tries, less often where nobody answers; no retries at all: `RetryBudget(0)`."""

    seconds: float = 60.0
    most_tries: int = 8
    most_tries_unanswered: int = 4

    def wait_seconds(self, tries: int, spent_seconds: float, error: GleanerError | None, chance: float) -> float | None:
        """How long to wait before the next try; None: give up.

        Args:
            tries: those so far, at least 1.
            spent_seconds: since the first one began.
            error: what the last one was answered with; None: the connection broke.
            chance: a random number from 0 to 1.
        """
        most = self.most_tries_unanswered if error is None else self.most_tries
        if tries >= most or not _may_help(error):
            return None
        said = None if error is None else error.retry_after_seconds
        wait = said if said is not None else min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** (tries - 1))
        wait *= 1 + CHANCE * chance
        return wait if spent_seconds + wait < self.seconds else None


def _may_help(error: GleanerError | None) -> bool:
    if isinstance(error, DeadlineExceeded):
        return error.retry_after_seconds is not None
    return error is None or isinstance(error, Overloaded)
