"""Submissions, a small queue and what its batches hold, for the scheduler's tests."""

from __future__ import annotations

from service.core.scheduling.scheduler import QueueLimits, Scheduler
from service.core.types import Batch, Priority, Submission

FAR = 1e9


def submission(key: str, *lengths: int, **other: object) -> Submission:
    values: dict[str, object] = {
        "model": "m",
        "client": "c",
        "priority": Priority.INTERACTIVE,
        "deadline_seconds": FAR,
        **other,
    }
    return Submission(key=key, lengths=lengths, **values)  # type: ignore[arg-type]


def scheduler(queue_tokens: int = 10_000) -> Scheduler[str]:
    return Scheduler(QueueLimits(queue_tokens))


def keys(batch: Batch | None) -> list[str]:
    return [sequence.key for sequence in batch.sequences] if batch else []
