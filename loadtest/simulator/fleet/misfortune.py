"""Instances that are taken away: Spot interruptions with two minutes' notice, and a zone without any. Seeded.

A zone that is lost takes its instances, what waits on them and its part of the warm pool. Until the balancer's checks
have noticed, callers still lose the zone's share of the requests; then ECS starts the tasks elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial

import numpy as np

from loadtest.simulator.fleet.agenda import Agenda
from loadtest.simulator.fleet.events import Events, ZoneLoss
from loadtest.simulator.fleet.machines import Machine, Machines
from loadtest.simulator.fleet.tasks import Tasks

SPOT_NOTICE_SECONDS = 120.0
NOTICED_SECONDS = 10.0
"""Two of the balancer's health checks, five seconds apart."""


class Misfortune:
    """Takes instances away.

    Attributes:
        lost_share: of the requests, which go to tasks that are gone.
        lost: documents that waited on instances that went without notice.
    """

    def __init__(
        self,
        events: Events,
        agenda: Agenda,
        tasks: Tasks,
        groups: Mapping[bool, Machines],
        draw: np.random.Generator,
    ) -> None:
        self._events, self._agenda, self._tasks, self._groups, self._draw = events, agenda, tasks, groups, draw
        self.lost_share = 0.0
        self.lost = 0.0

    def begin(self) -> None:
        """Note what will be."""
        for loss in self._events.zone_losses:
            self._agenda.at(loss.at_seconds, partial(self._lose_zone, loss))

    # Spot

    def spot_comes(self, ready: float, machine: Machine) -> None:
        """An instance on Spot was launched: how long will it be left?"""
        self._agenda.at(ready, self._tasks.place)
        if self._events.interruptions_an_hour:
            lives = float(self._draw.exponential(3600.0 / self._events.interruptions_an_hour))
            self._agenda.at(machine.launched + lives, partial(self._notice, machine))

    def _notice(self, machine: Machine, now: float) -> None:
        """Its task drains, and ECS starts another one."""
        if machine.ended < math.inf:
            return
        self._tasks.drain(machine, now)
        self._agenda.at(now + SPOT_NOTICE_SECONDS, partial(self._interrupted, machine))
        self._tasks.settle(now)

    def _interrupted(self, machine: Machine, now: float) -> None:
        if machine.ended == math.inf:
            self._groups[True].end(machine, now)

    # Zones

    def _lose_zone(self, loss: ZoneLoss, now: float) -> None:
        before = sum(len(group.alive) for group in self._groups.values())
        gone = [machine for group in self._groups.values() for machine in group.lose_zone(now)]
        self.lost += sum(self._tasks.lose(machine) for machine in gone)
        self.lost_share = len(gone) / before if before else 0.0
        self._agenda.at(now + NOTICED_SECONDS, self._noticed)
        self._agenda.at(now + loss.seconds, self._zone_returns)

    def _noticed(self, now: float) -> None:
        self.lost_share = 0.0
        self._tasks.settle(now)

    def _zone_returns(self, now: float) -> None:
        for group in self._groups.values():
            group.zone_returns()
