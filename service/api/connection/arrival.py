"""When the bytes of a socket arrived, as the kernel remembers it: also before they were read or even accepted.

Linux's TCP_INFO has the milliseconds since the last segment with data (`tcpi_last_data_recv`, tcp(7), linux/tcp.h). A
worker that is late reads requests late, so its own clock at that moment would hide how long they have waited.
"""

from __future__ import annotations

import asyncio
import socket
import struct

_TCP_INFO_BYTES = 56
_LAST_DATA_RECEIVED = struct.Struct("=I")
_LAST_DATA_RECEIVED_AT = 52
_MOST_SECONDS = 600.0
"""A longer wait is no wait but a value that the kernel never set."""


def waited_seconds(transport: asyncio.BaseTransport) -> float:
    """Seconds since the last data arrived at a transport's socket; 0 where the kernel does not say."""
    found = transport.get_extra_info("socket")
    try:
        info = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        (milliseconds,) = _LAST_DATA_RECEIVED.unpack_from(info, _LAST_DATA_RECEIVED_AT)
    except (OSError, AttributeError, struct.error):
        return 0.0
    seconds: float = milliseconds / 1000
    return seconds if seconds < _MOST_SECONDS else 0.0
