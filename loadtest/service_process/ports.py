"""A port for a server that is about to start, kept for it by a socket that never listens.

Whoever asks the system for any port is not given a kept one, whereas a server that asks for it by number and sets
SO_REUSEADDR, as servers do, gets it. Until one listens there, connections are refused.
"""

from __future__ import annotations

import socket
import sys
import weakref


class KeptPort:
    """A free port of the loopback, which nobody else is given as long as this object is held."""

    def __init__(self) -> None:
        keeper = socket.socket()
        weakref.finalize(self, keeper.close)
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        self.number: int = keeper.getsockname()[1]
        if sys.platform != "linux":  # SO_REUSEADDR does not go so far elsewhere: there the port is free, no more.
            keeper.close()
