"""What was seen of a simulated fleet: one row a minute, every decision, every instance. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field

from infra.scaling.autoscaler import Decision
from loadtest.simulator.fleet.machines import Machine
from loadtest.simulator.fleet.tally import Tally


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
    troubles: list[tuple[int, float]] = field(default_factory=list)
    """(second, documents that came in it and were refused, lost, or had to wait for longer than they may take)"""
