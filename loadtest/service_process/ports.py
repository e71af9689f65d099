"""A port reserved for a server that is about to start, by a socket that is bound to it and never listens.

The system does not hand out a reserved port to processes that ask for any free one, whereas a server that asks for it
by number and sets SO_REUSEADDR, as servers do, gets it. Until one listens there, connections are refused.
"""

from __future__ import annotations

import socket
import sys
import weakref


class KeptPort:
    """A free port of the loopback interface, reserved until this object is garbage-collected."""

    def __init__(self) -> None:
        reservation = socket.socket()
        weakref.finalize(self, reservation.close)
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reservation.bind(("127.0.0.1", 0))
        self.number: int = reservation.getsockname()[1]
        if sys.platform != "linux":  # Elsewhere SO_REUSEADDR does not allow the second bind: the port is only free.
            reservation.close()
