"""TLS handshake of a connection: counted from its accept on, evicted like any silent connection, ended after a time.

The event loop's own TLS server tells a protocol nothing before the handshake is complete, for up to a minute. So the
socket is accepted without TLS, counted, and given to the event loop once more, which starts TLS.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import time
from typing import Any

from uvicorn.config import Config
from uvicorn.server import ServerState

from service.api.connection.connections import Connections
from service.api.connection.protocol import BoundedHttpProtocol
from service.core.connections.connection_table import Acceptance
from service.core.connections.incoming_message import HEALTH_ONLY_SECONDS


class TlsHandshake(asyncio.Protocol):
    """One connection until it is encrypted; then its HTTP protocol takes its place."""

    def __init__(
        self,
        context: ssl.SSLContext,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._context = context
        self._shared: Connections = app_state["connections"]
        self._http = _EncryptedHttp(config, server_state, app_state, _loop)
        self._http.handshake = self
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        place = self._shared.table.opened(self, time.monotonic())
        if place is Acceptance.OVER_LIMIT:
            self._shared.table.closed(self)  # To say why would cost a handshake.
            self._shared.count_dropped("evicted")
        else:
            again = socket.socket(fileno=os.dup(transport.get_extra_info("socket").fileno()))
            seconds = self._shared.limits.handshake_seconds if place is Acceptance.OPEN else HEALTH_ONLY_SECONDS
            self._task = asyncio.get_running_loop().create_task(self._encrypt(again, seconds))
        transport.abort()

    def complete(self) -> None:
        """The connection is encrypted, and its HTTP protocol is counted from now on."""
        self._shared.table.closed(self)

    async def _encrypt(self, accepted: socket.socket, seconds: float) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self._http, accepted, ssl=self._context, ssl_handshake_timeout=seconds
            )
        except OSError:  # Its TLS is bad, its time over, or its client gone.
            self._shared.count_dropped("handshake")
        finally:
            self._shared.table.closed(self)

    # The worker's calls

    def enforce_time_limits(self, _now: float) -> None:
        """The handshake has a time limit of its own."""

    def give_up(self, _transfer: object) -> None:
        """It holds no bytes of a request."""

    def evict(self) -> bool:
        """Close this connection."""
        self._shared.table.closed(self)
        return self._task is not None and self._task.cancel()

    def end_after_answer(self) -> None:
        """It has no answer yet."""

    def is_slow(self, _now: float) -> bool:
        """It has no body."""
        return False


class _EncryptedHttp(BoundedHttpProtocol):
    handshake: TlsHandshake

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.handshake.complete()
        super().connection_made(transport)
