"""Conventions between the processes of one service: exit codes, and children that die with their parent."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress

EXIT_UNUSABLE = 78
"""The configuration or a model cannot be used, so starting again would not help (EX_CONFIG of sysexits.h)."""

EXIT_DEVICE_LOST = 69
"""The GPU is lost, so only another machine helps (EX_UNAVAILABLE of sysexits.h)."""

MANY_FILES = 1_048_576
"""Stands for no limit of open files."""

_PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Have the kernel send SIGKILL to this process when its parent dies (Linux; elsewhere nothing happens)."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def raise_open_files() -> int:
    """Raise this process's limit of open files as far as it may go; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit if limit != resource.RLIM_INFINITY else MANY_FILES
