"""Connection bursts during a run: many connections with one request each at once, and slow ones that stay open.

Raw sockets, because no HTTP library does this: every second slow connection sends nothing at all, the others a byte
of a head or of a body now and then.
"""

from __future__ import annotations

import asyncio
import json
import resource
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

from loadtest.errors import LoadtestError
from loadtest.generator.http_client import service_url

BODY = json.dumps({"text": "Invoice INV-20931 from Acme GmbH, total EUR 1,200.00."}).encode()
ANSWER_SECONDS = 60.0
DRIP_SECONDS = 0.5
UNANSWERED, UNTYPED = "unanswered", "untyped"


class _Problem(msgspec.Struct):
    code: str


@dataclass(frozen=True, slots=True)
class BurstOutcome:
    """The outcome of a burst's requests: counts by `ok`, a problem's code, `untyped` or `unanswered`."""

    outcomes: Counter[str]
    slowest_refusal_seconds: float

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())
        return f"{self.outcomes.total()} connections: {counts}; slowest refusal {self.slowest_refusal_seconds:.2f} s"

    def check(self) -> None:
        """Check that every request had an answer, and every refusal a type.

        Raises:
            LoadtestError: one had none.
        """
        if self.outcomes[UNANSWERED] or self.outcomes[UNTYPED]:
            raise LoadtestError(str(self))


def ask_at_once(url: str, connections: int) -> BurstOutcome:
    """Open the connections all at once, with one request on each; wait for every answer."""
    raise_open_files()
    return asyncio.run(_ask_at_once(url, connections))


def hold_slowly(url: str, connections: int, seconds: float) -> int:
    """Hold slow connections for this time; returns the number of those that the service has closed by then."""
    raise_open_files()
    return asyncio.run(_hold_slowly(url, connections, seconds))


async def _ask_at_once(url: str, connections: int) -> BurstOutcome:
    found = await asyncio.gather(*(_ask(url) for _ in range(connections)))
    refusals = (seconds for outcome, seconds in found if outcome not in ("ok", UNANSWERED))
    return BurstOutcome(Counter(outcome for outcome, _ in found), max(refusals, default=0.0))


async def _ask(url: str) -> tuple[str, float]:
    host, port = _address(url)
    begun = time.monotonic()
    try:
        async with asyncio.timeout(ANSWER_SECONDS), _connected(host, port) as (reader, writer):
            begun = time.monotonic()
            writer.write(_head(host, "application/json", len(BODY)) + BODY)
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in _lines(head) if line.startswith(b"content-length:"))
            body = await reader.readexactly(length)
    except (OSError, TimeoutError, asyncio.IncompleteReadError, StopIteration):
        return UNANSWERED, time.monotonic() - begun
    return _outcome(head, body), time.monotonic() - begun


@asynccontextmanager
async def _connected(host: str, port: int) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield reader, writer
    finally:
        writer.close()


def _outcome(head: bytes, body: bytes) -> str:
    if head.split(b" ", 2)[1] == b"200":
        return "ok"
    try:
        return msgspec.json.decode(body, type=_Problem).code
    except msgspec.MsgspecError:
        return UNTYPED


async def _hold_slowly(url: str, connections: int, seconds: float) -> int:
    return sum(await asyncio.gather(*(_hold(url, number, seconds) for number in range(connections))))


async def _hold(url: str, number: int, seconds: float) -> bool:
    """Hold one connection; True if the service closed it."""
    host, port = _address(url)
    end = time.monotonic() + seconds
    with suppress(OSError):
        async with _connected(host, port) as (reader, writer):
            head = _head(host, "text/plain", 100_000)
            writer.write(b"" if number % 2 else head[:-2] if number % 4 else head)
            while time.monotonic() < end and not reader.at_eof():
                with suppress(TimeoutError):
                    async with asyncio.timeout(DRIP_SECONDS):
                        await reader.read(65_536)
                if number % 2 == 0:
                    writer.write(b"x")
            return reader.at_eof()
    return True


def _head(host: str, content_type: str, length: int) -> bytes:
    fields = ("POST /extract HTTP/1.1", f"Host: {host}", f"Content-Type: {content_type}", f"Content-Length: {length}")
    return "\r\n".join((*fields, "", "")).encode()


def _lines(head: bytes) -> Iterable[bytes]:
    return head.lower().split(b"\r\n")


def _address(url: str) -> tuple[str, int]:
    parts = urlsplit(service_url(url))
    return parts.hostname or "", parts.port or 80


def raise_open_files() -> None:
    """Let this process open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
