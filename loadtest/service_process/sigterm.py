"""How a program that starts processes ends: not before they do."""

from __future__ import annotations

import signal
import sys


def end_on_sigterm() -> None:
    """From now on SIGTERM ends this process as Ctrl-C does: on the way out, what was started is stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))
