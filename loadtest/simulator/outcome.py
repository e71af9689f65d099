"""Outcome of a simulated run: what callers saw, what it cost, and the best that was possible. Pure.

The best is an oracle: in each period of the metrics the fewest tasks that carry what comes within the time that an
instance boots, at full load, never fewer than the minimum.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from infra.scaling.costs import (
    AROUND_DOLLARS,
    BULK_ENDPOINTS_DOLLARS,
    HOURS_A_MONTH,
    MONTHLY_DISK_DOLLARS,
    SPOT_PRICE,
    task_hour,
)
from loadtest.simulator.demand import Demand, Floats
from loadtest.simulator.fleet import FleetRun
from loadtest.simulator.fleet_scaling import FleetScaling
from loadtest.simulator.service_model import ServiceModel
from loadtest.simulator.single_task import LatencyTable
from service.signals.catalog import PERIOD_SECONDS

BOOT_SECONDS = 350
SHORT_LIFE_SECONDS = 900.0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One run in figures. Shares are of all documents that came.

    Attributes:
        kept: answered within the limit on latency. late: answered after it.
        lost: came while no task served.
        dollars: of everything.
        dollars_per_million: of answered documents; with the pool's disks, endpoints and balancer.
        over_oracle: instance hours over the oracle's.
        short_lives: share of the instance hours of instances that lived for less than 15 minutes.
        first_more_seconds: time of the first decision to add tasks.
    """

    demand: str
    seconds: int
    documents: float
    kept: float
    late: float
    refused: float
    lost: float
    p50_ms: float
    p99_ms: float
    dollars: float
    dollars_per_million: float
    instance_hours: float
    over_oracle: float
    most_instances: int
    starts: int
    short_lives: float
    decisions: int
    first_more_seconds: float | None


def outcome_of(
    run: FleetRun, demand: Demand, scaling: FleetScaling, model: ServiceModel, table: LatencyTable, price: float
) -> Outcome:
    """The figures of a run, at `price` dollars for an hour of an instance on demand."""
    tally, whole = run.tally, float(demand.seconds)
    came = tally.documents + tally.refused + run.lost
    late = tally.late(table, model.slo_seconds)
    hours = {spot: sum(each.seconds(whole) for each, on in run.machines if on is spot) / 3600 for spot in (False, True)}
    paid = hours[False] * task_hour(price) + hours[True] * task_hour(price * SPOT_PRICE)
    waiting = scaling.warm_pool * MONTHLY_DISK_DOLLARS / HOURS_A_MONTH
    around = sum(AROUND_DOLLARS.values()) + BULK_ENDPOINTS_DOLLARS * (scaling.policy.bulk_tasks is not None)
    paid += (waiting + around) * whole / 3600
    together = sum(hours.values())
    brief = [each for each, _ in run.machines if each.ended - each.launched < SHORT_LIFE_SECONDS]
    best = oracle_hours(demand, model.document_seconds, scaling.policy.limits.minimum_tasks)
    more = [each.at_seconds for each in run.decisions if each.added > 0]
    share = 1 / came if came else math.nan
    return Outcome(
        demand=demand.name,
        seconds=demand.seconds,
        documents=came,
        kept=(tally.documents - late) * share,
        late=late * share,
        refused=tally.refused * share,
        lost=run.lost * share,
        p50_ms=tally.quantile(table, 0.5) * 1000,
        p99_ms=tally.quantile(table, 0.99) * 1000,
        dollars=paid,
        dollars_per_million=paid / tally.documents * 1e6 if tally.documents else math.inf,
        instance_hours=together,
        over_oracle=together / best if best else math.inf,
        most_instances=max((minute.machines for minute in run.minutes), default=0),
        starts=sum(each.launched > 0 for each, _ in run.machines),
        short_lives=sum(each.seconds(whole) for each in brief) / 3600 / together if together else 0.0,
        decisions=len(run.decisions),
        first_more_seconds=min(more, default=None),
    )


def oracle_hours(demand: Demand, document_seconds: float, fewest: int) -> float:
    """Instance hours of an oracle that knows the demand."""
    work = demand.counts * demand.lengths * document_seconds
    busy = np.add.reduceat(work, np.arange(0, demand.seconds, PERIOD_SECONDS)) / PERIOD_SECONDS
    tasks = np.maximum(np.ceil(busy), fewest)
    return float(_held(tasks, math.ceil(BOOT_SECONDS / PERIOD_SECONDS)).sum()) * PERIOD_SECONDS / 3600


def _held(values: Floats, ahead: int) -> Floats:
    """Largest of each value and the next ones: an instance is billed while it boots."""
    padded = np.concatenate([values, np.full(ahead, values[-1])])
    held: Floats = np.lib.stride_tricks.sliding_window_view(padded, ahead + 1).max(axis=1)
    return held
