"""The end of a service's life as a pure state: not ready → nothing new → finish what was let in → leave.

    SIGTERM ── grace_seconds ──▶ closed ── until nobody waits, at most drain_seconds ──▶ over

During the grace the service says that it is not ready and goes on admitting: a load balancer needs a second or two to
look elsewhere. Workers report what they still answer; nobody waits once every worker has heard of the closing and
reports nothing. An engine that was started a moment ago may not have heard of a worker that still waits for an answer
of its predecessor: until every front worker has reported, or has had time to, the drain is not done.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

WORKER_SILENCE_SECONDS = 5.0
"""A worker that was not heard for so long is gone."""

PATIENCE_SECONDS = 2.0
"""For callers to take their last refusal."""


@dataclass(slots=True)
class _Worker:
    heard_seconds: float
    active_requests: int
    closed: bool
    version: int
    revisions: tuple[str, ...]


class WorkerRegistry:
    """Who is connected, and what they last reported.

    Args:
        expected: front workers that the service runs.
    """

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._workers: dict[bytes, _Worker] = {}

    def __iter__(self) -> Iterator[bytes]:
        return iter(list(self._workers))

    def heard(
        self,
        worker: bytes,
        active_requests: int,
        closed: bool,
        now: float,
        *,
        version: int = 0,
        revisions: tuple[str, ...] = (),
    ) -> bool:
        """Note a worker's report; true when it is new.

        `version` is that of the last list of models that it heard, `revisions` those that its requests use.
        """
        new = worker not in self._workers
        self._workers[worker] = _Worker(now, active_requests, closed, version, revisions)
        return new

    def done_with(self, revision: str, version: int) -> bool:
        """Whether no request uses a revision, and none will that chose from list `version` or a later one."""
        return all(worker.version >= version and revision not in worker.revisions for worker in self._workers.values())

    def forget_silent(self, now: float) -> list[bytes]:
        """Forget and return those that were not heard lately."""
        gone = [name for name, worker in self._workers.items() if now - worker.heard_seconds > WORKER_SILENCE_SECONDS]
        for name in gone:
            del self._workers[name]
        return gone

    def all_heard(self) -> bool:
        """True when as many workers as the service runs have reported."""
        return len(self._workers) >= self._expected

    def idle(self) -> bool:
        """Whether no worker that was heard answers a request."""
        return not any(worker.active_requests for worker in self._workers.values())

    def all_closed_and_quiet(self) -> bool:
        """Whether every worker knows of the closing and answers no request."""
        return all(worker.closed and not worker.active_requests for worker in self._workers.values())


@dataclass(frozen=True, slots=True)
class Drain:
    """The plan that a SIGTERM at `begun_seconds` starts."""

    begun_seconds: float
    grace_seconds: float
    drain_seconds: float

    def admitting(self, now: float) -> bool:
        """Whether new requests are still let in."""
        return now < self.begun_seconds + self.grace_seconds

    def has_reports(self, workers: WorkerRegistry, now: float) -> bool:
        """True once every worker has reported, or has been silent since the drain began for as long as one may be."""
        return workers.all_heard() or now >= self.begun_seconds + WORKER_SILENCE_SECONDS

    def overdue(self, now: float) -> bool:
        """Whether it is time to refuse what is left."""
        return now >= self.begun_seconds + self.grace_seconds + self.drain_seconds

    def hopeless(self, now: float) -> bool:
        """Whether whoever has still not taken its answer never will."""
        return self.overdue(now - PATIENCE_SECONDS)

    def is_done(self, workers: WorkerRegistry, now: float) -> bool:
        """Whether nobody waits any more, or whoever does will never take its answer."""
        heard = self.has_reports(workers, now) and workers.all_closed_and_quiet()
        return (heard and not self.admitting(now)) or self.hopeless(now)
