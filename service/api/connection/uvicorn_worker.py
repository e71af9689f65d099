"""gunicorn's worker: uvicorn with the bounded protocol, and without a `server` header or WebSockets."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from uvicorn_worker import UvicornWorker

from service.api.connection.protocol import BoundedHttpProtocol
from service.api.connection.tls import TlsHandshake

ACCEPTS_A_TURN = 16
"""Connections of a listening socket that all workers together accept in one turn of their event loops."""
LEAST_ACCEPTS = 2
"""Least accepts in a turn of each worker. Few, where there are many, so that no worker takes a whole crowd alone."""


class BoundedUvicornWorker(UvicornWorker):  # type: ignore[misc]
    """A uvicorn worker whose connections are bounded."""

    CONFIG_KWARGS: ClassVar[dict[str, Any]] = {
        "loop": "uvloop",
        "http": BoundedHttpProtocol,
        "ws": "none",
        "server_header": False,
    }

    async def _serve(self) -> None:
        accepts = max(ACCEPTS_A_TURN // self.cfg.workers, LEAST_ACCEPTS)
        self.sockets: list[socket.socket] = several(self.sockets, accepts)
        if self.cfg.is_ssl:
            self.config.app = self.wsgi
            self.config.load()
            self.config.http_protocol_class = partial(TlsHandshake, self.config.ssl)
            self.config.ssl = None
        await super()._serve()


def several(listening: Sequence[socket.socket], count: int) -> list[socket.socket]:
    """These sockets, and further descriptors of each: `count` in all, as many as it accepts connections in a turn.

    libuv accepts one connection by each descriptor in a turn. With a single one, a new connection waits for as many
    turns as others came before it, a health check too, though the loop is hardly late.
    """
    return [*listening, *(each.dup() for each in listening for _ in range(count - 1))]
