"""Progress of an engine's start-up: written by the loading thread, read by the loop."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from service.core.types import Phase

DEVICE_PARTS = frozenset({"warm-up", "measure", "prove"})


@dataclass(slots=True)
class StartupState:
    """How far the start-up is.

    Attributes:
        percent: of the whole start-up.
        seconds: time spent in each part so far.
        failure: why the models cannot be served, if so.
        steps: grows with every step forward, also within a part.
        under_way: parts that have begun and not ended.
        gpu: UUID of the device, if that is a GPU.
    """

    phase: Phase = Phase.LOADING
    percent: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    failure: str | None = None
    gpu: str | None = None
    steps: int = 0
    under_way: set[str] = field(default_factory=set)

    @property
    def on_device(self) -> bool:
        """True while all that the start-up does is to run the models."""
        return not self.under_way.isdisjoint(DEVICE_PARTS)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Add the time of the block to the seconds of a part."""
        begun = time.monotonic()
        self.steps += 1
        self.under_way.add(part)
        try:
            yield
        finally:
            self.under_way.discard(part)
            self.steps += 1
            self.seconds[part] = round(self.seconds.get(part, 0.0) + time.monotonic() - begun, 3)
