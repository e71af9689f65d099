"""A timer of one document's stages: parse, tokenize, queue, compute, decode."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from service.api.schemas import Timing


@dataclass(slots=True)
class StageTimer:
    """Seconds by stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def measure(self, stage: str) -> Iterator[None]:
        """Record the seconds that the body takes, also where it raises."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.seconds[stage] = time.monotonic() - begun

    def add(self, other: StageTimer) -> None:
        """Add another document's seconds to these, stage by stage."""
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def timing(self, total_seconds: float) -> Timing:
        """The stages in milliseconds beside the request's own total."""
        stages = {f"{stage}_ms": round(seconds * 1000, 3) for stage, seconds in self.seconds.items()}
        return Timing(**stages, total_ms=round(total_seconds * 1000, 3))
