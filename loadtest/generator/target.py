"""The service under test, at the user's URL or started by the load test, and a scenario's actions on it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx

from loadtest.errors import BadInput, Unreachable
from loadtest.generator.connection_burst import ask_at_once, hold_slowly
from loadtest.generator.generator_pool import Endpoint, GeneratorPool
from loadtest.generator.http_client import service_url
from loadtest.generator.sampler import MetricsSampler
from loadtest.managed_service import ManagedService
from loadtest.scenario.scenario import Action, Scenario

PROBE = {"text": "Invoice INV-20931 from Acme GmbH, total EUR 1,200.00."}


@dataclass(slots=True)
class TargetService:
    """The service under test; `managed` is None for a user's URL.

    Attributes:
        events: the scenario's actions as they happened, with their times.
    """

    endpoint: Endpoint
    managed: ManagedService | None
    events: list[tuple[float, str]] = field(default_factory=list)

    @property
    def process(self) -> int | None:
        """The id of its root process, where the load test started it."""
        return self.managed.instance.process.pid if self.managed else None

    @property
    def start_seconds(self) -> float | None:
        """Seconds from the start of the process to ready, where the load test started it."""
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
                outcome = self._do(action)
            except Exception as error:
                self._record(f"{action.do} failed: {error}")
                return
            self._record(f"{action.do} done{': ' if outcome else ''}{outcome}")

    def _do(self, action: Action) -> str:
        """Do an action; returns its outcome in words, or nothing."""
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
