"""Socket timestamps: what the kernel knows of a socket before the event loop does: when bytes came, and the first ones.

Linux's TCP_INFO has the milliseconds since the last segment with data (`tcpi_last_data_recv`, tcp(7), linux/tcp.h). A
worker that is late reads requests late, so its own clock at that moment would hide how long they have waited.
"""

from __future__ import annotations

import ctypes
import fcntl
import socket
import sys
import termios

_LIBC = ctypes.CDLL(None)
_STATE_AT = 0
_CLOSE_WAIT = 8
"""The peer has ended its side (`TCP_CLOSE_WAIT`, linux/tcp_states.h)."""
_LAST_DATA_RECEIVED_AT = 52
_MOST_SECONDS = 600.0
"""A longer wait is no wait but a value that the kernel never set."""


class TcpInfo:
    """Asks the kernel how long ago data came, and whether more can: a microsecond each. For one thread."""

    def __init__(self) -> None:
        self._getsockopt = _LIBC.getsockopt if sys.platform == "linux" else None
        self._info = ctypes.create_string_buffer(_LAST_DATA_RECEIVED_AT + 4)
        self._info_bytes = ctypes.c_uint32(len(self._info))
        self._milliseconds = ctypes.c_uint32.from_buffer(self._info, _LAST_DATA_RECEIVED_AT)
        self._arguments = (socket.IPPROTO_TCP, getattr(socket, "TCP_INFO", 0), self._info)

    def waited_seconds(self, file: int) -> float:
        """Seconds since the last data arrived at this socket; 0 where the kernel does not say."""
        if not self._ask(file):
            return 0.0
        seconds = self._milliseconds.value / 1000
        return seconds if seconds < _MOST_SECONDS else 0.0

    def peer_has_ended(self, file: int) -> bool:
        """True when the peer of this socket has shut down its write side; False where the kernel does not say."""
        return self._ask(file) and self._info[_STATE_AT] == bytes([_CLOSE_WAIT])

    def _ask(self, file: int) -> bool:
        """Fill the info of this socket; False where the kernel does not say."""
        if self._getsockopt is None:
            return False
        if self._getsockopt(file, *self._arguments, ctypes.byref(self._info_bytes)) != 0:
            return False
        if self._info_bytes.value != len(self._info):
            self._info_bytes.value = len(self._info)
            return False
        return True


def first_unread(file: int, count: int) -> bytes:
    """The first bytes that have come to a socket and were not read, which stay unread."""
    found = ctypes.create_string_buffer(count)
    received = _LIBC.recv(file, found, count, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return found.raw[: max(received, 0)]


def unread_bytes(file: int) -> int:
    """Bytes that have come to a socket and were not read."""
    return int.from_bytes(fcntl.ioctl(file, termios.FIONREAD, bytes(4)), sys.byteorder)
