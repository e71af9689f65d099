"""`gleaner simulate`: an environment's policy against a shape of demand or a trace: what callers see, what it costs.

The environment is one of `infra/environments.py`, of which the stacks are made too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from statistics import mean

import msgspec

from infra.environments import BadEnvironment, Environment, Variant, find_environment
from infra.fleet_scaling import capacity_path
from infra.scaling.capacity import ASSUMED, BadCapacity, Capacity, read_capacity
from infra.scaling.costs import HOURLY_DOLLARS
from infra.scaling.limits import has_time_zone
from infra.scaling.policy import Policy, with_bulk, with_gpu_target
from loadtest.cli import require_extra
from loadtest.errors import BadInput, LoadtestError
from loadtest.simulator.bulk import BulkDemand, SimulatedJob
from loadtest.simulator.demand import SHAPES, Demand, make_demand, peak, read_demand
from loadtest.simulator.fleet import Fleet, FleetRun, Minute
from loadtest.simulator.fleet_scaling import FleetScaling, fleet_scaling
from loadtest.simulator.outcome import Outcome, outcome_of
from loadtest.simulator.service_model import Documents, ServiceModel, model_of
from loadtest.simulator.single_task import latency_table
from loadtest.simulator.tasks import Events, ZoneLoss

WIDTH = 72
HEIGHT = 10
SERVING, PAID, QUEUED = "█", "░", "!"


def chart(minutes: Sequence[Minute], width: int = WIDTH, height: int = HEIGHT) -> list[str]:
    """The most instances that were paid for, and the fewest tasks that served, in each column's time."""
    columns = _columns(minutes, width)
    most = max((max(each.machines for each in column) for column in columns), default=1) or 1
    tall = min(height, most)
    lines = []
    for row in range(tall, 0, -1):
        bound = most * (row - 0.5) / tall
        cells = (_cell(column, bound) for column in columns)
        label = f"{most * row / tall:5.0f}" if row in (tall, 1) or tall <= height // 2 else " " * 5
        lines.append(f"{label} │{''.join(cells)}")
    marks = "".join(QUEUED if max(each.longest_queue_seconds for each in c) >= 1 else "─" for c in columns)
    end = minutes[-1].at_seconds / 3600 if minutes else 0
    lines.append(f"{'0':>5} └{marks}")
    lines.append(f"       0 h{f'{end:g} h':>{max(len(columns) - 3, 1)}}")
    lines.append(
        f"       {SERVING} serving   {PAID} paid for: starting, draining, idle   {QUEUED} a queue of 1 s and more"
    )
    return lines


def _cell(column: Sequence[Minute], bound: float) -> str:
    if min(each.serving for each in column) >= bound:
        return SERVING
    return PAID if max(each.machines for each in column) >= bound else " "


def _columns(minutes: Sequence[Minute], width: int) -> list[Sequence[Minute]]:
    count = min(width, len(minutes))
    edges = [len(minutes) * i // count for i in range(count + 1)] if count else []
    return [minutes[low:high] for low, high in pairwise(edges)]


ENVIRONMENT = "production"
PRICE = HOURLY_DOLLARS["g6.xlarge"]
USUAL_TASKS = 4.0
"""Tasks that the demand keeps busy, if no rate is given."""
MOST_OF_FLEET = 0.6
"""Share of the fleet's maximum that such a demand keeps busy at its peak."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shape", nargs="?", default="wave", choices=SHAPES, help=f"{', '.join(SHAPES)} (default: wave)")
    parser.add_argument("--trace", type=Path, help="`t_s,count`, or CSV or JSON lines of `t_s` and `tokens`")
    parser.add_argument("--environment", default=ENVIRONMENT, help=f"whose fleet is simulated (default: {ENVIRONMENT})")
    parser.add_argument(
        "--capacity", type=Path, help="JSON of `gleaner loadtest --find-knee` (default: the environment's, or assumed)"
    )
    parser.add_argument(
        "--rate", type=float, help="documents a second (default: for 4 tasks, at most 60 %% of the maximum)"
    )
    parser.add_argument("--hours", type=float, help="instead of the shape's own time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tokens", type=float, help="mean length of a document (default: the capacity's)")
    parser.add_argument("--parse-ms", type=float, default=0.0, help="of a file's parser; 0: text (default)")
    parser.add_argument("--parsers", type=int, default=4, help="of a task (default: 4)")
    parser.add_argument("--gpu-target", type=int, metavar="PERCENT", help="as Tuning(gpu_target=…); 0: none")
    parser.add_argument("--pool", type=int, help="instead of the environment's warm pool")
    parser.add_argument("--max-queue-ms", type=float, help="instead of the environment's; 0: none")
    parser.add_argument("--release", type=float, action="append", default=[], metavar="HOUR", help="a release begins")
    parser.add_argument("--retries", type=float, default=0.0, metavar="SHARE", help="of the refused that come again")
    parser.add_argument("--zone-loss", type=float, action="append", default=[], metavar="HOUR", help="for an hour")
    parser.add_argument(
        "--spot-notice", type=float, action="append", default=[], metavar="HOUR", help="one instance goes"
    )
    parser.add_argument(
        "--bulk", type=float, metavar="FILES", help="a bulk job beside the demand, in the room it leaves"
    )
    parser.add_argument("--bulk-at", type=float, default=0.0, metavar="HOUR", help="begin of the bulk job (default: 0)")
    parser.add_argument("--bulk-by", type=float, metavar="HOUR", help="its deadline; none: idle time alone")
    parser.add_argument("--bulk-seconds", type=float, help="of a task for one of its files (default: as a document)")
    parser.add_argument("--bulk-tasks", type=int, help="most that a deadline asks for (default: the environment's)")
    parser.add_argument("--price", type=float, default=PRICE, help=f"dollars for an instance's hour (default: {PRICE})")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures, decisions and minutes; -: to stdout")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write a page with the plots (extra `loadtest`)")
    parser.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Simulate and print; returns the exit code. A failure is a sentence on stderr."""
    try:
        _simulate(chosen)
    except LoadtestError as error:
        print(f"gleaner simulate: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _simulate(chosen: argparse.Namespace) -> None:
    environment = _environment(chosen.environment)
    capacity, base = _capacity(capacity_path(environment))
    if chosen.capacity is not None:
        capacity, base = _capacity(chosen.capacity)
    scaling = _scaling(chosen, environment)
    model = _model(chosen, capacity, base, scaling)
    table = latency_table(model)
    most = scaling.policy.limits.maximum_tasks
    demand = _demand(chosen, model, most)
    events = Events(
        releases=tuple(hour * 3600 for hour in chosen.release),
        retry_share=chosen.retries,
        zone_losses=tuple(ZoneLoss(at_seconds=hour * 3600) for hour in chosen.zone_loss),
        spot_notices=tuple(hour * 3600 for hour in chosen.spot_notice),
    )

    def simulated(policy: Policy, bulk: BulkDemand | None = None) -> tuple[FleetRun, Outcome, SimulatedJob | None]:
        run = replace(scaling, policy=policy)
        fleet = Fleet(run, model, table, events, chosen.seed, bulk)
        found = fleet.run(demand)
        return found, outcome_of(found, demand, run, model, table, chosen.price), fleet.bulk

    found, outcome, job = simulated(scaling.policy, _bulk(chosen, model))
    said = [*lines(outcome), *at_maximum(found.minutes, most)]
    if job is not None:
        said += bulk_lines(job, outcome, simulated(scaling.policy, replace(job.demand, files=0.0))[1])
    if target := scaling.policy.targets.gpu_target:
        _, without, _ = simulated(with_gpu_target(scaling.policy, 0))
        times = outcome.dollars_per_million / without.dollars_per_million
        said.append(
            f"keeping GPUs at {target} % costs {times:.2f} times the ${without.dollars_per_million:.2f} of the policy "
            f"without it, which keeps {without.kept:.3%} in time"
        )
    to_stdout = chosen.json is not None and str(chosen.json) == "-"
    if not to_stdout:
        print(
            "\n".join(
                [
                    *head(environment.name, scaling, capacity, demand, found.minutes),
                    "",
                    *chart(found.minutes),
                    "",
                    *said,
                ]
            )
        )
    if chosen.html is not None:
        require_extra()
        from loadtest.simulator.page import page

        chosen.html.write_text(page(found, demand, outcome, said))
    if chosen.json is not None:
        text = json.dumps(as_json(found, outcome), indent=1) + "\n"
        sys.stdout.write(text) if to_stdout else chosen.json.write_text(text)


def head(fleet: str, scaling: FleetScaling, capacity: Capacity, demand: Demand, minutes: Sequence[Minute]) -> list[str]:
    """Describe what is simulated as sentences: the demand, the fleet, a task's capacity."""
    rates, limits = [each.per_second for each in minutes], scaling.policy.limits
    source = "assumed: measure yours with `gleaner loadtest --find-knee`" if capacity is ASSUMED else "measured"
    return [
        f"{demand.name}: {mean(rates):,.0f} documents a second on average, {max(rates):,.0f} in the busiest minute",
        f"{fleet}: {limits.minimum_tasks} to {limits.maximum_tasks} tasks, "
        f"{scaling.warm_pool} instances in the warm pool",
        f"task: {capacity.full_documents_per_second:g} documents a second at full load ({source}); in time is within "
        f"{capacity.slo_ms:g} ms",
    ]


def lines(outcome: Outcome) -> list[str]:
    """The figures as sentences."""
    first = "never" if outcome.first_more_seconds is None else f"at {outcome.first_more_seconds:,.0f} s"
    answers = [
        f"{outcome.documents:,.0f} documents in {outcome.seconds / 3600:g} h: {outcome.kept:.3%} in time, "
        f"{outcome.late:.3%} late, {outcome.refused:.3%} refused, {outcome.lost:.3%} lost",
        f"p50 {outcome.p50_ms:,.0f} ms, p99 {outcome.p99_ms:,.0f} ms",
        f"${outcome.dollars_per_million:.2f} per million documents; {outcome.over_oracle:.2f} times the hours of the "
        "best fleet, which knows the demand beforehand",
    ]
    return [
        *(answers if outcome.documents else []),
        f"${outcome.dollars:,.2f} for {outcome.instance_hours:,.1f} instance hours",
        f"{outcome.decisions} decisions, the first for more tasks {first}; {outcome.starts} starts, "
        f"{outcome.short_lives:.1%} of the hours in lives under 15 minutes; {outcome.most_instances} instances at most",
    ]


def bulk_lines(job: SimulatedJob, outcome: Outcome, without: Outcome) -> list[str]:
    """Describe the ends of the bulk job and of the demand beside it, and the costs, as sentences."""
    ended, deadline = job.ended_seconds, job.demand.deadline_seconds
    done = f"{job.left:,.0f} left at the end" if ended is None else f"done at {ended / 3600:.2f} h"
    met = "" if deadline is None else f"; the deadline of {deadline / 3600:g} h is {'met' if job.in_time else 'missed'}"
    dollars, answered = outcome.dollars - without.dollars, job.demand.files - job.left
    each = f", ${dollars / answered * 1e6:.2f} per million files" if answered else ""
    beside = (
        f"beside it {outcome.kept:.3%} of the documents in time, p99 {outcome.p99_ms:,.0f} ms; "
        f"without it {without.kept:.3%}, {without.p99_ms:,.0f} ms"
    )
    return [
        f"{job.demand.files:,.0f} bulk files: {done}{met}",
        *([beside] if outcome.documents else []),
        f"${dollars:,.2f} more than without it{each}",
    ]


def at_maximum(minutes: Sequence[Minute], maximum_tasks: int) -> list[str]:
    """A sentence if documents waited while the fleet could not grow; nothing otherwise."""
    stood = sum(each.serving >= maximum_tasks and each.longest_queue_seconds >= 1 for each in minutes)
    said = f"{stood} minutes with all {maximum_tasks} tasks of the maximum and a queue of 1 s or more"
    return [said] if stood else []


def as_json(found: FleetRun, outcome: Outcome) -> dict[str, object]:
    """Everything for a program."""
    return {
        "outcome": msgspec.to_builtins(outcome),
        "decisions": [asdict(each) for each in found.decisions],
        "minutes": [asdict(each) for each in found.minutes],
    }


def _capacity(path: Path | None) -> tuple[Capacity, float | None]:
    """The capacity, and seconds of an empty batch where they were measured."""
    if path is None:
        return ASSUMED, None
    try:
        text = path.read_text()
        capacity = read_capacity(text)
    except (OSError, UnicodeDecodeError, BadCapacity) as error:
        raise BadInput(f"{path}: {error}") from error
    fitted = json.loads(text).get("service_time") or {}
    return capacity, fitted.get("base_seconds")


def _environment(name: str) -> Environment:
    try:
        environment = find_environment(name)
    except BadEnvironment as error:
        raise BadInput(str(error)) from error
    if environment.variant is not Variant.ECS:
        raise BadInput(f"{name} has no ECS; only fleets on ECS can be simulated")
    if not all(has_time_zone(each.timezone) for each in environment.schedules):
        tell = f"{sys.executable} -m pip install tzdata"
        raise BadInput(f"{name} has schedules, and this machine knows no time zones: `{tell}` installs them")
    return environment


def _scaling(chosen: argparse.Namespace, environment: Environment) -> FleetScaling:
    """The environment's scaling, with what the options change."""
    scaling = fleet_scaling(environment)
    if chosen.pool is not None:
        scaling = replace(scaling, warm_pool=chosen.pool)
    if chosen.gpu_target is not None:
        scaling = replace(scaling, policy=with_gpu_target(scaling.policy, chosen.gpu_target))
    if chosen.bulk is not None and (chosen.bulk_tasks is not None or scaling.policy.bulk_tasks is None):
        scaling = replace(scaling, policy=with_bulk(scaling.policy, chosen.bulk_tasks or 0))
    if chosen.max_queue_ms is not None:
        scaling = replace(scaling, max_queue_seconds=chosen.max_queue_ms / 1000 or float("inf"))
    return scaling


def _model(chosen: argparse.Namespace, capacity: Capacity, base: float | None, scaling: FleetScaling) -> ServiceModel:
    tokens = chosen.tokens or capacity.tokens_per_second / capacity.documents_per_second
    measured = model_of(capacity, None, base)
    return limited(replace(measured, parsers=chosen.parsers), scaling, Documents(tokens, chosen.parse_ms / 1000))


def limited(model: ServiceModel, scaling: FleetScaling, documents: Documents) -> ServiceModel:
    """The task with these documents and the limits that its fleet sets."""
    limit = scaling.queue_limit_tokens
    return replace(
        model,
        documents=documents,
        max_queue_seconds=scaling.max_queue_seconds,
        queue_limit_tokens=limit if limit < float("inf") else model.queue_limit_tokens,
        deadline_seconds=scaling.policy.delays.longest_request_seconds,
    )


def _bulk(chosen: argparse.Namespace, model: ServiceModel) -> BulkDemand | None:
    if chosen.bulk is None:
        return None
    return BulkDemand(
        files=chosen.bulk,
        file_seconds=chosen.bulk_seconds or model.document_seconds,
        begins_seconds=chosen.bulk_at * 3600,
        deadline_seconds=None if chosen.bulk_by is None else chosen.bulk_by * 3600,
    )


def _demand(chosen: argparse.Namespace, model: ServiceModel, maximum_tasks: int) -> Demand:
    if chosen.trace is None:
        tasks = min(USUAL_TASKS, MOST_OF_FLEET * maximum_tasks / peak(chosen.shape))
        rate = tasks / model.document_seconds if chosen.rate is None else chosen.rate
        return make_demand(chosen.shape, rate, chosen.seed, chosen.hours and chosen.hours * 3600)
    return read_demand(chosen.trace, model.documents.tokens, chosen.seed, chosen.rate)
