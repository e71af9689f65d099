"""The tasks of a rehearsal: real `gleaner serve` processes, started after a delay, drained when removed.

start    wait for the instance's boot → start the process → ready → register with the balancer
remove   deregister, its open requests end → SIGTERM, the service drains → exit code
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import httpx

from infra.scaling.policy_values import Delays
from loadtest.errors import Unreachable
from loadtest.scaling.balancer import Backend, Balancer
from loadtest.scaling.timeline import Timeline
from loadtest.service_process.service import ServiceProcess, clean_environment, settings_environment
from loadtest.telemetry.sampler import parse_metrics
from service.signals.catalog import BUSY_RATIO, GPU_UTILIZATION, Kind, Signal
from service.signals.points import Snapshot, measure

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
