"""The instances of one group, as ECS's capacity provider and Auto Scaling start and end them. Pure; time is passed in.

once a minute ECS compares the instances that tasks need with those that are there or come
more are needed       → asked for after a moment; out of the warm pool as far as it goes, else cold
fewer, for 15 minutes → instances without a task end (managed termination protection keeps the others)
the pool is filled up again at once, by cold starts; an instance is paid for from its launch
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

LOOK_SECONDS = 60
LAG_SECONDS = 15.0
"""Seconds from ECS's look to the launch."""
QUIET_LOOKS = 15
TASK_START_SECONDS = 20.0
"""Seconds of a usual start: container, models and warm-up, on a running instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """The starting of instances in one group.

    Attributes:
        warm_pool: stopped instances that wait.
        warm_seconds, cold_seconds: from the launch to a task that can be placed.
        target_percent: of the capacity provider; below 100, spare instances are kept.
        zones: over which they are spread evenly.
    """

    warm_pool: int
    warm_seconds: float
    cold_seconds: float
    target_percent: int = 100
    zones: int = 2


@dataclass(slots=True)
class Machine:
    """One instance. `ready`: from when on a task may be placed."""

    number: int
    launched: float
    ready: float
    has_task: bool = False
    zone: int = 0
    ended: float = field(default=math.inf)

    def seconds(self, until: float) -> float:
        """Seconds that were billed."""
        return max(min(self.ended, until) - self.launched, 0.0)


class Machines:
    """One group.

    Attributes:
        alive: those that are there or come.
        past: those that ended.
        on_ready: told of the time at which something may be placed.
    """

    def __init__(self, plan: GroupPlan, on_ready: Callable[[float], None]) -> None:
        self._plan, self._on_ready = plan, on_ready
        self._pool_ready = [0.0] * plan.warm_pool
        self._quiet = 0
        self._launches = 0
        self._down: frozenset[int] = frozenset()
        self.alive: list[Machine] = []
        self.past: list[Machine] = []

    def begin(self, number: int) -> None:
        """Add the instances of the beginning."""
        for _ in range(number):
            self.alive.append(self._add(0.0, 0.0))
        for _ in self.alive:
            self._on_ready(0.0)

    def look(self, needed: int, now: float) -> None:
        """Compare instances with what tasks need, as ECS does once a minute."""
        wanted = math.ceil(needed * 100 / self._plan.target_percent)
        surplus = len(self.alive) - wanted
        self._quiet = self._quiet + 1 if surplus > 0 else 0
        for _ in range(-surplus):
            self._launch(now + LAG_SECONDS)
        if self._quiet >= QUIET_LOOKS:
            self._quiet = 0
            free = [each for each in self.alive if not each.has_task]
            for machine in free[-surplus:]:
                self.end(machine, now)

    def place(self, now: float) -> Machine | None:
        """Give a task an instance; None if all are taken or still start."""
        for machine in self.alive:
            if not machine.has_task and machine.ready <= now:
                machine.has_task = True
                return machine
        return None

    def end(self, machine: Machine, now: float) -> None:
        """End the instance, which is billed no longer."""
        machine.ended = max(now, machine.launched)
        self.alive.remove(machine)
        self.past.append(machine)

    def lose_zone(self, now: float) -> list[Machine]:
        """End the instances of the first zone, whose part of the pool starts anew elsewhere; returns them."""
        self._down = frozenset({0})
        gone = [each for each in self.alive if each.zone in self._down]
        for machine in gone:
            self.end(machine, now)
        cold = now + self._plan.cold_seconds
        part = math.ceil(len(self._pool_ready) / self._plan.zones)
        self._pool_ready[:part] = [max(ready, cold) for ready in self._pool_ready[:part]]
        return gone

    def zone_returns(self) -> None:
        self._down = frozenset()

    def _launch(self, at: float) -> None:
        soonest = min(self._pool_ready, default=math.inf)
        if soonest <= at:
            self._pool_ready.remove(soonest)
            self._pool_ready.append(at + self._plan.cold_seconds)
            ready = at + self._plan.warm_seconds
        else:
            ready = at + self._plan.cold_seconds
        machine = self._add(at, ready)
        self.alive.append(machine)
        self._on_ready(ready)

    def _add(self, launched: float, ready: float) -> Machine:
        self._launches += 1
        return Machine(self._launches, launched, ready, zone=self._emptiest_zone())

    def _emptiest_zone(self) -> int:
        """Zone with the fewest instances, where Auto Scaling launches."""
        there = Counter(each.zone for each in self.alive)
        open_zones = [zone for zone in range(self._plan.zones) if zone not in self._down]
        return min(open_zones, key=lambda zone: there[zone], default=0)
