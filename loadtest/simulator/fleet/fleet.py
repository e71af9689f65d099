"""A fleet, second by second: demand → tasks → published signals → a controller → tasks → instances.

The controller decides every ten seconds over points that arrive after CloudWatch's delay (`controller`); tasks are
started, replaced and stopped as ECS does it (`tasks`), on instances that its capacity provider asks for (`machines`).
The first tasks are as many as the first minute needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from infra.scaling.alarm_evaluation import Series
from infra.scaling.deployed_policy import Deployed
from loadtest.simulator.demand import Demand, Floats
from loadtest.simulator.fleet.agenda import Agenda
from loadtest.simulator.fleet.controller import Scaling, controller_of
from loadtest.simulator.fleet.events import Events
from loadtest.simulator.fleet.machines import LOOK_SECONDS, TASK_START_SECONDS, GroupPlan, Machines
from loadtest.simulator.fleet.misfortune import Misfortune
from loadtest.simulator.fleet.published import publish
from loadtest.simulator.fleet.schedules import minima
from loadtest.simulator.fleet.tally import Tally
from loadtest.simulator.fleet.task_group import Balancing, TaskGroup
from loadtest.simulator.fleet.tasks import Tasks
from loadtest.simulator.fleet.timeline import FleetRun, Minute
from loadtest.simulator.latency_table import LatencyTable
from loadtest.simulator.service_model import ServiceModel
from service.signals.catalog import PERIOD_SECONDS

RETRY_SECONDS = 5
KEEP_POINTS_SECONDS = 1_300.0
"""What alarms look back, and no more, so that a week is fast."""


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
        scaling: Scaling = Scaling.ALARMS,
    ) -> None:
        self._deployed, self._model, self._events = deployed, model, events or Events()
        draw = np.random.default_rng(seed)
        self._phase = int(draw.integers(LOOK_SECONDS))
        self._controller = controller_of(scaling, deployed.policy)
        self._series = Series(KEEP_POINTS_SECONDS)
        self._agenda = Agenda()
        self.run_data = FleetRun(Tally())
        self.serving = TaskGroup(model, table, balancing, self.run_data.tally)
        plan = plan_of(deployed)
        self._groups = {
            False: Machines(plan, lambda at, machine: self._agenda.at(at, self._tasks.place)),
            True: Machines(replace(plan, warm_pool=0), lambda at, machine: self._misfortune.spot_comes(at, machine)),
        }
        self._tasks = Tasks(deployed, self._groups, self._agenda, self.serving, lambda: self._controller.wanted)
        self._misfortune = Misfortune(self._events, self._agenda, self._tasks, self._groups, draw)

    def run(self, demand: Demand, on_second: Callable[[int], None] = lambda _: None) -> FleetRun:
        """Let the demand come. `on_second` is told how far it is, each simulated minute."""
        self._begin(demand)
        counts = np.concatenate([demand.counts, np.zeros(RETRY_SECONDS + PERIOD_SECONDS)])
        whole = demand.seconds
        for start in range(0, whole, PERIOD_SECONDS):
            end = min(start + PERIOD_SECONDS, whole)
            self._agenda.happen(start)
            quiet = self._agenda.next_seconds >= end and not self._misfortune.lost_share
            if not (quiet and self.serving.calm_seconds(counts[start:end], demand.lengths[start:end])):
                self._each_second(counts, demand.lengths, start, end)
            self._decide(end)
            if end % 60 == 0 or end == whole:
                self._note_minute(demand, end)
                on_second(end)
        return self._finish()

    def _begin(self, demand: Demand) -> None:
        policy = self._deployed.policy
        for at, minimum in minima(policy.schedules, demand.seconds):
            self._agenda.at(at, partial(self._set_minimum, minimum))
        for at in self._events.releases:
            self._agenda.at(at, self._tasks.begin_release)
        self._misfortune.begin()
        first = float((demand.counts[:60] * demand.lengths[:60]).mean()) * self._model.document_seconds
        enough = math.ceil(first / policy.tracking.target)
        self._controller.wanted = min(max(enough, policy.limits.minimum_tasks), policy.limits.maximum_tasks)
        self._tasks.begin()

    def _each_second(self, counts: Floats, lengths: Floats, start: int, end: int) -> None:
        for second in range(start, end):
            self._agenda.happen(second)
            nowhere = float(counts[second]) * self._misfortune.lost_share
            self.run_data.lost += nowhere
            refused = self.serving.second(counts[second] - nowhere, lengths[second])
            if missed := refused + nowhere + self.serving.late:
                self.run_data.troubles.append((second, missed))
            if refused:
                again = refused * self._events.retry_share
                counts[second + RETRY_SECONDS] += again
                self.run_data.tally.refused += refused - again

    def _finish(self) -> FleetRun:
        for spot, group in self._groups.items():
            self.run_data.machines += [(machine, spot) for machine in (*group.past, *group.alive)]
        self.run_data.lost += float(self.serving.lost) + self._misfortune.lost
        return self.run_data

    def _decide(self, now: int) -> None:
        publish(self._series, self.serving, now)
        before = self._controller.wanted
        decision = self._controller.decide(self._series, now, len(self.serving))
        if decision is not None and decision.tasks_after < before and self._tasks.is_releasing:
            self._controller.wanted = before  # ECS suspends scaling in during a deployment.
        elif decision is not None:
            self.run_data.decisions.append(decision)
            self._agenda.at(now + self._deployed.policy.delays.ingest_seconds, self._tasks.settle)
        if self._deployed.managed and (now + self._phase) % LOOK_SECONDS < PERIOD_SECONDS:
            for spot, group in self._groups.items():
                group.look(self._tasks.needed(spot), now)
        if self._tasks.is_releasing:
            self._tasks.settle(now)

    def _set_minimum(self, fewest: int, now: float) -> None:
        if self._controller.set_minimum(fewest):
            self._tasks.settle(now)

    def _note_minute(self, demand: Demand, end: int) -> None:
        serving = self.serving
        self.run_data.minutes.append(
            Minute(
                at_seconds=end,
                per_second=float(demand.counts[max(end - 60, 0) : end].mean()),
                wanted=self._controller.wanted,
                serving=len(serving),
                machines=sum(len(group.alive) for group in self._groups.values()),
                work_ratio=float(serving.work_ratio.mean()) if len(serving) else 0.0,
                longest_queue_seconds=float(serving.queue.max()) if len(serving) else 0.0,
            )
        )


def plan_of(deployed: Deployed) -> GroupPlan:
    """How the fleet's instances on demand start."""
    delays = deployed.policy.delays
    return GroupPlan(
        warm_pool=deployed.warm_pool,
        warm_seconds=delays.warm_start_seconds - TASK_START_SECONDS,
        cold_seconds=delays.cold_start_seconds - TASK_START_SECONDS,
        target_percent=deployed.target_percent,
        zones=deployed.zones,
    )
