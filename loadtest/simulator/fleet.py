"""A fleet, second by second: demand → tasks → published signals → the policy's own alarms → tasks → instances.

The alarms are evaluated every ten seconds by `infra.scaling.autoscaler`, over points that arrive after CloudWatch's
delay. The first tasks are as many as the first minute needs. A task that is wanted waits for an instance
(`machines`), starts, and serves; one that is not wanted any more leaves the balancer at once and keeps its instance for
the deregistration delay. A release replaces all tasks, as many at a time as the deployment's maximum allows; nothing is
scaled in meanwhile.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from infra.scaling.alarm_evaluation import Series
from infra.scaling.autoscaler import Autoscaler, Decision
from infra.scaling.deployed_policy import Deployed
from loadtest.simulator.demand import Demand, Floats
from loadtest.simulator.latency_table import LatencyTable
from loadtest.simulator.machines import LOOK_SECONDS, TASK_START_SECONDS, GroupPlan, Machine, Machines
from loadtest.simulator.published import publish
from loadtest.simulator.schedules import minima
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.tally import Tally
from loadtest.simulator.task_group import Balancing, TaskGroup
from service.signals.catalog import PERIOD_SECONDS

RETRY_SECONDS = 5
SPOT_NOTICE_SECONDS = 120.0
KEEP_POINTS_SECONDS = 1_300.0
"""What alarms look back, and no more, so that a week is fast."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What happens beside the demand.

    Attributes:
        releases: times at which a release begins.
        retry_share: of the refused documents that come again after a few seconds.
        interruptions_an_hour: of each Spot instance.
    """

    releases: tuple[float, ...] = ()
    retry_share: float = 0.0
    interruptions_an_hour: float = 0.0


@dataclass(slots=True)
class Task:
    """One task. `release`: which one it is of."""

    number: int
    spot: bool
    release: int
    machine: Machine | None = None
    serving: bool = False
    leaving: bool = False


@dataclass(frozen=True, slots=True)
class Minute:
    """One row of the timeline: means and numbers at the end of a minute."""

    at_seconds: float
    per_second: float
    wanted: int
    serving: int
    machines: int
    work_ratio: float
    longest_queue_seconds: float


@dataclass(slots=True)
class FleetRun:
    """All that was seen."""

    tally: Tally
    decisions: list[Decision] = field(default_factory=list)
    minutes: list[Minute] = field(default_factory=list)
    machines: list[tuple[Machine, bool]] = field(default_factory=list)
    """Each with whether it is on Spot."""
    lost: float = 0.0


class Fleet:
    """One simulated fleet.

    Args:
        table: latencies of the same `model`.
        seed: of what the demand leaves open: phases, interruptions.

    Attributes:
        serving: the tasks that get requests.
        run_data: what was seen so far.
    """

    def __init__(
        self,
        deployed: Deployed,
        model: ServiceModel,
        table: LatencyTable,
        balancing: Balancing = Balancing.LEAST_OUTSTANDING,
        events: Events | None = None,
        seed: int = 1,
    ) -> None:
        self._deployed, self._model, self._events = deployed, model, events or Events()
        self._draw = np.random.default_rng(seed)
        self._phase = int(self._draw.integers(LOOK_SECONDS))
        limits, delays = deployed.policy.limits, deployed.policy.delays
        self._scaler = Autoscaler(deployed.policy, limits.minimum_tasks)
        self._series = Series(KEEP_POINTS_SECONDS)
        self.run_data = FleetRun(Tally())
        self.serving = TaskGroup(model, table, balancing, self.run_data.tally)
        plan = GroupPlan(
            warm_pool=deployed.warm_pool,
            warm_seconds=delays.warm_start_seconds - TASK_START_SECONDS,
            cold_seconds=delays.cold_start_seconds - TASK_START_SECONDS,
            target_percent=deployed.target_percent,
        )
        self._groups = {
            False: Machines(plan, lambda at, machine: self._at(at, self._place)),
            True: Machines(replace(plan, warm_pool=0), self._spot_comes),
        }
        self._tasks: list[Task] = []
        self._started = self._release = 0
        self._due: list[tuple[float, int, Callable[[float], None]]] = []
        self._numbers = 0

    def run(self, demand: Demand, on_second: Callable[[int], None] = lambda _: None) -> FleetRun:
        """Let the demand come. `on_second` is told how far it is, each simulated minute."""
        self._begin(demand)
        counts = np.concatenate([demand.counts, np.zeros(RETRY_SECONDS + PERIOD_SECONDS)])
        whole = demand.seconds
        for start in range(0, whole, PERIOD_SECONDS):
            end = min(start + PERIOD_SECONDS, whole)
            self._happen(start)
            quiet = not self._due or self._due[0][0] >= end
            if not (quiet and self.serving.calm_seconds(counts[start:end], demand.lengths[start:end])):
                self._each_second(counts, demand.lengths, start, end)
            self._decide(end)
            if end % 60 == 0 or end == whole:
                self._note_minute(demand, end)
                on_second(end)
        return self._finish(whole)

    def _begin(self, demand: Demand) -> None:
        policy = self._deployed.policy
        for at, minimum in minima(policy.schedules, demand.seconds):
            self._at(at, partial(self._set_minimum, minimum))
        for at in self._events.releases:
            self._at(at, self._begin_release)
        first = float((demand.counts[:60] * demand.lengths[:60]).mean()) * self._model.document_seconds
        enough = math.ceil(first / policy.tracking.target)
        self._scaler.wanted = min(max(enough, policy.limits.minimum_tasks), policy.limits.maximum_tasks)
        for _ in range(self._scaler.wanted):
            self._tasks.append(self._new_task())
        for spot, group in self._groups.items():
            group.begin(sum(task.spot == spot for task in self._tasks))
        for task in self._tasks:
            task.machine = self._groups[task.spot].place(0.0)
            self._serve(task)

    def _each_second(self, counts: Floats, lengths: Floats, start: int, end: int) -> None:
        for second in range(start, end):
            self._happen(second)
            refused = self.serving.second(counts[second], lengths[second])
            if refused:
                again = refused * self._events.retry_share
                counts[second + RETRY_SECONDS] += again
                self.run_data.tally.refused += refused - again

    def _finish(self, whole: int) -> FleetRun:
        for spot, group in self._groups.items():
            self.run_data.machines += [(machine, spot) for machine in (*group.past, *group.alive)]
        self.run_data.lost = self.serving.lost
        return self.run_data

    # What is due

    def _at(self, seconds: float, action: Callable[[float], None]) -> None:
        self._numbers += 1
        heapq.heappush(self._due, (seconds, self._numbers, action))

    def _happen(self, now: float) -> None:
        while self._due and self._due[0][0] <= now:
            at, _, action = heapq.heappop(self._due)
            action(max(at, now))

    # The policy

    def _decide(self, now: int) -> None:
        publish(self._series, self.serving, now)
        before = self._scaler.wanted
        decision = self._scaler.decide(self._series, now, len(self.serving))
        if decision is not None and decision.tasks_after < before and self._is_releasing:
            self._scaler.wanted = before  # ECS suspends scaling in during a deployment.
        elif decision is not None:
            self.run_data.decisions.append(decision)
            self._at(now + self._deployed.policy.delays.ingest_seconds, self._settle)
        if self._deployed.managed and (now + self._phase) % LOOK_SECONDS < PERIOD_SECONDS:
            for spot, group in self._groups.items():
                group.look(self._needed(spot), now)
        if self._is_releasing:
            self._settle(now)

    def _needed(self, spot: bool) -> int:
        return sum(task.spot == spot for task in self._tasks)

    def _set_minimum(self, fewest: int, now: float) -> None:
        limits = replace(self._scaler.policy.limits, minimum_tasks=fewest)
        self._scaler.policy = replace(self._scaler.policy, limits=limits)
        if self._scaler.wanted < fewest:
            self._scaler.wanted = fewest
            self._settle(now)

    # Tasks

    @property
    def _is_releasing(self) -> bool:
        return any(task.release < self._release for task in self._tasks if not task.leaving)

    def _begin_release(self, now: float) -> None:
        self._release += 1
        self._settle(now)

    def _settle(self, now: float) -> None:
        """Start and stop tasks until they are those that are wanted."""
        wanted = self._scaler.wanted
        present = [task for task in self._tasks if not task.leaving]
        old = [task for task in present if task.release < self._release]
        most = math.floor(wanted * self._deployed.maximum_percent / 100) if old else wanted
        new = len(present) - len(old)
        for _ in range(min(wanted - new, most - len(present))):
            self._tasks.append(self._new_task())
        serving = sum(task.serving for task in present)
        surplus = serving - wanted if old else len(present) - wanted
        doomed = old if old else sorted(present, key=lambda task: (task.serving, -task.number))
        for task in doomed[: max(surplus, 0)]:
            self._stop(task, now)
        self._match(now)
        self._place(now)

    def _match(self, now: float) -> None:
        """Without ECS instances follow tasks at once."""
        if not self._deployed.managed:
            for spot, group in self._groups.items():
                group.match(self._needed(spot), now)

    def _new_task(self) -> Task:
        self._started += 1
        present = [task for task in self._tasks if not task.leaving]
        above = len(present) + 1 - self._deployed.spot_base
        on_spot = sum(task.spot for task in present)
        return Task(self._started, above > 0 and on_spot < self._deployed.spot_weight * above, self._release)

    def _place(self, now: float) -> None:
        for task in self._tasks:
            if task.machine is None and not task.leaving:
                task.machine = self._groups[task.spot].place(now)
                if task.machine is not None:
                    self._at(now + TASK_START_SECONDS, partial(self._started_up, task))

    def _started_up(self, task: Task, now: float) -> None:
        if not task.leaving:
            self._serve(task)
            if self._is_releasing:
                self._settle(now)

    def _serve(self, task: Task) -> None:
        task.serving = True
        self.serving.join(task.number)

    def _stop(self, task: Task, now: float) -> None:
        task.leaving = True
        if task.serving:
            task.serving = False
            self.serving.leave(task.number)
            self._at(now + self._deployed.deregistration_seconds, partial(self._gone, task))
        else:
            self._gone(task, now)

    def _gone(self, task: Task, now: float) -> None:
        if task in self._tasks:
            self._tasks.remove(task)
            if task.machine is not None:
                task.machine.has_task = False
            self._match(now)
            self._place(now)

    # Spot

    def _spot_comes(self, ready: float, machine: Machine) -> None:
        self._at(ready, self._place)
        if self._events.interruptions_an_hour:
            lives = float(self._draw.exponential(3600.0 / self._events.interruptions_an_hour))
            self._at(machine.launched + lives, partial(self._notice, machine))

    def _notice(self, machine: Machine, now: float) -> None:
        """Two minutes' notice: its task drains, and ECS starts another one."""
        if machine.ended < math.inf:
            return
        for task in [task for task in self._tasks if task.machine is machine and not task.leaving]:
            self._stop(task, now)
        machine.has_task = True
        self._at(now + SPOT_NOTICE_SECONDS, partial(self._interrupted, machine))
        self._settle(now)

    def _interrupted(self, machine: Machine, now: float) -> None:
        if machine.ended == math.inf:
            self._groups[True].end(machine, now)

    def _note_minute(self, demand: Demand, end: int) -> None:
        serving = self.serving
        self.run_data.minutes.append(
            Minute(
                at_seconds=end,
                per_second=float(demand.counts[max(end - 60, 0) : end].mean()),
                wanted=self._scaler.wanted,
                serving=len(serving),
                machines=sum(len(group.alive) for group in self._groups.values()),
                work_ratio=float(serving.work_ratio.mean()) if len(serving) else 0.0,
                longest_queue_seconds=float(serving.queue.max()) if len(serving) else 0.0,
            )
        )
