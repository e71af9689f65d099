"""Autoscaling: the values that real services publish drive the real policy through a five-fold step of load."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from infra.scaling.capacity import Capacity
from infra.scaling.limits import Delays, Limits
from infra.scaling.policy import Policy, policy_for
from infra.scaling.policy_values import StepScaling
from loadtest.errors import Unreachable
from loadtest.generator.sampler import scrape
from loadtest.service_process import ServiceProcess, clean_environment, settings_environment
from loadtest.simulator.alarm_evaluation import Series
from loadtest.simulator.autoscaler import Autoscaler, Decision
from service.signals.catalog import BUSY_RATIO, GPU_UTILIZATION, Kind, Signal
from service.signals.points import Snapshot, measure
from tests.support.service import wait_until

PERIOD_SECONDS = 2
DOCUMENTS_PER_SECOND, TOKENS_PER_SECOND = 2.0, 196.0
"""Throughput to which a task's device is throttled; `TEXT` has 98 tokens."""
TEXT = (
    "Invoice {number} from Acme GmbH, Hauptstrasse 5, 10115 Berlin. Bill to: Blue Castell Software Ltd. "
    "Order date 12 March 2026, due 11 April 2026. 3 office chairs at EUR 129.00, total EUR 387.00 plus 19 % VAT. "
    "Payable to IBAN DE89 3704 0044 0532 0130 00. Contact: Jane Doe, jane@acme.example, +49 30 1234567."
)
LOW, HIGH = 1.2, 6.0
"""Requests per second."""
LOW_SECONDS = 5.0
"""Time before the step."""
DECISION_SECONDS = 40.0
"""Longest time from the step to the decision to add tasks."""
MOST_SECONDS = 240
"""Longest time to follow the step up and down, on a busy machine; it takes a minute on an idle one."""
SETTINGS = {
    "DEVICE": "cpu",
    "THREADS": 1,
    "WORKERS": 1,
    "PARSERS": 1,
    "BATCH_TOKENS": 256,
    "WINDOW_TOKENS": 256,
    "PACE_TOKENS_PER_SECOND": TOKENS_PER_SECOND,
    "DRAIN_GRACE_SECONDS": 1.0,
    "LOG_LEVEL": "WARNING",
}


class Task:
    """One service, from the decision to add it to its end."""

    def __init__(self, log: Path) -> None:
        self.service = ServiceProcess(log, {**clean_environment(), **settings_environment(SETTINGS)})
        self.wanted = True
        self.serves = False
        self.requests = self.open_requests = 0
        self.exit_code: int | None = None
        self._last: Snapshot | None = None

    def published(self, client: httpx.Client) -> dict[Signal, float]:
        """The values that its publisher sends now; without a GPU the busy ratio stands for GPU utilization."""
        now = scrape(client, self.service.url)
        if now is None:
            return {}
        points = measure(self._last or now, now)
        self._last = now
        values = {point.signal: point.values[0] for point in points if point.signal.kind is not Kind.DISTRIBUTION}
        if BUSY_RATIO in values:
            values[GPU_UTILIZATION] = 100 * values[BUSY_RATIO]
        return values


class Fleet:
    """Tasks that share the requests; removed ones get no more and answer those that they have."""

    def __init__(self, folder: Path, threads: ThreadPoolExecutor) -> None:
        self.tasks: list[Task] = []
        self._folder = folder
        self._threads = threads
        self._lock = threading.Lock()
        self._changes: list[Future[None]] = []

    @property
    def serving(self) -> list[Task]:
        return [task for task in self.tasks if task.serves]

    def scale_to(self, count: int) -> None:
        """Add tasks, or remove the youngest."""
        wanted = [task for task in self.tasks if task.wanted]
        for _ in range(count - len(wanted)):
            task = Task(self._folder / f"task-{len(self.tasks)}.log")
            self.tasks.append(task)
            self._changes.append(self._threads.submit(self._start, task))
        for task in wanted[count:]:
            task.wanted = False
            self._changes.append(self._threads.submit(self._stop, task))

    def ask(self, number: int) -> int:
        """Send a request to the task with the fewest; its answer's status."""
        with self._lock:
            task = min(self.serving, key=lambda task: (task.open_requests, task.requests))
            task.requests += 1
            task.open_requests += 1
        try:
            url, text = f"{task.service.url}/extract", TEXT.format(number=number)
            return httpx.post(url, json={"text": text}, timeout=300.0, verify=False).status_code
        finally:
            with self._lock:
                task.open_requests -= 1

    def settle(self) -> None:
        """Wait for all starts and stops."""
        for change in self._changes:
            change.result()

    def _start(self, task: Task) -> None:
        try:
            task.service.wait_until_ready()
        except Unreachable:
            if task.wanted:  # Otherwise it was removed meanwhile.
                raise
        with self._lock:
            task.serves = task.wanted

    def _stop(self, task: Task) -> None:
        with self._lock:
            task.serves = False
        wait_until(lambda: not task.open_requests, 300.0)
        task.exit_code = task.service.stop()


@contextmanager
def fleet_of(count: int, folder: Path, threads: ThreadPoolExecutor) -> Iterator[Fleet]:
    fleet = Fleet(folder, threads)
    try:
        fleet.scale_to(count)
        fleet.settle()
        yield fleet
    finally:
        for task in fleet.tasks:
            if task.service.process.poll() is None:
                task.service.process.kill()


def hurried(policy: Policy) -> Policy:
    """A policy with its alarms on shorter periods, and fewer of them before scaling in."""

    def sooner(scaling: StepScaling, periods: int) -> StepScaling:
        alarm = replace(scaling.alarm, period_seconds=PERIOD_SECONDS, periods=periods)
        return replace(scaling, alarm=alarm, cooldown_seconds=10)

    scale_out = tuple(sooner(scaling, scaling.alarm.periods) for scaling in policy.scale_out)
    return replace(policy, scale_out=scale_out, scale_in=sooner(policy.scale_in, 3))


class Load:
    """Requests at a rate that may change, sent on schedule whatever the fleet does."""

    def __init__(self, fleet: Fleet, threads: ThreadPoolExecutor) -> None:
        self.per_second = LOW
        self._ended = threading.Event()
        self._sending = threads.submit(self._send, fleet, threads)

    def end(self) -> set[int]:
        """Send no more; the statuses of all answers."""
        self._ended.set()
        return {request.result() for request in self._sending.result()}

    def _send(self, fleet: Fleet, threads: ThreadPoolExecutor) -> list[Future[int]]:
        sent: list[Future[int]] = []
        due = time.monotonic()
        while not self._ended.wait(max(due - time.monotonic(), 0.0)):
            sent.append(threads.submit(fleet.ask, len(sent)))
            due += 1 / self.per_second
        return sent


def follow(scaler: Autoscaler, fleet: Fleet, load: Load) -> list[Decision]:
    """Raise the load until an added task answers, lower it until a task has been removed; the decisions meanwhile."""
    series, decisions, began = Series(), list[Decision](), time.monotonic()
    with httpx.Client(timeout=5.0, verify=False) as client:
        for tick in range(PERIOD_SECONDS, MOST_SECONDS, PERIOD_SECONDS):
            time.sleep(max(began + tick - time.monotonic(), 0.0))
            for task in fleet.tasks:
                if task.exit_code is None:
                    series.add(tick, task.published(client))
            if decision := scaler.decide(series, tick, len(fleet.serving)):
                decisions.append(decision)
                fleet.scale_to(decision.tasks_after)
            is_followed = any(task.requests for task in fleet.tasks[2:])
            load.per_second = HIGH if tick > LOW_SECONDS and not is_followed else LOW
            if any(task.exit_code is not None for task in fleet.tasks):
                break
    return decisions


@pytest.mark.timeout(1200)
def test_a_five_fold_step_is_followed_without_losing_a_request(tmp_path: Path) -> None:
    capacity = Capacity(documents_per_second=DOCUMENTS_PER_SECOND, tokens_per_second=TOKENS_PER_SECOND, slo_ms=2000.0)
    limits, delays = Limits(minimum_tasks=2, maximum_tasks=3), Delays(ingest_seconds=1.0, start_seconds=10.0)
    scaler = Autoscaler(hurried(policy_for(capacity, limits=limits, delays=delays)), 2)
    with ThreadPoolExecutor(200) as threads, fleet_of(2, tmp_path, threads) as fleet:
        load = Load(fleet, threads)
        decisions = follow(scaler, fleet, load)
        statuses = load.end()
        fleet.scale_to(0)
        fleet.settle()
    added, removed = decisions[0], decisions[-1]
    assert (added.tasks_before, added.tasks_after) == (2, 3), decisions
    assert added.at_seconds - LOW_SECONDS <= DECISION_SECONDS, decisions
    assert removed.tasks_after == 2, decisions
    assert fleet.tasks[2].requests > 0, decisions
    assert statuses == {200}
    assert {task.exit_code for task in fleet.tasks} == {0}
