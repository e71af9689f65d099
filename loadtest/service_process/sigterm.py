"""SIGTERM handling of programs that start processes: they stop those before they end themselves."""

from __future__ import annotations

import signal
import sys


def end_on_sigterm() -> None:
    """From now on SIGTERM raises SystemExit, so that open contexts stop the processes that they started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
