"""One HTTP/1.1 connection that carries one request at a time: httptools parses, nothing else is in the way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import httptools


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `status` 0: nothing did; `failure` then says why."""

    status: int
    retry_after: str
    body: bytes
    failure: str = ""


class Connection(asyncio.Protocol):
    """Calls `ended` once for each request, with the reply and whether the connection can carry another."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._ended: Callable[[Reply, bool], None] | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._body: list[bytes] = []
        self._retry_after = ""
        self._complete = self._reusable = False
        self.carried = 0

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    @property
    def untouched(self) -> bool:
        """Whether not a byte of the present reply has come."""
        return not self._touched

    def send(self, request: bytes, ended: Callable[[Reply, bool], None]) -> None:
        """Write a request; it has all gone to the socket or to its buffer when this returns."""
        assert self._transport is not None
        assert self._ended is None, "one request at a time"
        self._ended, self._touched = ended, False
        self._body.clear()
        self._retry_after, self._complete = "", False
        self.carried += 1
        self._transport.write(request)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._touched = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._end(Reply(0, "", b"", f"bad_http ({error})"), reusable=False)
            self.close()
            return
        if self._complete:
            reply = Reply(self._parser.get_status_code(), self._retry_after, b"".join(self._body))
            self._end(reply, reusable=self._reusable)

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        self._end(Reply(0, "", b"", "connection_lost"), reusable=False)

    # httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) == 11 and name.lower() == b"retry-after":
            self._retry_after = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        self._complete = True
        self._reusable = self._parser.should_keep_alive()  # Once the message is over, httptools always says no.

    _touched = False

    def _end(self, reply: Reply, *, reusable: bool) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended(reply, reusable)
