"""Waker: interrupts the loop's poll from another thread or a signal handler (a socket pair, the self-pipe trick)."""

from __future__ import annotations

import contextlib
import socket

_AT_ONCE_BYTES = 4_096


class Waker:
    """A readable file descriptor for a poll, and the call that makes it readable."""

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def wake(self) -> None:
        """Make the descriptor readable; several calls before `clear` count as one."""
        with contextlib.suppress(BlockingIOError):  # The buffer is full, so the descriptor is readable.
            self._writer.send(b"\0")

    def clear(self) -> None:
        """Make the descriptor unreadable again."""
        with contextlib.suppress(BlockingIOError):
            while len(self._reader.recv(_AT_ONCE_BYTES)) == _AT_ONCE_BYTES:
                pass

    def fileno(self) -> int:
        """The descriptor to poll."""
        return self._reader.fileno()

    def writer_fileno(self) -> int:
        """The descriptor for `signal.set_wakeup_fd`."""
        return self._writer.fileno()

    def close(self) -> None:
        self._reader.close()
        self._writer.close()
