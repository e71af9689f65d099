"""Simulated fleet, second by second: demand → tasks → published signals → alarms → tasks → instances. Pure.

AWS's alarms and steps decide every ten seconds over points that arrive after CloudWatch's delay; tasks are started,
replaced and stopped as ECS does it (`tasks`), on instances that its capacity provider asks for (`machines`). The first
tasks are as many as the first minute needs. The simulation begins on a Monday at midnight UTC.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import numpy as np

from infra.scaling.limits import Schedule
from loadtest.simulator.alarm_evaluation import Series
from loadtest.simulator.autoscaler import Autoscaler, Decision
from loadtest.simulator.bulk import BulkDemand, SimulatedJob
from loadtest.simulator.demand import Demand, Floats
from loadtest.simulator.fleet_scaling import FleetScaling
from loadtest.simulator.machines import LOOK_SECONDS, TASK_START_SECONDS, GroupPlan, Machine, Machines
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.single_task import LatencyTable
from loadtest.simulator.task_group import Tally, TaskGroup, publish
from loadtest.simulator.tasks import EventQueue, Events, FailureInjector, Tasks
from service.signals.catalog import PERIOD_SECONDS

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def minima(schedules: Iterable[Schedule], seconds: float) -> list[tuple[float, int]]:
    """(time, minimum of tasks from then on), in order of time."""
    return sorted((at, each.minimum_tasks) for each in schedules for at in _times(each, seconds))


def _times(schedule: Schedule, seconds: float) -> Iterator[float]:
    minute, hour, day, month, weekday, _ = schedule.cron.split()
    zone = ZoneInfo(schedule.timezone)
    for number in range(-1, int(seconds // 86_400) + 2):
        local = (MONDAY + timedelta(days=number)).astimezone(zone)
        when = local.replace(hour=int(hour), minute=int(minute), second=0)
        of_day = day in ("?", "*") or int(day) == when.day
        if of_day and _named(weekday, DAYS, when.weekday()) and _named(month, MONTHS, when.month - 1):
            at = (when - MONDAY).total_seconds()
            if 0 <= at < seconds:
                yield at


def _named(field: str, names: tuple[str, ...], number: int) -> bool:
    """True if `MON-FRI`, `SAT,SUN`, `*` … has the name of this number."""
    if field in ("*", "?"):
        return True
    for part in field.split(","):
        first, _, last = part.partition("-")
        low, high = names.index(first), names.index(last or first)
        if low <= number <= high or (high < low and (number >= low or number <= high)):
            return True
    return False


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
    """Record of a run."""

    tally: Tally
    decisions: list[Decision] = field(default_factory=list)
    minutes: list[Minute] = field(default_factory=list)
    machines: list[tuple[Machine, bool]] = field(default_factory=list)
    """Instances, and True for those on Spot."""
    lost: float = 0.0


FIRST_TASK = "bulk-waiting"
RETRY_SECONDS = 5
KEEP_POINTS_SECONDS = 1_300.0
"""Seconds that alarms look back, and no more, so that a week is fast."""


class Fleet:
    """One simulated fleet.

    Args:
        table: latencies of the same `model`.
        seed: of the phase of ECS's looks at its instances.
        bulk: a job beside the demand.

    Attributes:
        serving: the tasks that get requests.
        bulk: the job, if there is one.
        run_data: what was seen so far.
    """

    def __init__(
        self,
        scaling: FleetScaling,
        model: ServiceModel,
        table: LatencyTable,
        events: Events | None = None,
        seed: int = 1,
        bulk: BulkDemand | None = None,
    ) -> None:
        self.bulk = SimulatedJob(bulk, scaling.policy.bulk_tasks or 0) if bulk is not None else None
        self._scaling, self._model, self._events = scaling, model, events or Events()
        self._phase = int(np.random.default_rng(seed).integers(LOOK_SECONDS))
        self._autoscaler = Autoscaler(scaling.policy, scaling.policy.limits.minimum_tasks)
        self._series = Series(KEEP_POINTS_SECONDS)
        self._queue = EventQueue()
        self.run_data = FleetRun(Tally())
        self.serving = TaskGroup(model, table, self.run_data.tally)
        plan = plan_of(scaling)
        self._groups = {
            False: Machines(plan, self._place),
            True: Machines(replace(plan, warm_pool=0), self._place),
        }
        self._tasks = Tasks(scaling, self._groups, self._queue, self.serving, lambda: self._autoscaler.wanted)
        self._failures = FailureInjector(self._events, self._queue, self._tasks, self._groups)

    def _place(self, ready: float) -> None:
        self._queue.at(ready, self._tasks.place)

    def run(self, demand: Demand) -> FleetRun:
        """Simulate the demand."""
        self._begin(demand)
        counts = np.concatenate([demand.counts, np.zeros(RETRY_SECONDS + PERIOD_SECONDS)])
        whole = demand.seconds
        for start in range(0, whole, PERIOD_SECONDS):
            end = min(start + PERIOD_SECONDS, whole)
            self._queue.run_due(start)
            self.serving.is_filled = self.bulk is not None and self.bulk.waits(start)
            quiet = self._queue.next_seconds >= end and not self._failures.lost_share
            if not (quiet and self.serving.calm_seconds(counts[start:end], demand.lengths[start:end])):
                self._each_second(counts, demand.lengths, start, end)
            if self.bulk is not None:
                self.bulk.work(self.serving.room_seconds, len(self.serving), end - start, end)
                self.serving.room_seconds = 0.0
            self._decide(end)
            if end % 60 == 0 or end == whole:
                self._note_minute(demand, end)
        return self._finish()

    def _begin(self, demand: Demand) -> None:
        policy = self._scaling.policy
        for at, minimum in minima(policy.schedules, demand.seconds):
            self._queue.at(at, partial(self._set_minimum, minimum))
        for at in self._events.releases:
            self._queue.at(at, self._tasks.begin_release)
        self._failures.begin()
        first = float((demand.counts[:60] * demand.lengths[:60]).mean()) * self._model.document_seconds
        enough = math.ceil(first / policy.tracking.target)
        self._autoscaler.wanted = min(max(enough, policy.limits.minimum_tasks), policy.limits.maximum_tasks)
        self._tasks.begin()

    def _each_second(self, counts: Floats, lengths: Floats, start: int, end: int) -> None:
        for second in range(start, end):
            self._queue.run_due(second)
            nowhere = float(counts[second]) * self._failures.lost_share
            self.run_data.lost += nowhere
            refused = self.serving.second(counts[second] - nowhere, lengths[second])
            if refused:
                again = refused * self._events.retry_share
                counts[second + RETRY_SECONDS] += again
                self.run_data.tally.refused += refused - again

    def _finish(self) -> FleetRun:
        for spot, group in self._groups.items():
            self.run_data.machines += [(machine, spot) for machine in (*group.past, *group.alive)]
        self.run_data.lost += float(self.serving.lost) + self._failures.lost
        return self.run_data

    def _decide(self, now: int) -> None:
        publish(self._series, self.serving, now, self.bulk.signals(now) if self.bulk is not None else None)
        before = self._autoscaler.wanted
        decision = self._autoscaler.decide(self._series, now, len(self.serving)) or self._start_first(now)
        if decision is not None and decision.tasks_after < before and self._tasks.is_releasing:
            self._autoscaler.wanted = before  # ECS suspends scaling in during a deployment.
        elif decision is not None:
            self.run_data.decisions.append(decision)
            self._queue.at(now + self._scaling.policy.delays.ingest_seconds, self._tasks.settle)
        if (now + self._phase) % LOOK_SECONDS < PERIOD_SECONDS:
            for spot, group in self._groups.items():
                group.look(self._tasks.needed(spot), now)
        if self._tasks.is_releasing:
            self._tasks.settle(now)

    def _start_first(self, now: int) -> Decision | None:
        """Start the first task as the queue's alarm does: once a minute it sees waiting files."""
        if self._autoscaler.wanted or self.bulk is None or not self.bulk.waits(now - 60):
            return None
        self._autoscaler.wanted = 1
        return Decision(now, FIRST_TASK, self.bulk.left, 0, 1)

    def _set_minimum(self, fewest: int, now: float) -> None:
        if self._autoscaler.set_minimum(fewest):
            self._tasks.settle(now)

    def _note_minute(self, demand: Demand, end: int) -> None:
        serving = self.serving
        self.run_data.minutes.append(
            Minute(
                at_seconds=end,
                per_second=float(demand.counts[max(end - 60, 0) : end].mean()),
                wanted=self._autoscaler.wanted,
                serving=len(serving),
                machines=sum(len(group.alive) for group in self._groups.values()),
                work_ratio=float(serving.work_ratio.mean()) if len(serving) else 0.0,
                longest_queue_seconds=float(serving.queue.max()) if len(serving) else 0.0,
            )
        )


def plan_of(scaling: FleetScaling) -> GroupPlan:
    """Plan the start of the fleet's instances on demand."""
    delays = scaling.policy.delays
    return GroupPlan(
        warm_pool=scaling.warm_pool,
        warm_seconds=delays.warm_start_seconds - TASK_START_SECONDS,
        cold_seconds=delays.cold_start_seconds - TASK_START_SECONDS,
        target_percent=scaling.target_percent,
        zones=scaling.zones,
    )
