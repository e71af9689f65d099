"""A run: a scenario on the service under test, its actions on that service, and the health of the generator.

The service under test is one at the user's URL, or one that the load test starts. Figures are not reported when the
generator was the bottleneck. Latency counts from the intended time, so lag makes a server look slower, never faster.
Problems of a generator, among the requests that are reported:

- connections: a request could not be sent because the limit was reached;
- CPU: a process used more than 90 % of a core, so that it may have sent late and read late;
- lag: more than 1 % of the requests, and more than two, left over 20 ms late *and* later than a tenth of the 99th
  percentile of the latency.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import numpy as np

from loadtest.errors import BadInput, LoadtestError, Unreachable
from loadtest.generator.connection_burst import ask_at_once, hold_slowly
from loadtest.generator.generator_pool import Endpoint, GeneratorPool, RunProgress
from loadtest.generator.http_client import service_url
from loadtest.generator.records import Records
from loadtest.generator.sampler import MetricsSample, MetricsSampler
from loadtest.managed_service import ManagedService
from loadtest.scenario.scenario import Action, Scenario

PROBE = {"text": "Invoice INV-20931 from Acme GmbH, total EUR 1,200.00."}


@dataclass(slots=True)
class TargetService:
    """The service under test. `managed` is None for a user's URL. `events`: a scenario's actions, with their times."""

    endpoint: Endpoint
    managed: ManagedService | None
    events: list[tuple[float, str]] = field(default_factory=list)

    @property
    def process(self) -> int | None:
        """The id of its root process, where the load test started it."""
        return self.managed.instance.process.pid if self.managed else None

    @property
    def start_seconds(self) -> float | None:
        """From the start of the process to ready, where the load test started it."""
        return self.managed.instance.start_seconds if self.managed else None


@contextmanager
def open_target(scenario: Scenario, url: str | None, keys: list[str]) -> Iterator[TargetService]:
    """The service at `url`, or without one a service that is started for this scenario.

    Raises:
        BadInput: the scenario has actions, which are not done to a service at a URL; or the URL or keys are wrong.
        Unreachable: nothing answers POST /extract at the URL.
    """
    tenants = [tenant.name for tenant in scenario.mix.tenants]
    if url is None:
        needs_store = any(action.do == "publish" for action in scenario.actions) or "MODELS" in scenario.service
        with ManagedService(scenario.service, tenants, needs_store=needs_store) as managed:
            yield TargetService(Endpoint(managed.url, managed.keys), managed)
        return
    if scenario.actions:
        raise BadInput(f"the scenario {scenario.title!r} restarts its service; leave the URL away")
    if tenants and keys and len(keys) != len(tenants):
        raise BadInput(f"the scenario has {len(tenants)} tenants; give as many keys, or none")
    by_tenant = dict(zip(tenants, keys, strict=False)) or dict.fromkeys(("",), *keys[:1] or [""])
    endpoint = Endpoint(service_url(url), by_tenant)
    require_answer(endpoint)
    yield TargetService(endpoint, None)


def require_answer(endpoint: Endpoint) -> None:
    """Send one small request.

    Raises:
        Unreachable: it is not answered with 200.
    """
    key = next(iter(endpoint.keys.values()), "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.post(f"{endpoint.url}/extract", json=PROBE, headers=headers, timeout=60.0)
    except httpx.HTTPError as error:
        raise Unreachable(f"nothing answers at {endpoint.url}/extract: {error}") from error
    if answer.status_code != 200:
        raise Unreachable(f"{endpoint.url}/extract answers {answer.status_code}: {answer.text[:300]}")


class ActionRunner:
    """Does a scenario's actions at their times, in a thread; a failed action ends the list and is kept as an event."""

    def __init__(
        self, actions: tuple[Action, ...], target: TargetService, pool: GeneratorPool, sampler: MetricsSampler
    ) -> None:
        self._actions = sorted(actions, key=lambda action: action.at_seconds)
        self._target, self._pool, self._sampler = target, pool, sampler
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ActionRunner:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        for action in self._actions:
            if self._stopped.wait(max(0.0, self._pool.start + action.at_seconds - time.monotonic())):
                return
            self._record(f"{action.do} begins")
            try:
                found = self._do(action)
            except Exception as error:
                self._record(f"{action.do} failed: {error}")
                return
            self._record(f"{action.do} done{': ' if found else ''}{found}")

    def _do(self, action: Action) -> str:
        """Do an action; returns what there is to say of it."""
        managed = self._target.managed
        assert managed is not None, "open_target refuses actions on a URL"
        if action.do == "publish":
            managed.publish()
        elif action.do == "kill_engine":
            managed.instance.kill_engine()
        elif action.do == "connection_burst":
            outcome = ask_at_once(managed.url, action.connections)
            outcome.check()
            return str(outcome)
        elif action.do == "slow_clients":
            closed = hold_slowly(managed.url, action.connections, action.seconds)
            return f"{closed} of {action.connections} were closed"
        else:
            url = managed.replace()
            self._pool.redirect(url)
            self._sampler.redirect(url)
            managed.stop_replaced()
        return ""

    def _record(self, text: str) -> None:
        self._target.events.append((time.monotonic() - self._pool.start, text))


MOST_CPU_SHARE = 0.9
LAG_MS = 20.0
LAG_SHARE = 0.1
LATE_SHARE = 0.01
FEW = 2


@dataclass(frozen=True, slots=True)
class GeneratorHealth:
    """The generator's own measurements. `problems` is empty when the run's figures can be trusted."""

    processes: int
    lag_p50_ms: float
    lag_p99_ms: float
    lag_max_ms: float
    cpu_share: float
    most_connections: int
    resent: int
    problems: tuple[str, ...]


def assess_generator(
    records: Records, *, processes: int, cpu_share: float, most_connections: int, exhausted: int, resent: int
) -> GeneratorHealth:
    """The health of a run's generator; `cpu_share` is that of its busiest process."""
    lag = np.quantile(records.lag_ms, (0.5, 0.99, 1.0)) if len(records) else np.zeros(3)
    latency = float(np.quantile(records.latency_ms, 0.99)) if len(records) else 0.0
    problems = []
    if exhausted:
        problems.append(f"{exhausted} requests found no free connection (limit of open files)")
    if cpu_share > MOST_CPU_SHARE:
        problems.append(f"a generator process used {cpu_share:.0%} of a core; use more processes or a faster machine")
    limit = max(LAG_MS, LAG_SHARE * latency)
    late = int((records.lag_ms > limit).sum())
    if late > max(LATE_SHARE * len(records), FEW):
        problems.append(f"{late} requests left more than {limit:.0f} ms late (p99 of the latency: {latency:.0f} ms)")
    shown = (float(lag[0]), float(lag[1]), float(lag[2]))
    return GeneratorHealth(processes, *shown, cpu_share, most_connections, resent, tuple(problems))


FIRST_AT_ONCE = 8
MOST_AT_ONCE = 1024
GROWTH = 1.08
"""The factor that twice the concurrency must gain; with less the service is saturated."""
SETTLE_SHARE = 0.25
"""The part of a capacity measurement that is discarded at its beginning."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """The result of one scenario."""

    records: Records
    samples: tuple[MetricsSample, ...]
    generator: GeneratorHealth


def run_scenario(
    scenario: Scenario, target: TargetService, on_progress: Callable[[RunProgress], None], *, processes: int = 0
) -> Run:
    """Send all requests of a scenario whose rates are absolute, and wait for the last reply."""
    pool = GeneratorPool(target.endpoint, scenario, processes=processes)
    with pool:
        sampler = MetricsSampler(target.endpoint.url, lambda: target.process, pool.start)
        with sampler, ActionRunner(scenario.actions, target, pool, sampler):
            run = pool.follow(on_progress)
    health = assess_generator(
        run.records.due_in(scenario.windows),
        processes=len(run.stats),
        cpu_share=max(stats.cpu_share for stats in run.stats),
        most_connections=sum(stats.most_open for stats in run.stats),
        exhausted=sum(stats.exhausted for stats in run.stats),
        resent=sum(stats.resent for stats in run.stats),
    )
    return Run(run.records, tuple(sampler.samples), health)


def saturate(scenario: Scenario, target: TargetService, log: Callable[[str], None], *, seconds: float = 4.0) -> float:
    """Documents per second at full load: a closed loop whose concurrency doubles until that gains nothing.

    Raises:
        LoadtestError: nothing was answered.
    """
    best, at_once = 0.0, FIRST_AT_ONCE
    while at_once <= MOST_AT_ONCE:
        with GeneratorPool(target.endpoint, scenario, at_once=at_once, seconds=seconds) as pool:
            records = pool.follow(lambda _: None).records
        found = _per_second(records, seconds * SETTLE_SHARE, seconds)
        log(f"{at_once} at once: {found:.1f} documents a second")
        if found < best * GROWTH:
            return max(found, best)
        best, at_once = found, at_once * 2
    if not best:
        raise LoadtestError("not one document was answered while the capacity was measured")
    return best


def _per_second(records: Records, begin: float, end: float) -> float:
    """Good answers per second between two moments; at least the rate of the whole run."""
    ended = records.done[records.ok]
    inside = ((ended >= begin) & (ended < end)).sum() / (end - begin)
    whole = len(ended) / max(float(ended.max()), end) if len(ended) else 0.0
    return float(max(inside, whole) if inside else whole)
