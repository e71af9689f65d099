"""A pool that ends waits for every reading, also for one whose caller has gone."""

from __future__ import annotations

import asyncio
import time

import pytest

from service.api.parsers.connection import Parser
from service.api.parsers.idle_parsers import IdleParserPool
from service.api.parsers.pool import ParseLimits, ParserPool
from service.api.parsers.zygote import Order
from service.core.tenants import ANONYMOUS
from service.documents.limits import DocumentLimits


class SlowSource:
    """A source whose parsers take their time, also to be called off."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def start(self) -> None:
        pass

    async def stop(self) -> None:
        self.log.append("stopped")

    async def fork(self) -> Parser:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            self.log.append("called off")
        raise AssertionError("nobody waits a minute")

    def order(self, order: Order, parser: Parser) -> None:
        raise AssertionError("there is no parser")


def test_the_reading_of_a_caller_who_left_is_waited_for() -> None:
    source = SlowSource()

    async def scene() -> None:
        stock = IdleParserPool(0, 1, source, anonymous=ANONYMOUS)
        limits = ParseLimits(DocumentLimits(), seconds=60.0, queue_bytes=1 << 20)
        pool = ParserPool(1, limits, stock, on_death=lambda: None, on_refusal=lambda _: None)
        await pool.start()
        wanted = pool.parse(b"hello", None, "a.txt", client="c", deadline_seconds=time.monotonic() + 60)
        asking = asyncio.create_task(wanted)
        await asyncio.sleep(0.01)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await pool.stop()

    asyncio.run(scene())
    assert source.log == ["called off", "stopped"]
