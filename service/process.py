"""Conventions between the processes of one service: exit codes, death with the parent, memory hidden from others."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

EXIT_UNUSABLE = 78
"""The configuration or a model cannot be used, so starting again would not help (EX_CONFIG of sysexits.h)."""

EXIT_DEVICE_LOST = 69
"""The GPU is lost, so only another machine helps (EX_UNAVAILABLE of sysexits.h)."""

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Have the kernel send SIGKILL to this process when its parent dies (Linux; elsewhere nothing happens)."""
    if _LIBC is None:
        return
    parent = os.getppid()
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def hide_memory() -> None:
    """Keep other processes of the same user from reading this one's memory and environment in /proc (Linux).

    It leaves no core dump either, and a debugger needs the rights of root (CAP_SYS_PTRACE).
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_DUMPABLE, 0)
