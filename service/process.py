"""What processes of one service agree on: exit codes, and that no child outlives its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

EXIT_UNUSABLE = 78
"""The configuration or a model cannot be used (EX_CONFIG of sysexits.h): starting again would not help."""

EXIT_DEVICE_LOST = 69
"""The GPU is gone (EX_UNAVAILABLE of sysexits.h): only another machine helps."""

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel send SIGKILL to this process when its parent dies (Linux; elsewhere nothing happens)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
