"""Drain of a service that was told to stop, and the registry of the API workers that it waits for.

    SIGTERM ── grace_seconds ──▶ closed ── until all workers are idle, at most drain_seconds ──▶ done

Not ready → admission closed → admitted work finished → exit. During the grace the service reports that it is not ready
and goes on admitting, because a load balancer needs a second or two to route elsewhere. Workers report their active
requests; the drain is done once every worker has closed and is idle. An engine that was started a moment ago may not
have heard of a worker that still waits for an answer of its predecessor, so the drain is not done before every API
worker has reported, or has been silent for as long as a live one may be. Pure: time is passed in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.core.worker_load import IDLE, WorkerLoad, mean_of

WORKER_SILENCE_SECONDS = 5.0
"""A worker without a heartbeat for this long is gone."""


@dataclass(slots=True)
class _Worker:
    reported_seconds: float
    active_requests: int
    closed: bool
    version: int
    revisions: tuple[str, ...]
    worker_load: WorkerLoad


class WorkerRegistry:
    """The workers of one engine.

    Args:
        expected: API workers that the service runs.
    """

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._workers: dict[bytes, _Worker] = {}

    def __iter__(self) -> Iterator[bytes]:
        return iter(list(self._workers))

    def record_heartbeat(
        self,
        worker: bytes,
        active_requests: int,
        closed: bool,
        now: float,
        *,
        version: int = 0,
        revisions: tuple[str, ...] = (),
        worker_load: WorkerLoad = IDLE,
    ) -> bool:
        """Record a worker's report; returns True for a worker's first.

        Args:
            closed: the worker knows that the engine takes no more, as it drains or ends, and starts no request.
            version: number of the last list of models that it received.
            revisions: revisions that its requests use.
        """
        new = worker not in self._workers
        self._workers[worker] = _Worker(now, active_requests, closed, version, revisions, worker_load)
        return new

    @property
    def worker_load(self) -> WorkerLoad:
        return mean_of([worker.worker_load for worker in self._workers.values()])

    def done_with(self, revision: str, version: int) -> bool:
        """True when no request uses a revision, and every worker has list `version` or a later one to choose from."""
        return all(worker.version >= version and revision not in worker.revisions for worker in self._workers.values())

    def forget_silent(self, now: float) -> list[bytes]:
        """Remove and return the workers without a heartbeat for `WORKER_SILENCE_SECONDS`."""
        gone = [
            name for name, worker in self._workers.items() if now - worker.reported_seconds > WORKER_SILENCE_SECONDS
        ]
        for name in gone:
            del self._workers[name]
        return gone

    def all_reported(self) -> bool:
        """True when as many workers as the service runs are connected."""
        return len(self._workers) >= self._expected

    def idle(self) -> bool:
        """True when no connected worker has an active request."""
        return not any(worker.active_requests for worker in self._workers.values())

    def closed(self) -> bool:
        """True when every connected worker knows that the engine takes no more."""
        return all(worker.closed for worker in self._workers.values())

    def closed_and_idle(self) -> bool:
        return self.closed() and self.idle()


NONE_FOLLOWS = "this server's engine has ended, and no other is started here"
"""Message to a document whose engine ends when no other is started."""

REFUSAL_SECONDS = 2.0
"""Seconds after a drain's timeout for clients to read their last refusal."""


@dataclass(frozen=True, slots=True)
class Drain:
    """The drain that a SIGTERM at `begun_seconds` begins."""

    begun_seconds: float
    grace_seconds: float
    drain_seconds: float

    def admitting(self, now: float) -> bool:
        """True during the grace, while new requests are admitted."""
        return now < self.begun_seconds + self.grace_seconds

    def has_reports(self, workers: WorkerRegistry, now: float) -> bool:
        """True once every worker has reported, or has had `WORKER_SILENCE_SECONDS` since the drain began to do so."""
        return workers.all_reported() or now >= self.begun_seconds + WORKER_SILENCE_SECONDS

    def timed_out(self, now: float) -> bool:
        """True when the remaining documents must be refused."""
        return now >= self.begun_seconds + self.grace_seconds + self.drain_seconds

    def abandoned(self, now: float) -> bool:
        """True `REFUSAL_SECONDS` after the drain timed out: clients that still have not read are not waited for."""
        return self.timed_out(now - REFUSAL_SECONDS)

    def is_done(self, workers: WorkerRegistry, now: float) -> bool:
        """True when every worker is closed and idle, or the drain is abandoned."""
        idle = self.has_reports(workers, now) and workers.closed_and_idle()
        return (idle and not self.admitting(now)) or self.abandoned(now)
