"""The tasks of a rehearsal: real `gleaner serve` processes, started after a delay, drained when removed.

start    wait as an instance boots → start the process → ready → register
remove   deregister, its open requests end → SIGTERM, the service drains → exit code
"""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from loadtest.scaling.balancer import Backend, Balancer
from loadtest.scaling.readings import readings
from loadtest.scaling.timeline import Timeline
from loadtest.service_process.service import ServiceProcess
from loadtest.telemetry.exposition import Scrape, read
from service.signals.catalog import Signal

POLL_SECONDS = 0.25


@dataclass(slots=True)
class FleetTask:
    """One task, from the decision that wants it to its end."""

    number: int
    wanted: bool = True
    instance: ServiceProcess | None = None
    target: Backend | None = None
    exit_code: int | None = None
    scrape: Scrape | None = None
    scraped_at: float = 0.0
    job: asyncio.Task[None] | None = field(default=None, repr=False)


class LocalFleet:
    """As many tasks as are wanted, sooner or later."""

    def __init__(
        self,
        balancer: Balancer,
        timeline: Timeline,
        settings: dict[str, str],
        home: Path,
        *,
        boot_seconds: float,
        deregistration_seconds: float,
    ) -> None:
        self._balancer, self._timeline = balancer, timeline
        self._settings, self._home = settings, home
        self._boot_seconds, self._deregistration_seconds = boot_seconds, deregistration_seconds
        self._client = httpx.AsyncClient(timeout=5.0)
        self.tasks: list[FleetTask] = []

    @property
    def serving(self) -> int:
        """Tasks that get requests."""
        return sum(task.target is not None and task.wanted for task in self.tasks)

    def want(self, count: int, *, at_once: bool = False) -> None:
        """Add or remove tasks until so many are wanted; the youngest go first."""
        wanted = [task for task in self.tasks if task.wanted]
        for _ in range(count - len(wanted)):
            task = FleetTask(len(self.tasks) + 1)
            self.tasks.append(task)
            task.job = asyncio.create_task(self._start(task, 0.0 if at_once else self._boot_seconds))
        for task in wanted[count:]:
            task.wanted = False
            asyncio.create_task(self._remove(task))  # noqa: RUF006 - `close` waits for its effect.

    async def wait_until_serving(self, count: int) -> None:
        while self.serving < count:
            for task in self.tasks:
                if task.job is not None and task.job.done():
                    task.job.result()
            await asyncio.sleep(POLL_SECONDS)

    async def publish(self) -> list[dict[Signal, float]]:
        """What each running task's publisher would send now."""
        running = [task for task in self.tasks if task.instance is not None and task.exit_code is None]
        found = await asyncio.gather(*(self._scrape(task) for task in running))
        return [values for values in found if values]

    async def close(self) -> None:
        """Remove all tasks and wait for their ends."""
        self.want(0)
        while any(task.exit_code is None for task in self.tasks):
            await asyncio.sleep(POLL_SECONDS)
        await self._client.aclose()

    def kill(self) -> None:
        """End whatever still runs, when something went wrong."""
        for task in self.tasks:
            if task.instance is not None and task.instance.process.poll() is None:
                task.instance.process.kill()

    async def _start(self, task: FleetTask, boot_seconds: float) -> None:
        await asyncio.sleep(boot_seconds)
        if not task.wanted:
            return
        instance = task.instance = ServiceProcess(self._home / f"task-{task.number}.log", self._settings)
        while not await self._is_ready(instance):
            if instance.process.poll() is not None:
                raise SystemExit(f"task {task.number} ended while it started; see {self._home}")
            await asyncio.sleep(POLL_SECONDS)
        if task.wanted:
            task.target = Backend(instance.port)
            self._balancer.register(task.target)
            self._timeline.note(f"task {task.number} serves")

    async def _remove(self, task: FleetTask) -> None:
        if task.instance is None:
            task.exit_code = 0
            return
        if task.target is not None:
            await self._balancer.deregister(task.target, self._deregistration_seconds)
        begun = time.monotonic()
        task.instance.process.send_signal(signal.SIGTERM)
        while (code := task.instance.process.poll()) is None:
            await asyncio.sleep(POLL_SECONDS)
        task.exit_code = code
        self._timeline.note(f"task {task.number} drained in {time.monotonic() - begun:.1f} s, exit code {code}")

    async def _is_ready(self, instance: ServiceProcess) -> bool:
        try:
            return (await self._client.get(instance.url + "/readyz")).status_code == 200
        except httpx.HTTPError:
            return False

    async def _scrape(self, task: FleetTask) -> dict[Signal, float]:
        assert task.instance is not None
        try:
            scrape = read((await self._client.get(task.instance.url + "/metrics")).text)
        except httpx.HTTPError:
            return {}
        now = time.monotonic()
        values = readings(task.scrape, scrape, now - task.scraped_at)
        task.scrape, task.scraped_at = scrape, now
        return values
