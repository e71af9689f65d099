"""Conventions between the processes of one service: exit codes, heartbeats, death and hidden memory."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from service.core.liveness import HeartbeatTimeout

EXIT_BROKEN = 1
"""Exit code after which the supervisor starts another engine, and workers submit pending documents again."""
EXIT_UNUSABLE = 78
"""Exit code for an unusable configuration or model, where another start would not help (EX_CONFIG of sysexits.h)."""

EXIT_DEVICE_LOST = 69
"""Exit code for a lost GPU, where only another machine helps (EX_UNAVAILABLE of sysexits.h)."""

FINAL_EXITS = {EXIT_UNUSABLE, EXIT_DEVICE_LOST}
"""Exit codes of an engine after which no other is started."""

EXIT_RESTART_LIMIT = 70
"""Exit code after too many deaths of front workers (EX_SOFTWARE of sysexits.h)."""


def end_of(exit_code: int) -> str:
    """Describe a process's end in words, by `subprocess`'s exit code."""
    if exit_code >= 0:
        return f"exit code {exit_code}"
    number = -exit_code
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    killer = "; often the kernel's memory killer, see dmesg" if number == signal.SIGKILL else ""
    return f"killed by {name}{killer}"


SERVES, STARTS = b"+", b"-"
"""Heartbeats of a serving engine, and of one that does not serve yet."""
START_SILENCE_SECONDS = 120.0
"""Seconds of silence of an engine that does not serve yet: importing large libraries may stop its loop."""
_PIPE_BYTES = 65_536
MANY_FILES = 1_048_576
"""Open files in place of no limit."""
COLLECTIONS = (5_000, 5, 60)
"""New objects between two garbage collections, and collections of one generation before one of the next.

With Python's default of 700 they took 6 % of a worker's time and 3 % of the engine's loop; more objects stop an
event loop for longer. A full collection takes two tenths of a second with thousands of open connections or
waiting documents, and finds next to nothing: neither requests nor connections leave circles.
"""

NICENESS = 10
"""Niceness of work that nobody waits for: beside other work the kernel gives it a ninth of a processor."""

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def yield_processor() -> None:
    """Let this thread, and those that it starts, yield the processor to others. Only Linux has niceness by thread."""
    if sys.platform == "linux":
        niceness = os.getpriority(os.PRIO_PROCESS, 0)  # 0: the calling thread.
        os.setpriority(os.PRIO_PROCESS, 0, niceness + NICENESS)


def send_heartbeat(pipe: int | None, serves: bool) -> None:
    """Write a heartbeat into the pipe to the watching process, if there is one; ignored when the pipe is full."""
    if pipe is not None:
        with suppress(BlockingIOError, BrokenPipeError):
            os.write(pipe, SERVES if serves else STARTS)


class EngineWatchdog:
    """Watchdog of one engine process, by the heartbeats that its loop writes into a pipe.

    A process that is stopped or stuck sends none, though the kernel says that it lives. Silence is counted in the
    listener's awake time, so a pause of all processes together (a frozen container, a suspended host) does not count.

    Args:
        limit_seconds: silence after which an engine that serves counts as stuck; 0: never.
    """

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._silence = HeartbeatTimeout()
        self._serves = False
        self._reader, self.writer = os.pipe()
        for descriptor in (self._reader, self.writer):
            os.set_blocking(descriptor, False)

    def started(self) -> None:
        """Close the pipe's writing end, which the engine has inherited."""
        os.close(self.writer)

    def close(self) -> None:
        os.close(self._reader)

    def excuse(self) -> None:
        """Begin to count anew, because the engine has a reason for silence."""
        self._silence.heard()

    def silent_seconds(self, now: float) -> float:
        """Measure the engine's silence."""
        with suppress(BlockingIOError):
            if beats := os.read(self._reader, _PIPE_BYTES):
                self._silence.heard()
                self._serves = self._serves or SERVES in beats
        return self._silence.tick(now)

    @property
    def serves(self) -> bool:
        return self._serves

    def is_stuck(self, now: float) -> bool:
        limit = max(self._limit_seconds, 0.0 if self._serves else START_SILENCE_SECONDS)
        return self.silent_seconds(now) > limit and bool(self._limit_seconds)


def is_traced(process: int) -> bool:
    """True while a debugger is attached to a process: it may stand still for as long as somebody thinks."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return any(line.startswith("TracerPid:") and line.split()[1] != "0" for line in status.splitlines())


def exit_now(code: int) -> NoReturn:
    """End this process after flushing its output, without waiting for other threads.

    An ordinary exit waits for them: for one in the middle of an import, and for ever for one that a driver holds. One
    that is in torch's code when the interpreter ends takes the process with it (`terminate called …`, SIGABRT).
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def die_with_parent() -> None:
    """Let the kernel send SIGKILL to this process when its parent dies (on Linux only)."""
    if _LIBC is None:
        return
    parent = os.getppid()
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def collect_once() -> None:
    """Collect garbage, exempt the remaining objects from later collections, and make these seldom.

    A full collection stops all threads: for 0.2 s where torch is loaded, again and again under load.
    """
    gc.unfreeze()
    gc.collect()
    collect_seldom()


def collect_seldom() -> None:
    """Exempt the present objects from garbage collection, and collect others less often."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)


def raise_open_files() -> int:
    """Raise this process's limit of open files as far as allowed; returns the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limit if limit != resource.RLIM_INFINITY else MANY_FILES


def hide_memory() -> None:
    """Keep other processes of the same user from reading this one's memory and environment in /proc (Linux).

    It leaves no core dump either, and a debugger needs the rights of root (CAP_SYS_PTRACE).
    """
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_DUMPABLE, 0)
