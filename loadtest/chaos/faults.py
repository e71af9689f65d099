"""Faults of a chaos run: processes are killed or stopped, clients hang up or dawdle, a disk fills, a store misbehaves.

A fault is a name, what it may cost, and what it does to a service. A small disk in memory is mounted where this process
may (root); a remote store is a real S3 server behind a proxy that spoils its answers.
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from loadtest.chaos.subject import Subject
from loadtest.generator.http_client import HttpClient
from loadtest.s3.fault_proxy import (
    ErrorResponse,
    Fault,
    FaultProxy,
    Flip,
    Reset,
    Stall,
    Truncate,
    fault_proxy,
    no_fault,
)
from loadtest.s3.server import REMOTE, bucket_server
from loadtest.scenario.workload import Job


@dataclass(frozen=True, slots=True)
class ChaosFault:
    """A fault.

    Attributes:
        inject: does it; returns when it is over.
        loses: open connections may be lost by it, and by nothing else.
        weight: its relative frequency.
        kills_engine: it may cost the engine's life, which a service survives twice a minute.
    """

    name: str
    inject: Callable[[Subject, Random], Awaitable[None]]
    loses: bool = False
    weight: float = 1.0
    kills_engine: bool = False


SHORT_STOP_SECONDS = (0.2, 2.0)
LONG_STOP_SECONDS = 20.0
PAUSE_SECONDS = 3.0


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def _one(processes: Sequence[int], draw: Random) -> list[int]:
    return [draw.choice(processes)] if processes else []


async def _stop_for(processes: Sequence[int], seconds: float) -> None:
    _send(processes, signal.SIGSTOP)
    try:
        await asyncio.sleep(seconds)
    finally:
        _send(processes, signal.SIGCONT)


async def _kill_engine(subject: Subject, _draw: Random) -> None:
    _send(subject.parts.engines(), signal.SIGKILL)


async def _kill_worker(subject: Subject, draw: Random) -> None:
    _send(_one(subject.parts.workers(), draw), signal.SIGKILL)


async def _kill_parser(subject: Subject, draw: Random) -> None:
    _send(_one(subject.parts.parsers(), draw), signal.SIGKILL)


async def _stop_engine(subject: Subject, draw: Random) -> None:
    await _stop_for(subject.parts.engines(), draw.uniform(*SHORT_STOP_SECONDS))


async def _hang_engine(subject: Subject, _draw: Random) -> None:
    await _stop_for(subject.parts.engines(), LONG_STOP_SECONDS)


async def _stop_worker(subject: Subject, draw: Random) -> None:
    await _stop_for(_one(subject.parts.workers(), draw), draw.uniform(*SHORT_STOP_SECONDS))


async def _pause(subject: Subject, _draw: Random) -> None:
    await _stop_for(subject.parts.all(), PAUSE_SECONDS)


PROCESS_FAULTS = (
    ChaosFault("engine killed", _kill_engine, kills_engine=True),
    ChaosFault("worker killed", _kill_worker, loses=True),
    ChaosFault("parser killed", _kill_parser, weight=2.0),
    ChaosFault("engine stopped for a moment", _stop_engine),
    ChaosFault("engine stopped for 20 s", _hang_engine, weight=0.3, kills_engine=True),
    ChaosFault("worker stopped for a moment", _stop_worker),
    ChaosFault("everything paused for 3 s", _pause, weight=0.5),
)


HANG_UPS = 40
SILENT = 200
SILENT_SECONDS = 3.0
BURST = 300
BURST_SECONDS = 60.0


async def _hang_up(subject: Subject, draw: Random) -> None:
    """Clients leave: half before their body is whole, half while they wait for the answer."""
    await asyncio.gather(*(_leave(subject, draw.choice(subject.questions), draw) for _ in range(HANG_UPS)))


async def _leave(subject: Subject, job: Job, draw: Random) -> None:
    with suppress(OSError):
        _, sink = await _connect(subject)
        sent = len(job.body) if draw.random() < 0.5 else len(job.body) // 2
        sink.write(_head(job) + job.body[:sent])
        await sink.drain()
        await asyncio.sleep(draw.uniform(0.0, 0.2))
        sink.transport.abort()


async def _silence(subject: Subject, _draw: Random) -> None:
    """Connections that send half of a request's head and no more."""
    opened = await asyncio.gather(*(_connect(subject) for _ in range(SILENT)), return_exceptions=True)
    sinks = [each[1] for each in opened if not isinstance(each, BaseException)]
    for sink in sinks:
        sink.write(b"POST /extract HTTP/1.1\r\nHost: a")
    await asyncio.sleep(SILENT_SECONDS)
    for sink in sinks:
        sink.transport.abort()


async def _burst(subject: Subject, draw: Random) -> None:
    """Requests beyond any capacity, at one moment."""
    async with HttpClient(subject.service.url, most=BURST, timeout_seconds=BURST_SECONDS) as client:
        await asyncio.gather(*(client.post(draw.choice(subject.questions)) for _ in range(BURST)))


async def _connect(subject: Subject) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    address = urlsplit(subject.service.url)
    return await asyncio.open_connection(address.hostname, address.port)


def _head(job: Job) -> bytes:
    headers = {"Host": "a", "Content-Type": job.content_type, "Content-Length": str(len(job.body)), **dict(job.headers)}
    return "\r\n".join(
        ["POST /extract HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    ).encode()


CLIENT_FAULTS = (
    ChaosFault("40 clients hang up", _hang_up),
    ChaosFault("200 half-open requests", _silence),
    ChaosFault("300 requests at once", _burst),
)


PIECE_BYTES = 1 << 20


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Mount a file system of this size at `folder`, which is made; False where that is not allowed."""
    folder.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=1777", "gleaner-disk", str(folder)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    except FileNotFoundError:
        mounted = False
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False, capture_output=True)


def fill(file: Path) -> None:
    """Write into a file until no byte is left on its disk.

    Raises:
        OSError: the disk failed otherwise.
    """
    with file.open("wb", buffering=0) as sink:
        for piece in (PIECE_BYTES, 1):
            try:
                while True:
                    sink.write(bytes(piece))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


FULL_SECONDS = 3.0
BAD_KEYS_SECONDS = 3.0


def disk_fault(folder: Path) -> ChaosFault:
    """Fault: no byte is left on the disk of this folder, for a while."""
    return ChaosFault("uploads' disk full for 3 s", partial(_fill_disk, folder))


async def _fill_disk(folder: Path, _subject: Subject, _draw: Random) -> None:
    file = folder / "full"
    try:
        fill(file)
        await asyncio.sleep(FULL_SECONDS)
    finally:
        with suppress(FileNotFoundError):
            file.unlink()


async def _publish(subject: Subject, _draw: Random) -> None:
    await asyncio.to_thread(subject.publish)


async def _spoil_keys(subject: Subject, _draw: Random) -> None:
    """Replace the keys file by nonsense for a while."""
    file = subject.service.home / "keys"
    good = file.read_text()
    try:
        file.write_text("what is this\n")
        await asyncio.sleep(BAD_KEYS_SECONDS)
    finally:
        file.write_text(good)


RESOURCE_FAULTS = (ChaosFault("new revision", _publish), ChaosFault("spoilt keys file for 3 s", _spoil_keys))


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
    """A remote store, which the service reads through a proxy and publishers write to directly."""

    def __init__(self, proxy: FaultProxy, variables: dict[str, str]) -> None:
        self._proxy = proxy
        self.publisher_variables = variables
        self.service_variables = {**variables, "AWS_ENDPOINT_URL_S3": proxy.endpoint}

    def fault(self) -> ChaosFault:
        """Fault: a new revision is published while most answers of the store are spoilt."""
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


def all_faults(small_disk: Path | None = None, remote: RemoteStore | None = None) -> list[ChaosFault]:
    """Every fault; the uploads' disk and the remote store are only spoilt where they are the run's own."""
    own = [disk_fault(small_disk)] if small_disk else []
    return [*PROCESS_FAULTS, *CLIENT_FAULTS, *RESOURCE_FAULTS, *own, *([remote.fault()] if remote else [])]
