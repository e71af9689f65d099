"""`python -m loadtest.simulator.checks.theory`: the simulator beside queueing theory, row by row; 1 if a row is off.

    parsers   c of them, exponential seconds           M/M/c
    workers   c of them, constant seconds              M/D/c
    device    batches of up to 32, S(b) = 4 ms + b ms  the batch server's chain
    a step    one queue, in a fluid                    arithmetic: within 0.5 %

A simulated mean has the 95 % interval of its replications. A twentieth of all rows is outside of theirs by chance, so
a row counts as off only outside of the joint interval, in which all rows together are with 95 %.
`--reference FILE` also compares the formulas with a file of exact values: `mmc` and `mdc` by names such as
`lam0.8_mu1_c1` (`lam8_D1_c10`) with `Wq` and `L`, and `batch_server` with `rows` of `lam`, `W` and `gpu_busy`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

import numpy as np

from loadtest.errors import BadInput
from loadtest.simulator.checks.queueing import Exact, batch_server, m_d_c, m_m_c, recovery_seconds
from loadtest.simulator.fleet.tally import Tally
from loadtest.simulator.fleet.task_group import Balancing, TaskGroup
from loadtest.simulator.latency_table import LEVELS, QUANTILES, LatencyTable
from loadtest.simulator.service_model import Documents, ServiceModel
from loadtest.simulator.single_task import Document, SingleTask

REPLICATIONS = 30
DOCUMENTS = 4_000
WARM = 0.25
"""Of a replication's documents, which are not counted: it begins empty."""
CONFIDENCE = 0.95
DETERMINISTIC = 0.005
BASE, EACH, MOST = 0.004, 0.001, 32
FRONT_ONLY = ServiceModel(
    base_seconds=0.0,
    seconds_per_token=1e-12,
    batch_tokens=100,
    documents=Documents(100, spread=0.0, text_seconds=0.0),
    slo_seconds=10.0,
    overhead_seconds=0.0,
    deadline_seconds=1e9,
    queue_limit_tokens=1e12,
)
"""A task whose device takes no time."""


@dataclass(frozen=True, slots=True)
class Case:
    """One system: its exact means, and the simulated task that is to have them."""

    name: str
    exact: Exact
    model: ServiceModel
    rate: float
    exponential_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Row:
    """One value, exact and simulated. `error`: of the mean of `means`, its standard deviation; 0: deterministic."""

    name: str
    exact: float
    simulated: float
    error: float = 0.0
    means: int = 0

    def is_inside(self, rows: int = 1) -> bool:
        """True within the interval of `rows` values together."""
        if not self.error:
            return abs(self.simulated - self.exact) <= DETERMINISTIC * abs(self.exact)
        return abs(self.simulated - self.exact) <= _t_quantile(rows, self.means) * self.error


def parsers(load: float, servers: int, seconds: float = 0.01) -> Case:
    """M/M/c."""
    rate = load * servers / seconds
    documents = replace(FRONT_ONLY.documents, parse_seconds=seconds)
    model = replace(FRONT_ONLY, parsers=servers, documents=documents)
    return Case(f"M/M/{servers} at {load:g}", m_m_c(rate, seconds, servers), model, rate, seconds)


def workers(load: float, servers: int, seconds: float = 0.01) -> Case:
    """M/D/c."""
    rate = load * servers / seconds
    model = replace(FRONT_ONLY, workers=servers, documents=replace(FRONT_ONLY.documents, text_seconds=seconds))
    return Case(f"M/D/{servers} at {load:g}", m_d_c(rate, seconds, servers), model, rate)


def device(load: float) -> Case:
    """The batch server."""
    rate = load * MOST / (BASE + EACH * MOST)
    model = replace(FRONT_ONLY, base_seconds=BASE, seconds_per_token=EACH / 100, batch_tokens=100 * MOST)
    return Case(f"batches at {load:g}", batch_server(rate, BASE, EACH, MOST), model, rate)


CASES = (
    *(parsers(load, servers) for load, servers in ((0.8, 1), (0.75, 2), (0.8, 10), (0.9, 10), (0.9, 100))),
    *(workers(load, servers) for load, servers in ((0.5, 1), (0.8, 1), (0.8, 2), (0.8, 10), (0.9, 10))),
    *(device(load) for load in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
)


def simulate(case: Case, documents: int = DOCUMENTS, replications: int = REPLICATIONS) -> list[Row]:
    """Mean seconds and, for Little's law, the mean number in the system; of the device also its busy share."""
    seconds, numbers, busy = zip(*(_replication(case, documents, i) for i in range(replications)), strict=True)
    rows = [
        _row(f"{case.name}: seconds", case.exact.seconds, seconds),
        _row(f"{case.name}: number", case.exact.number, numbers),
    ]
    return [*rows, _row(f"{case.name}: busy", case.exact.busy, busy)] if case.model.base_seconds else rows


def recovery(load: float, growth: float, delay_seconds: int, capacity: float) -> Row:
    """One queue by the second; after the delay its server is as fast as the larger fleet."""
    slow = replace(FRONT_ONLY, seconds_per_token=1e-4, max_queue_seconds=np.inf)
    fast = replace(slow, seconds_per_token=1e-4 / capacity)
    rate = load * growth / slow.document_seconds
    table = LatencyTable(np.zeros((LEVELS, QUANTILES)), np.ones(LEVELS), np.ones(QUANTILES))
    before, after = (TaskGroup(each, table, Balancing.ROUND_ROBIN, Tally()) for each in (slow, fast))
    for each in (before, after):
        each.join(1)
    for _ in range(delay_seconds):
        before.second(rate, 1.0)
    after.queue = before.queue / capacity
    past, left = float(delay_seconds), float(after.queue[0])
    while left > 0:
        after.second(rate, 1.0)
        shrinks = left - float(after.queue[0])
        past += min(left / (1 - rate * fast.document_seconds), 1.0) if shrinks else 0.0
        left = float(after.queue[0])
    exact = recovery_seconds(load, growth, delay_seconds, capacity)
    return Row(f"step of {growth:g} at {load:g}, {delay_seconds} s, then {capacity:g} times", exact, past)


def compare_reference(found: Mapping[str, Any]) -> list[Row]:
    """The formulas beside a file's exact values.

    Raises:
        BadInput: a part of the file cannot be read.
    """
    try:
        return [*_named(found, "mmc", "mu", m_m_c), *_named(found, "mdc", "D", m_d_c), *_batches(found)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"the reference cannot be read: {error!r}") from error


def _named(found: Mapping[str, Any], part: str, letter: str, system: Any) -> Iterator[Row]:
    for name, values in found[part].items():
        match = re.fullmatch(rf"lam([\d.]+)_{letter}([\d.]+)_c(\d+)", name)
        if match is None:
            raise ValueError(name)
        rate, number, servers = float(match[1]), float(match[2]), int(match[3])
        exact = system(rate, 1 / number if letter == "mu" else number, servers)
        yield Row(f"{part} {name}: Wq", values["Wq"], exact.wait_seconds)
        yield Row(f"{part} {name}: L", values["L"], exact.number)


def _batches(found: Mapping[str, Any]) -> Iterator[Row]:
    for values in found["batch_server"]["rows"]:
        exact = batch_server(values["lam"], BASE, EACH, MOST)
        yield Row(f"batches at {values['lam']:g}/s: W", values["W"], exact.seconds)
        yield Row(f"batches at {values['lam']:g}/s: busy", values["gpu_busy"], exact.busy)


def _replication(case: Case, documents: int, number: int) -> tuple[float, float, float]:
    draw = np.random.default_rng([number, *case.name.encode()])
    times = np.cumsum(draw.exponential(1 / case.rate, documents))
    parse = draw.exponential(case.exponential_seconds, documents)
    task = SingleTask(case.model)
    answers = task.run(Document(at, 100, each) for at, each in zip(times.tolist(), parse.tolist(), strict=True))
    begins, ends = times[int(documents * WARM)], times[-1]
    came = np.array([each.document.at_seconds for each in answers])
    went = np.array([each.ended_seconds for each in answers])
    inside = np.clip(went, begins, ends) - np.clip(came, begins, ends)
    counted = went[came >= begins] - came[came >= begins]
    return float(counted.mean()), float(inside.sum() / (ends - begins)), task.busy_seconds / float(went.max())


def _row(name: str, exact: float, found: tuple[float, ...]) -> Row:
    return Row(name, exact, fmean(found), stdev(found) / len(found) ** 0.5, len(found))


def _t_quantile(rows: int, means: int) -> float:
    """Student's, for that many intervals together (Bonferroni), by the first term of Cornish and Fisher."""
    z = NormalDist().inv_cdf(1 - (1 - CONFIDENCE) / 2 / rows)
    return z + (z**3 + z) / (4 * (means - 1))


def line(row: Row) -> str:
    """One row as it is printed."""
    off = (row.simulated / row.exact - 1) if row.exact else 0.0
    within = f"± {_t_quantile(1, row.means) * row.error:.4g}" if row.error else "deterministic"
    mark = "" if row.is_inside() else "   outside"
    return f"{row.name:42} {row.exact:12.6g} {row.simulated:12.6g} {within:>14} {off:+8.2%}{mark}"


def main() -> int:
    """Simulate all cases and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each of the 30 replications")
    parser.add_argument("--reference", type=Path, help="a file of exact values")
    chosen = parser.parse_args()
    rows: list[Row] = []
    if chosen.reference is not None:
        try:
            rows += compare_reference(json.loads(chosen.reference.read_text()))
        except (OSError, ValueError, BadInput) as error:
            print(f"theory: {chosen.reference}: {error}", file=sys.stderr)
            return 2
    rows += [recovery(load, 5.0, 100, more) for load, more in ((0.7, 5.0), (0.5, 5.0), (0.7, 7.5))]
    print(f"{'':42} {'exact':>12} {'found':>12} {'95 % interval':>14}", *map(line, rows), sep="\n")
    for case in CASES:
        found = simulate(case, chosen.documents)
        print(*map(line, found), sep="\n", flush=True)
        rows += found
    drawn = sum(bool(row.error) for row in rows)
    off = [row.name for row in rows if not row.is_inside(drawn if row.error else 1)]
    outside = sum(not row.is_inside() for row in rows if row.error)
    print(f"{drawn} simulated means, {outside} outside of their own 95 % interval, {len(off)} outside of the joint one")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
