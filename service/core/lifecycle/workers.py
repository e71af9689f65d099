"""Registry of front workers: which are connected, and what each last reported. Pure: time is passed in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.core.parsers.front_load import IDLE, FrontLoad, mean_of

WORKER_SILENCE_SECONDS = 5.0
"""A worker without a heartbeat for this long is gone."""


@dataclass(slots=True)
class _Worker:
    reported_seconds: float
    active_requests: int
    closed: bool
    version: int
    revisions: tuple[str, ...]
    front: FrontLoad


class WorkerRegistry:
    """The workers of one engine.

    Args:
        expected: front workers that the service runs.
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
        front: FrontLoad = IDLE,
    ) -> bool:
        """Record a worker's report; true for the first one of a worker.

        Args:
            closed: the worker knows that the engine takes no more, as it drains or ends, and starts no request.
            version: of the last list of models that it received.
            revisions: those that its requests use.
            front: how busy it is.
        """
        new = worker not in self._workers
        self._workers[worker] = _Worker(now, active_requests, closed, version, revisions, front)
        return new

    @property
    def front(self) -> FrontLoad:
        """How busy the connected workers are together."""
        return mean_of([worker.front for worker in self._workers.values()])

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
        """True when every connected worker is closed and has no active request."""
        return self.closed() and self.idle()
