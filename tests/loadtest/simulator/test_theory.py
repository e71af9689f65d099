"""The simulated task beside queueing theory.

    parsers   c of them, exponential seconds           M/M/c
    workers   c of them, constant seconds              M/D/c
    device    batches of up to 32, S(b) = 4 ms + b ms  the batch server's chain
    a step    one queue, in a fluid                    arithmetic: within 0.5 %

A simulated mean has the confidence interval of its replications; several rows are judged by their joint interval.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest

from loadtest.simulator.service_model import Documents, ServiceModel
from loadtest.simulator.single_task import LEVELS, QUANTILES, Document, LatencyTable, SingleTask
from loadtest.simulator.task_group import Tally, TaskGroup
from tests.loadtest.simulator.queueing import Exact, batch_server, erlang_c, m_d_c, m_m_c, recovery_seconds

REPLICATIONS = 30
DOCUMENTS = 4_000
WARM = 0.25
"""Share of a replication's documents that is not counted: it begins empty."""
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
    before, after = (TaskGroup(each, table, Tally()) for each in (slow, fast))
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


@pytest.mark.parametrize(
    ("exact", "wait_seconds", "number"),
    [
        (m_m_c(8, 1.0, 10), 0.20459007539822177, 9.636720603185774),
        (m_d_c(0.8, 1.0, 1), 1.9999999994819473, 2.3999999995854573),
        (m_d_c(9, 1.0, 10), 0.34458205036294215, 12.10123845326639),
    ],
)
def test_the_formulas_have_the_values_that_other_code_gives(exact: Exact, wait_seconds: float, number: float) -> None:
    assert exact.wait_seconds == pytest.approx(wait_seconds, rel=1e-8)
    assert exact.number == pytest.approx(number, rel=1e-8)


@pytest.mark.parametrize(
    ("rate", "seconds", "busy"),
    [
        (88.88888888888889, 0.0062502575267568946, 0.4154648577126105),
        (711.1111111111111, 0.023510562319827868, 0.9999013750413819),
    ],
)
def test_the_batch_server_has_the_values_of_other_code(rate: float, seconds: float, busy: float) -> None:
    exact = batch_server(rate, BASE, EACH, MOST)
    assert (exact.seconds, exact.busy) == pytest.approx((seconds, busy), rel=1e-8)


def test_what_is_known_by_heart() -> None:
    assert erlang_c(0.8, 1.0, 1) == pytest.approx(0.8)
    assert m_m_c(0.8, 1.0, 1).seconds == pytest.approx(5.0)
    assert m_d_c(0.5, 1.0, 1).wait_seconds == pytest.approx(0.5), "Pollaczek and Khinchine"
    alone = batch_server(0.001, 0.004, 0.001, 32)
    assert alone.seconds == pytest.approx(0.005, rel=1e-3)
    assert recovery_seconds(0.7, 5.0, 709, 5.0) == pytest.approx(1890.6667)
    assert recovery_seconds(0.1, 5.0, 709, 5.0) == 0.0


@pytest.mark.parametrize(
    "case", [parsers(0.5, 2), workers(0.5, 1), workers(0.8, 10), device(0.2), device(0.5)], ids=lambda case: case.name
)
def test_simulated_means_are_those_of_theory(case: Case) -> None:
    """In the interval of 12 means together, and that interval is narrow. `number` is Little's law's other side."""
    for row in simulate(case, documents=2_000, replications=8):
        assert row.is_inside(rows=12), row
        assert row.error < 0.06 * row.exact, row


@pytest.mark.parametrize(("load", "capacity"), [(0.7, 5.0), (0.5, 5.0), (0.7, 7.5)])
def test_a_queue_after_a_step_is_gone_when_arithmetic_says(load: float, capacity: float) -> None:
    row = recovery(load, 5.0, 100, capacity)
    assert row.simulated == pytest.approx(row.exact, rel=0.005)
