"""The two ways in which a JSON body is decoded, for tests that hold both to the same: at once, and in a real parser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from service.api.bodies.kinds import JsonKind
from service.api.bodies.received_body import ReceivedBody
from tests.support.parsers import PoolSetup, pool_of

T = TypeVar("T")
LIMIT_SECONDS = 120.0
Decode = Callable[[bytes, JsonKind[Any], int], Any]


class AtOnce:
    """A reader that decodes a body of any length at once."""

    async def read(self, body: ReceivedBody, kind: JsonKind[T], most_documents: int) -> T:
        return kind.decode(await body.whole(), most_documents)


@contextmanager
def json_parser(setup: PoolSetup | None = None) -> Iterator[Decode]:
    """Decodes bodies, however short, in parsers of one pool."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        pool = runner.run(stack.enter_async_context(pool_of(setup or PoolSetup(files=10_000))))

        def decode(data: bytes, kind: JsonKind[Any], most: int) -> Any:
            body, deadline = ReceivedBody([data]), time.monotonic() + LIMIT_SECONDS
            return runner.run(pool.read_json(body, kind, most, client="c", deadline_seconds=deadline))

        try:
            yield decode
        finally:
            runner.run(stack.aclose())


@contextmanager
def decoding(way: str) -> Iterator[Decode]:
    """Decodes bodies in a way: `at once`, or `in a parser`."""
    if way == "at once":
        yield lambda data, kind, most: kind.decode(data, most)
    else:
        with json_parser() as decode:
            yield decode


WAYS = ("at once", "in a parser")
