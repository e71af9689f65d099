"""Queued file: one file on its way through the parsers, and how patient it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SLICE_SECONDS = 0.25
PATIENCE = 4.0


class FileState(StrEnum):
    """Where a file is on its way: `INTERRUPTED` has a parser that stands still."""

    WAITING = "waiting"
    RUNNING = "running"
    INTERRUPTED = "interrupted"


@dataclass(slots=True)
class QueuedFile:
    """One file in the queue. Times are absolute seconds of one clock.

    Attributes:
        expected_seconds: of parsing, estimated from its format and size.
        ran_seconds: of parsing so far, in its present parser.
        running_since: the time at which its present run began; `charged_until`: until when that is counted.
        alone: True for the second try of a file whose first parser died.
    """

    key: int
    client: str
    size_bytes: int
    arrived: float
    deadline: float
    expected_seconds: float
    state: FileState = FileState.WAITING
    ran_seconds: float = 0.0
    running_since: float = 0.0
    charged_until: float = 0.0
    alone: bool = False
    restarted: bool = False

    @property
    def slice_end(self) -> float:
        return self.running_since + SLICE_SECONDS

    @property
    def due(self) -> float:
        return self.arrived + PATIENCE * max(self.expected_seconds, self.ran_seconds)
