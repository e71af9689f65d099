"""A timer of one document's stages (parse, tokenize, queue, compute, decode) and of the worker's own work on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from service.api.schemas import Timing

THREAD_SHARE = 1 / 2
"""What a second of a thread takes of its worker, for which there are two cores by default."""

_T = TypeVar("_T")


@dataclass(slots=True)
class StageTimer:
    """Seconds by stage, waits included, and apart from that the worker's own of tokenizing and decoding.

    Attributes:
        begun_seconds: when each stage began, on the monotonic clock; `queue`: when the engine was given the document.
        batches: the numbers of those that it ran in.
        key: the engine's, once it was given the document.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    begun_seconds: dict[str, float] = field(default_factory=dict)
    work_seconds: float = 0.0
    batches: tuple[int, ...] = ()
    key: str | None = None

    @property
    def stage(self) -> str | None:
        """The one that began last; None before the first."""
        return next(reversed(self.begun_seconds), None)

    def working(self, work: Callable[[], _T]) -> _T:
        """Do work on the event loop's thread; its processor seconds count, not what it waits for a processor."""
        return self._counting(work, time.thread_time, 1.0)

    def working_apart(self, work: Callable[[], _T]) -> _T:
        """Do work in a thread, where a library may use threads of its own; this share of its seconds counts."""
        return self._counting(work, time.monotonic, THREAD_SHARE)

    def _counting(self, work: Callable[[], _T], clock: Callable[[], float], share: float) -> _T:
        begun = clock()
        try:
            return work()
        finally:
            self.work_seconds += share * (clock() - begun)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Record the seconds that the body takes, also where it raises."""
        begun = self.begun_seconds[stage] = time.monotonic()
        try:
            yield
        finally:
            self.record(stage, begun, time.monotonic() - begun)

    def record(self, stage: str, begun_seconds: float, seconds: float) -> None:
        """Record a stage that was timed elsewhere."""
        self.seconds[stage] = seconds
        self.begun_seconds[stage] = begun_seconds

    def add(self, other: StageTimer) -> None:
        """Add another document's seconds to these, stage by stage."""
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def timing(self, total_seconds: float) -> Timing:
        """The stages in milliseconds beside the request's own total."""
        stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in self.seconds.items()}
        return Timing(**stages, total_ms=round(total_seconds * 1000, 3))
