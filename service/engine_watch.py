"""Engine watch: the supervisor's ear for one engine's heartbeats, which come over a pipe from the engine's own loop.

A process that is stopped or stuck sends none, though the kernel says that it lives. Silence is counted in the
supervisor's awake time, so a pause of all processes together (a frozen container, a suspended host) is none.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from service.core.lifecycle.silence import Silence
from service.process import SERVES

START_SILENCE_SECONDS = 120.0
"""An engine that does not serve yet imports large libraries, and its loop may stand still meanwhile."""
_PIPE_BYTES = 65_536


class EngineWatch:
    """The heartbeats of one engine process.

    Args:
        limit_seconds: silence after which an engine that serves counts as stuck; 0: never.
    """

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._silence = Silence()
        self._serves = False
        self._reader, self.writer = os.pipe()
        for descriptor in (self._reader, self.writer):
            os.set_blocking(descriptor, False)

    def started(self) -> None:
        """Leave the pipe's other end to the engine, which has inherited it."""
        os.close(self.writer)

    def close(self) -> None:
        """Close the pipe of an engine that has ended."""
        os.close(self._reader)

    def excuse(self) -> None:
        """Begin to count anew, because the engine may be silent now."""
        self._silence.heard()

    def silent_seconds(self, now: float) -> float:
        """How long the engine has been silent."""
        with suppress(BlockingIOError):
            if beats := os.read(self._reader, _PIPE_BYTES):
                self._silence.heard()
                self._serves = self._serves or SERVES in beats
        return self._silence.tick(now)

    def is_stuck(self, now: float) -> bool:
        """True when the engine has been silent for too long."""
        limit = max(self._limit_seconds, 0.0 if self._serves else START_SILENCE_SECONDS)
        return self.silent_seconds(now) > limit and bool(self._limit_seconds)


def is_traced(process: int) -> bool:
    """True while a debugger is attached to a process: it may stand still for as long as somebody thinks."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return any(line.startswith("TracerPid:") and line.split()[1] != "0" for line in status.splitlines())
