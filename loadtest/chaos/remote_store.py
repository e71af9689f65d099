"""The remote store of a chaos run: a real S3 server, and a proxy that spoils its answers to the service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

from loadtest.chaos.fault import ChaosFault
from loadtest.chaos.subject import Subject
from loadtest.s3.fault_proxy import FaultProxy, fault_proxy
from loadtest.s3.faults import ErrorResponse, Fault, Flip, Reset, Stall, Truncate, no_fault
from loadtest.s3.server import REMOTE, bucket_server

SPOILT_SECONDS = 4.0
SPOILT_SHARE = 0.7
FAULTS: tuple[Fault, ...] = (
    ErrorResponse(500),
    ErrorResponse(503),
    ErrorResponse(403),
    Truncate(1_000),
    Reset(1_000),
    Stall(1_000, 5.0),
    Flip(100),
)


class RemoteStore:
    """A remote store, seen through a proxy by the service and without it by whoever publishes."""

    def __init__(self, proxy: FaultProxy, variables: dict[str, str]) -> None:
        self._proxy = proxy
        self.publisher_variables = variables
        self.service_variables = {**variables, "AWS_ENDPOINT_URL_S3": proxy.endpoint}

    def fault(self) -> ChaosFault:
        """A new revision is published while most answers of the store are spoilt, for some seconds."""
        return ChaosFault("remote store spoilt for 4 s", partial(self._spoil))

    async def _spoil(self, subject: Subject, draw: Random) -> None:
        kind = draw.choice(FAULTS)
        self._proxy.choose = lambda _request: kind if draw.random() < SPOILT_SHARE else None
        try:
            await asyncio.to_thread(subject.publish)
            await asyncio.sleep(SPOILT_SECONDS)
        finally:
            self._proxy.choose = no_fault


@contextmanager
def remote_store(home: Path) -> Iterator[RemoteStore]:
    """A running store with an empty bucket."""
    with bucket_server(home) as server, fault_proxy(server.port) as proxy:
        yield RemoteStore(proxy, {**server.environment(), "GLEANER_MODEL_REMOTE": REMOTE})
