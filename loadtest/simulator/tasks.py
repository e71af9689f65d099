"""Tasks of a simulated service, as ECS starts, replaces and stops them; the queue of events; injected failures. Pure.

wanted      a task waits for an instance, starts on it, and serves
not wanted  it leaves the balancer at once, and keeps its instance for the deregistration delay
a release   replaces all, as many at a time as the deployment's maximum allows; nothing is scaled in meanwhile

a notice    of Spot: ECS starts another task at once; the instance, which watches for the notice, ends its own task,
            and goes after two minutes

The loss of a zone takes its instances away without notice.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from infra.instances import NOTICED_SECONDS, SPOT_NOTICE_SECONDS
from loadtest.simulator.fleet_scaling import FleetScaling
from loadtest.simulator.machines import TASK_START_SECONDS, Machine, Machines
from loadtest.simulator.task_group import TaskGroup

Action = Callable[[float], None]
"""Function of the time at which it happens."""


class EventQueue:
    """Actions and their times."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Action]] = []
        self._noted = 0

    def at(self, seconds: float, action: Action) -> None:
        """Add an action at a time."""
        self._noted += 1
        heapq.heappush(self._due, (seconds, self._noted, action))

    def run_due(self, now: float) -> None:
        """Run every action that is due by now, also those that thereby become due."""
        while self.next_seconds <= now:
            at, _, action = heapq.heappop(self._due)
            action(max(at, now))

    @property
    def next_seconds(self) -> float:
        """Time of the next event; infinite without one."""
        return self._due[0][0] if self._due else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneLoss:
    """Loss of the first zone: from `at_seconds` on, for `seconds`, it has no instance and gets none."""

    at_seconds: float
    seconds: float = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """Events of a run other than the demand.

    Attributes:
        releases: times at which a release begins.
        retry_share: of the refused documents that come again after a few seconds.
        spot_notices: times at which the oldest instance on Spot that has a task is told that it goes.
    """

    releases: tuple[float, ...] = ()
    retry_share: float = 0.0
    zone_losses: tuple[ZoneLoss, ...] = ()
    spot_notices: tuple[float, ...] = ()


@dataclass(slots=True)
class Task:
    """One task of a release. `doomed`: its instance goes, so that another is to take its place."""

    number: int
    spot: bool
    release: int
    machine: Machine | None = None
    serving: bool = False
    leaving: bool = False
    doomed: bool = False


class Tasks:
    """All tasks that are there, start or leave.

    Args:
        groups: the instances on demand (False) and on Spot (True).
        serving: the balancer's view of them.
        wanted: tells how many there should be.
    """

    def __init__(
        self,
        scaling: FleetScaling,
        groups: Mapping[bool, Machines],
        event_queue: EventQueue,
        serving: TaskGroup,
        wanted: Callable[[], int],
    ) -> None:
        self._scaling, self._groups, self._queue = scaling, groups, event_queue
        self._serving, self._wanted = serving, wanted
        self._tasks: list[Task] = []
        self._started = self._release = 0

    def begin(self) -> None:
        """Begin with the wanted number of serving tasks."""
        for _ in range(self._wanted()):
            self._tasks.append(self._new_task())
        for spot, group in self._groups.items():
            group.begin(self.needed(spot))
        for task in self._tasks:
            task.machine = self._groups[task.spot].place(0.0)
            self._serve(task)

    def needed(self, spot: bool) -> int:
        """Instances of a group that tasks have or wait for."""
        return sum(task.spot == spot for task in self._tasks)

    @property
    def is_releasing(self) -> bool:
        """True while a task of an older release is wanted."""
        return any(task.release < self._release for task in self._tasks if not task.leaving)

    def begin_release(self, now: float) -> None:
        """Replace every task."""
        self._release += 1
        self.settle(now)

    def settle(self, now: float) -> None:
        """Start and stop tasks until they are the wanted ones."""
        wanted = self._wanted()
        present = [task for task in self._tasks if not task.leaving and not task.doomed]
        old = [task for task in present if task.release < self._release]
        most = math.floor(wanted * self._scaling.maximum_percent / 100) if old else wanted
        new = len(present) - len(old)
        for _ in range(min(wanted - new, most - len(present))):
            self._tasks.append(self._new_task())
        serving = sum(task.serving for task in present)
        surplus = serving - wanted if old else len(present) - wanted
        doomed = old if old else sorted(present, key=lambda task: (task.serving, -task.number))
        for task in doomed[: max(surplus, 0)]:
            self._stop(task, now)
        self.place(now)

    def place(self, now: float) -> None:
        """Start tasks that wait for an instance, as far as there are any."""
        for task in self._tasks:
            if task.machine is None and not task.leaving:
                task.machine = self._groups[task.spot].place(now)
                if task.machine is not None:
                    self._queue.at(now + TASK_START_SECONDS, partial(self._started_up, task))

    def notice(self, machine: Machine, now: float) -> None:
        """Start a task elsewhere, and end the one on this instance, which Spot wants back."""
        machine.ready = math.inf
        for task in (task for task in self._tasks if task.machine is machine):
            task.doomed = True
            self._queue.at(now + NOTICED_SECONDS, partial(self._stop, task))
        self.settle(now)

    def lose(self, machine: Machine) -> float:
        """Remove the tasks of an instance; returns the documents that waited there."""
        lost = 0.0
        for task in [task for task in self._tasks if task.machine is machine]:
            self._tasks.remove(task)
            task.leaving = True
            if task.serving:
                task.serving = False
                lost += self._serving.fail(task.number)
        return lost

    def _new_task(self) -> Task:
        self._started += 1
        present = [task for task in self._tasks if not task.leaving and not task.doomed]
        above = len(present) + 1 - self._scaling.policy.limits.minimum_tasks
        on_spot = sum(task.spot for task in present)
        return Task(self._started, above > 0 and on_spot < self._scaling.spot_weight * above, self._release)

    def _started_up(self, task: Task, now: float) -> None:
        if not task.leaving:
            self._serve(task)
            if replaced := next((each for each in self._tasks if each.doomed and each.serving), None):
                self._stop(replaced, now)
            if self.is_releasing:
                self.settle(now)

    def _serve(self, task: Task) -> None:
        task.serving = True
        self._serving.join(task.number)

    def _stop(self, task: Task, now: float) -> None:
        if task.leaving:
            return
        task.leaving = True
        if task.serving:
            task.serving = False
            self._serving.leave(task.number)
            self._queue.at(now + self._scaling.policy.delays.deregistration_seconds, partial(self._gone, task))
        else:
            self._gone(task, now)

    def _gone(self, task: Task, now: float) -> None:
        if task in self._tasks:
            self._tasks.remove(task)
            if task.machine is not None:
                task.machine.has_task = False
            self.place(now)


class FailureInjector:
    """Takes the instances of a zone away, and single ones on Spot.

    Attributes:
        lost_share: of the requests, which go to tasks that are gone.
        lost: documents that waited on instances that went without notice.
    """

    def __init__(
        self,
        events: Events,
        event_queue: EventQueue,
        tasks: Tasks,
        groups: Mapping[bool, Machines],
    ) -> None:
        self._events, self._queue, self._tasks, self._groups = events, event_queue, tasks, groups
        self.lost_share = 0.0
        self.lost = 0.0

    def begin(self) -> None:
        """Put the failures into the queue of events."""
        for loss in self._events.zone_losses:
            self._queue.at(loss.at_seconds, partial(self._lose_zone, loss))

        for at in self._events.spot_notices:
            self._queue.at(at, self._notice)

    def _notice(self, now: float) -> None:
        if machine := next((each for each in self._groups[True].alive if each.has_task), None):
            self._tasks.notice(machine, now)
            self._queue.at(now + SPOT_NOTICE_SECONDS, partial(self._take, machine))

    def _take(self, machine: Machine, now: float) -> None:
        """End the instance, whose task has ended by now."""
        self.lost += self._tasks.lose(machine)
        self._groups[True].end(machine, now)

    def _lose_zone(self, loss: ZoneLoss, now: float) -> None:
        before = sum(len(group.alive) for group in self._groups.values())
        gone = [machine for group in self._groups.values() for machine in group.lose_zone(now)]
        self.lost += sum(self._tasks.lose(machine) for machine in gone)
        self.lost_share = len(gone) / before if before else 0.0
        self._queue.at(now + NOTICED_SECONDS, self._noticed)
        self._queue.at(now + loss.seconds, self._zone_returns)

    def _noticed(self, now: float) -> None:
        self.lost_share = 0.0
        self._tasks.settle(now)

    def _zone_returns(self, now: float) -> None:
        for group in self._groups.values():
            group.zone_returns()
