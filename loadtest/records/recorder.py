"""The recorder of a generator process: notes each request's end at little cost, and counts outcomes."""

from __future__ import annotations

from loadtest.records.answer import Answer, Reply, read_answer
from loadtest.records.records import REFUSAL_STATUSES, Records, from_rows, merge

ROWS_AS_TUPLES = 20_000
"""Rows are packed into columns once there are this many."""


class Recorder:
    """The records of one process, and the counts of their outcomes so far."""

    def __init__(self, origin: float) -> None:
        self._origin = origin
        self._rows: list[tuple[object, ...]] = []
        self._packed: list[Records] = []
        self._recent_ms: list[float] = []
        self._lag_ms = 0.0
        self.ok = self.refused = self.failed = 0

    def note(self, job: int, intended: float, sent: float, done: float, reply: Reply) -> None:
        """Add one request; times are on the monotonic clock."""
        answer, origin = read_answer(reply), self._origin
        times = (intended - origin, sent - origin, done - origin, answer.retry_after_seconds)
        facts = (job, answer.status, answer.tokens, answer.typed, answer.outcome, answer.revision)
        self._rows.append((*times, *answer.stages_ms, *facts))
        if len(self._rows) == ROWS_AS_TUPLES:
            self._packed.append(from_rows(self._rows))
            self._rows.clear()
        self._count(answer, intended, sent, done)

    def take_recent(self) -> tuple[list[float], float]:
        """Latencies of good answers and the longest lag since the last call, in milliseconds."""
        latencies, self._recent_ms = self._recent_ms, []
        lag, self._lag_ms = self._lag_ms, 0.0
        return latencies, lag

    def records(self) -> Records:
        return merge((*self._packed, from_rows(self._rows)))

    def _count(self, answer: Answer, intended: float, sent: float, done: float) -> None:
        self._lag_ms = max(self._lag_ms, (sent - intended) * 1000)
        if answer.outcome == "ok":
            self.ok += 1
            self._recent_ms.append((done - intended) * 1000)
        elif answer.status in REFUSAL_STATUSES:
            self.refused += 1
        else:
            self.failed += 1
