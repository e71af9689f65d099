"""Drain of a service that was told to stop: not ready → admission closed → admitted work finished → exit.

    SIGTERM ── grace_seconds ──▶ closed ── until all workers are idle, at most drain_seconds ──▶ done

During the grace the service reports that it is not ready and goes on admitting: a load balancer needs a second or two
to route elsewhere. Workers report their active requests; the drain is done once every worker has closed and is idle. An
engine that was started a moment ago may not have heard of a worker that still waits for an answer of its predecessor,
so the drain is not done before every front worker has reported, or has been silent for as long as a live one may be.
Pure: time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.core.lifecycle.workers import WORKER_SILENCE_SECONDS, WorkerRegistry

REFUSAL_SECONDS = 2.0
"""After the drain timed out, for clients to read their last refusal."""


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
        """True once every worker has reported, or was silent since the drain began for as long as a live one may be."""
        return workers.all_reported() or now >= self.begun_seconds + WORKER_SILENCE_SECONDS

    def timed_out(self, now: float) -> bool:
        """True when what is left must be refused."""
        return now >= self.begun_seconds + self.grace_seconds + self.drain_seconds

    def abandoned(self, now: float) -> bool:
        """True `REFUSAL_SECONDS` after the drain timed out: clients that have not read by then are not waited for."""
        return self.timed_out(now - REFUSAL_SECONDS)

    def is_done(self, workers: WorkerRegistry, now: float) -> bool:
        """True when every worker is closed and idle, or the drain is abandoned."""
        idle = self.has_reports(workers, now) and workers.closed_and_idle()
        return (idle and not self.admitting(now)) or self.abandoned(now)
