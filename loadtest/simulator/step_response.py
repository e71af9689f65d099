"""How a fleet answers a step of its demand: when it decides, and when callers notice nothing any more. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from loadtest.simulator.demand import Demand
from loadtest.simulator.fleet.timeline import FleetRun

WINDOW_SECONDS = 60
MISSED = 0.01
"""Of a window's documents: its 99th percentile is then within the limit."""


@dataclass(frozen=True, slots=True)
class StepResponse:
    """Seconds from the step; None: never.

    Attributes:
        decided_seconds: until the first decision to add tasks, with the delay of its points.
        recovered_seconds: until the first minute of whose documents 99 % are answered within the limit.
    """

    decided_seconds: float | None
    recovered_seconds: float | None


def step_response(run: FleetRun, demand: Demand, at_seconds: int, ingest_seconds: float) -> StepResponse:
    """The answer to a step at this second."""
    missed = np.zeros(demand.seconds)
    for second, count in run.troubles:
        missed[second] = count
    window = np.ones(WINDOW_SECONDS)
    bad = np.convolve(missed[at_seconds:], window, "valid")
    came = np.convolve(demand.counts[at_seconds:], window, "valid")
    good = np.flatnonzero(bad <= MISSED * came)
    troubled = np.flatnonzero(bad > MISSED * came)
    after = good[good > troubled[0]] if len(troubled) else good[:1]
    more = (e.at_seconds for e in run.decisions if e.tasks_after > e.tasks_before and e.at_seconds > at_seconds)
    decided = min(more, default=None)
    return StepResponse(
        decided_seconds=None if decided is None else decided + ingest_seconds - at_seconds,
        recovered_seconds=float(after[0]) if len(after) else None,
    )
