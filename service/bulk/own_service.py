"""The service beside a bulk worker: asked over loopback, and only while its own queue leaves room.

There is room while the engine is ready and its backlog, of device or parsers, is short: bulk work then fills what
interactive work leaves, and takes little of the queue itself. The service's processes keep these numbers
in files (`metrics/prometheus.py`), as the publisher reads them, so looking costs no request. Where the service refuses
a file all the same, the chunk's worker waits as `Retry-After` says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import httpx

from service.client import AsyncClient, FileSource, RetryBudget, TextSource
from service.client import GleanerError as ClientError
from service.core.bulk_scaling import AnsweredWork, BulkMeter
from service.core.errors import NotReady
from service.core.types import Priority
from service.environment import ANY_ADDRESS, address_of
from service.metrics.prometheus import series
from service.remote_service import RemoteService
from service.settings import Settings
from service.signals.catalog import BACKLOG_SECONDS
from service.signals.points import LEVELS, PHASE_NAME, Snapshot, total

ROOM_SECONDS = 1.0
"""Backlog below which there is room: about the time until the next look, so that the device is kept busy."""
LOOK_SECONDS = 0.5
"""Seconds between two looks; the engine writes its numbers as often."""
MODELS_SECONDS = 5.0
"""Seconds for which the list of served models is cached."""


def snapshot() -> Snapshot:
    return Snapshot(time.monotonic(), time.time(), series())


def has_room(found: Snapshot) -> bool:
    """True while the service can take more bulk work without delay for others."""
    is_ready = total(found, PHASE_NAME, phase="ready") == 1.0
    return is_ready and (total(found, LEVELS[BACKLOG_SECONDS]) or 0.0) < ROOM_SECONDS


class Room:
    """Waits for room, however many files wait for it, with one look each half second."""

    def __init__(self, look: Callable[[], bool] = lambda: has_room(snapshot())) -> None:
        self._look = look
        self._is_there = False
        self._looked = float("-inf")
        self._one = asyncio.Lock()

    async def is_there(self) -> bool:
        """True if there was room at the last look."""
        async with self._one:
            if time.monotonic() - self._looked >= LOOK_SECONDS:
                self._is_there = await asyncio.to_thread(self._look)
                self._looked = time.monotonic()
            return self._is_there

    async def wait(self) -> None:
        """Return when there is room."""
        while not await self.is_there():
            await asyncio.sleep(LOOK_SECONDS)


class OwnService:
    """The service beside this process; `meter` counts what its answers cost."""

    def __init__(self, settings: Settings, room: Room, meter: BulkMeter, key: str | None) -> None:
        self._room, self._meter = room, meter
        self._service = RemoteService("", {}, asking=_client(settings, settings.port, key))
        self._operators = _client(settings, settings.internal_port or settings.port, key)
        self._models = frozenset[str]()
        self._models_read = float("-inf")

    async def ask(self, options: dict[str, Any], name: str, data: bytes | str) -> dict[str, Any]:
        """The answer to one document, as `Ask`; waits for room first."""
        await self._room.wait()
        source = TextSource(data, name) if isinstance(data, str) else FileSource(data, name)
        answer = await self._service.ask("/extract", [source], {**options, "priority": Priority.BATCH.value})
        document: dict[str, Any] = answer["documents"][0]
        timing = answer["timing"]
        seconds = {name: timing.get(f"{name}_ms", 0.0) / 1000 for name in ("tokenize", "decode", "parse")}
        work = AnsweredWork(1, document.get("tokens") or 0, seconds["tokenize"] + seconds["decode"], seconds["parse"])
        self._meter.answered(work, time.monotonic())
        return document

    async def serves(self, model: str) -> bool:
        """Tell whether a revision, `name@sha256:…`, is served.

        Raises:
            NotReady: the service does not answer.
        """
        if time.monotonic() - self._models_read >= MODELS_SECONDS:
            try:
                found = (await self._operators.models())["models"]
            except ClientError as error:
                raise NotReady(error.detail, retry_after_seconds=error.retry_after_seconds) from error
            self._models = frozenset(f"{each['name']}@{each['revision']}" for each in found)
            self._models_read = time.monotonic()
        return model in self._models

    async def close(self) -> None:
        await self._service.__aexit__()
        await self._operators.close()


def _client(settings: Settings, port: int, key: str | None) -> AsyncClient:
    """A client without retries of its own, which are the chunk worker's. This machine's certificate is not checked."""
    host = ANY_ADDRESS.get(settings.host, settings.host)
    scheme = "http" if settings.tls_certificate is None else "https"
    transport = httpx.AsyncHTTPTransport(verify=False, limits=httpx.Limits(max_connections=None))
    url = f"{scheme}://{address_of(host, port)}"
    return AsyncClient(url, key=key, retries=RetryBudget(0), transport=transport)
