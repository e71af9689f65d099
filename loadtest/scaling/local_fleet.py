"""Local fleet: real `gleaner serve` processes behind a load balancer, started after a delay and drained when removed.

    start    wait for the instance's boot → start the process → ready → register with the balancer
    remove   deregister, its open requests end → SIGTERM, the service drains → exit code

The balancer speaks HTTP/1.1 and picks the backend with the fewest outstanding requests. As with AWS's, a deregistered
backend gets no new requests and keeps its open ones, and a request that could not be delivered is answered with 502 and
not sent to another backend, since it may have been processed.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx

from infra.scaling.policy_values import Delays
from loadtest.errors import Unreachable
from loadtest.generator.sampler import parse_metrics
from loadtest.scaling.timeline import Timeline
from loadtest.service_process import ServiceProcess, clean_environment, settings_environment
from service.signals.catalog import BUSY_RATIO, GPU_UTILIZATION, Kind, Signal
from service.signals.points import Snapshot, measure

BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
NO_BACKEND = b"HTTP/1.1 502 No Backend\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
HEAD_LIMIT_BYTES = 65_536


class Backend:
    """One service process, with its outstanding requests and all that were ever sent to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.outstanding = 0
        self.sent = 0


def choose(backends: Iterable[Backend]) -> Backend | None:
    """The backend with the fewest outstanding requests; among equals, the one with the fewest ever."""
    return min(backends, key=lambda backend: (backend.outstanding, backend.sent), default=None)


class Balancer:
    """Listens on a free port of the loopback interface."""

    def __init__(self) -> None:
        self._backends: list[Backend] = []
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_LIMIT_BYTES)

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    def register(self, backend: Backend) -> None:
        self._backends.append(backend)

    async def deregister(self, backend: Backend, delay_seconds: float) -> None:
        """Send it no new requests; returns when its open ones have ended, or after the delay."""
        self._backends.remove(backend)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_seconds):
                while backend.outstanding:
                    await asyncio.sleep(0.05)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one request of a connection, then close it."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            request = await _read_request(reader)
            await self._forward(request, writer)
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()

    async def _forward(self, request: bytes, client: asyncio.StreamWriter) -> None:
        backend = choose(self._backends)
        if backend is None:
            client.write(NO_BACKEND)
            return
        backend.outstanding += 1
        backend.sent += 1
        try:
            client.write(await exchange(backend.port, request) or BAD_GATEWAY)
            await client.drain()
        finally:
            backend.outstanding -= 1


async def _read_request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of a request, with `Connection: close` in the head."""
    lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    fields = [line for line in lines[1:] if line and not line.lower().startswith(b"connection:")]
    lengths = [int(line.split(b":")[1]) for line in fields if line.lower().startswith(b"content-length:")]
    body = await reader.readexactly(lengths[0]) if lengths else b""
    return b"\r\n".join([lines[0], *fields, b"Connection: close", b"", b""]) + body


async def exchange(port: int, request: bytes) -> bytes:
    """The whole response to a request with `Connection: close`; empty without one."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return b""
    try:
        writer.write(request)
        return await reader.read(-1)
    except OSError:
        return b""
    finally:
        writer.close()


POLL_SECONDS = 0.25
START_ALLOWANCE_SECONDS = 10.0
"""The part of the start delay that the process itself takes here; the rest is the instance's boot."""
MOST_THREADS = 64
"""Threads that wait for processes to start or to stop."""

Result = TypeVar("Result")


@dataclass(slots=True)
class FleetTask:
    """One task, from the decision to add it to its end."""

    number: int
    wanted: bool = True
    process: ServiceProcess | None = None
    backend: Backend | None = None
    exit_code: int | None = None
    snapshot: Snapshot | None = None
    start: asyncio.Task[None] | None = field(default=None, repr=False)


class LocalFleet:
    """Starts and removes tasks until their number is the wanted one."""

    def __init__(
        self, balancer: Balancer, timeline: Timeline, settings: dict[str, object], home: Path, delays: Delays
    ) -> None:
        self._balancer, self._timeline = balancer, timeline
        self._environment = {**clean_environment(), **settings_environment(settings)}
        self._home = home
        self._delays = delays
        self._client = httpx.AsyncClient(timeout=5.0)
        self._threads = ThreadPoolExecutor(MOST_THREADS)
        self.tasks: list[FleetTask] = []

    @property
    def serving(self) -> int:
        """The number of tasks that get requests."""
        return sum(task.backend is not None and task.wanted for task in self.tasks)

    def scale_to(self, count: int, *, at_once: bool = False) -> None:
        """Add or remove tasks; the youngest are removed first. `at_once`: without the instances' boot."""
        boot_seconds = 0.0 if at_once else max(self._delays.start_seconds - START_ALLOWANCE_SECONDS, 0.0)
        wanted = [task for task in self.tasks if task.wanted]
        for _ in range(count - len(wanted)):
            task = FleetTask(len(self.tasks) + 1)
            self.tasks.append(task)
            task.start = asyncio.create_task(self._start(task, boot_seconds))
        for task in wanted[count:]:
            task.wanted = False
            asyncio.create_task(self._remove(task))  # noqa: RUF006 - `close` waits for its effect.

    async def wait_until_serving(self, count: int) -> None:
        """Return when `count` tasks get requests.

        Raises:
            Unreachable: a task ended during its start.
        """
        while self.serving < count:
            self._raise_failed_start()
            await asyncio.sleep(POLL_SECONDS)

    async def publish(self) -> list[dict[Signal, float]]:
        """The values that the publisher of each running task would send now.

        Raises:
            Unreachable: a task ended during its start.
        """
        self._raise_failed_start()
        running = [task for task in self.tasks if task.process is not None and task.exit_code is None]
        found = await asyncio.gather(*(self._published(task) for task in running))
        return [values for values in found if values]

    async def close(self) -> None:
        """Remove all tasks and wait for their ends."""
        self.scale_to(0)
        while any(task.exit_code is None for task in self.tasks):
            await asyncio.sleep(POLL_SECONDS)
        await self._client.aclose()

    def kill(self) -> None:
        """SIGKILL to every process that still runs."""
        for task in self.tasks:
            if task.process is not None and task.process.process.poll() is None:
                task.process.process.kill()

    async def _start(self, task: FleetTask, boot_seconds: float) -> None:
        await asyncio.sleep(boot_seconds)
        if not task.wanted:
            return
        process = task.process = ServiceProcess(self._home / f"task-{task.number}.log", self._environment)
        try:
            await self._in_thread(process.wait_until_ready)
        except Unreachable:
            if task.wanted:  # Otherwise `_remove` has stopped it.
                raise
        if task.wanted:
            task.backend = Backend(process.port)
            self._balancer.register(task.backend)
            self._timeline.note(f"task {task.number} serves")

    async def _remove(self, task: FleetTask) -> None:
        if task.process is None:
            task.exit_code = 0
            return
        if task.backend is not None:
            await self._balancer.deregister(task.backend, self._delays.deregistration_seconds)
        process, began = task.process, time.monotonic()
        task.exit_code = await self._in_thread(lambda: process.stop(self._delays.stop_seconds))
        seconds = time.monotonic() - began
        self._timeline.note(f"task {task.number} drained in {seconds:.1f} s, exit code {task.exit_code}")

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _raise_failed_start(self) -> None:
        for task in self.tasks:
            if task.start is not None and task.start.done():
                task.start.result()

    async def _published(self, task: FleetTask) -> dict[Signal, float]:
        assert task.process is not None
        try:
            after = parse_metrics((await self._client.get(task.process.url + "/metrics")).text)
        except httpx.HTTPError:
            after = None
        if after is None:
            return {}
        values = published_values(task.snapshot or after, after)
        task.snapshot = after
        return values


def published_values(before: Snapshot, after: Snapshot) -> dict[Signal, float]:
    """The values that the publisher sends for the time between two snapshots, without distributions.

    Without a GPU the busy ratio stands for GPU utilization, which the policy asks for: NVML measures just that.
    """
    points = measure(before, after)
    values = {point.signal: point.values[0] for point in points if point.signal.kind is not Kind.DISTRIBUTION}
    if GPU_UTILIZATION not in values and BUSY_RATIO in values:
        values[GPU_UTILIZATION] = 100 * values[BUSY_RATIO]
    return values
