"""Idle parsers: fresh ones, forked before they are needed, and used ones, kept for their client's next file.

The rules:
- A parser reads the files of one client only, and not more than a given number. The client `anonymous` may be anybody,
  so each of its files has a parser of its own.
- A parser whose file failed, whatever the reason, is not used again. One that is kept stands still until its next file.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from typing import Protocol

from service.api.parsers.connection import Parser
from service.api.parsers.zygote import Order
from service.core.errors import InternalError
from service.logs import LogEvent

MOST_BUSY_SECONDS = 10.0
"""A parser that has been busy for longer is not kept: its limit of processor time holds for all its files together."""
HALT_SECONDS = 0.01
"""A parser that is kept stands still after this: the next file often comes before."""

log = logging.getLogger(__name__)


class ParserSource(Protocol):
    """Where parsers come from: the zygote's client."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    async def fork(self) -> Parser: ...
    def order(self, order: Order, parser: Parser) -> None: ...


class IdleParserPool:
    """Parsers that wait: `size` fresh ones, and at most as many that are kept, those used last."""

    def __init__(self, size: int, files: int, source: ParserSource, *, anonymous: str) -> None:
        self._size = size
        self._files = files
        self._source = source
        self._anonymous = anonymous
        self._fresh: deque[Parser] = deque()
        self._kept: deque[Parser] = deque()
        self._coming: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Start the source and fork the first parsers."""
        await self._source.start()
        self._restock()

    async def stop(self) -> None:
        """End all parsers."""
        for task in self._coming:
            task.cancel()
        await asyncio.gather(*self._coming, return_exceptions=True)
        for parser in (*self._fresh, *self._kept):
            self._end(parser)
        await self._source.stop()

    async def take(self, client: str) -> Parser:
        """A parser for a file of this client.

        Raises:
            InternalError: none can be forked.
        """
        parser = next(self._usable(client), None) or await self._source.fork()
        parser.client = client
        parser.files += 1
        parser.taken_seconds = asyncio.get_running_loop().time()
        return parser

    def put_back(self, parser: Parser, *, sound: bool) -> None:
        """Take back a parser whose file is done; `sound` if it was read without any error and was not large."""
        parser.busy_seconds += asyncio.get_running_loop().time() - parser.taken_seconds
        fit = parser.files < self._files and parser.busy_seconds < MOST_BUSY_SECONDS
        if sound and fit and parser.client != self._anonymous:
            self._kept.append(parser)
            asyncio.get_running_loop().call_later(HALT_SECONDS, self._halt, parser, parser.files)
            if len(self._kept) <= self._size:
                return
            parser = self._kept.popleft()
        self._end(parser)
        self._restock()

    def interrupt(self, parser: Parser, interrupted: bool) -> None:
        """Let a parser stand still, or go on."""
        self._source.order(Order.STOP if interrupted else Order.CONTINUE, parser)

    def _usable(self, client: str) -> Iterator[Parser]:
        """Parsers for this client, taken out of the stock; those that have died meanwhile are dropped."""
        for parser in [each for each in self._kept if each.client == client]:
            self._kept.remove(parser)
            if parser.usable:
                if parser.halted:
                    parser.halted = False
                    self._source.order(Order.CONTINUE, parser)
                yield parser
            self._end(parser)
        while self._fresh:
            parser = self._fresh.popleft()
            if parser.usable:
                yield parser
            self._end(parser)

    def _halt(self, parser: Parser, files: int) -> None:
        """Stop a parser that still waits after this many files."""
        if parser in self._kept and parser.files == files:
            parser.halted = True
            self._source.order(Order.STOP, parser)

    def _restock(self) -> None:
        while len(self._fresh) + len(self._coming) < self._size:
            task = asyncio.get_running_loop().create_task(self._add())
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _add(self) -> None:
        try:
            self._fresh.append(await self._source.fork())
        except InternalError:  # The next file that needs a parser says so to its client.
            log.exception("no parser can be forked", extra={"event": LogEvent.ZYGOTE_DIED})

    def _end(self, parser: Parser) -> None:
        self._source.order(Order.KILL, parser)
        parser.close()
