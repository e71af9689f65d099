"""What is loaded: a service at a URL that the user gave, or one of our own; and what a scenario does to it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from loadtest.errors import BadInput, Unreachable
from loadtest.runner.generator_pool import Endpoint, GeneratorPool
from loadtest.scenario.scenario import Action, Scenario
from loadtest.service_process.service import ManagedService
from loadtest.telemetry.sampler import MetricsSampler

PROBE = {"text": "Invoice INV-20931 from Acme GmbH, total EUR 1,200.00."}


@dataclass(slots=True)
class TargetService:
    """The service under test. `own` is None for a URL of the user's. `log`: what happened to it, with times."""

    aim: Endpoint
    own: ManagedService | None
    log: list[tuple[float, str]] = field(default_factory=list)

    @property
    def process(self) -> int | None:
        """The root of its processes, where they are ours."""
        return self.own.instance.process.pid if self.own else None

    @property
    def start_seconds(self) -> float | None:
        """From the start of the process to ready, where we started it."""
        return self.own.instance.start_seconds if self.own else None


@contextmanager
def open_target(scenario: Scenario, url: str | None, keys: list[str]) -> Iterator[TargetService]:
    """The stage of a scenario.

    Raises:
        BadInput: the scenario does things to a service that is not ours.
        Unreachable: nothing answers POST /extract at the URL.
    """
    tenants = [tenant.name for tenant in scenario.mix.tenants]
    if url is None:
        needs_store = any(action.do == "publish" for action in scenario.actions) or "MODELS" in scenario.service
        with ManagedService(scenario.service, tenants, needs_store=needs_store) as own:
            yield TargetService(Endpoint(own.url, own.keys), own)
        return
    if scenario.actions:
        raise BadInput(f"the scenario {scenario.title!r} restarts its service; leave the URL away")
    if tenants and keys and len(keys) != len(tenants):
        raise BadInput(f"the scenario has {len(tenants)} tenants; give as many keys, or none")
    aim = Endpoint(url.rstrip("/"), dict(zip(tenants, keys, strict=False)) or dict.fromkeys(("",), *keys[:1] or [""]))
    probe(aim)
    yield TargetService(aim, None)


def probe(aim: Endpoint) -> dict[str, Any]:
    """One small request.

    Raises:
        Unreachable: it does not answer 200.
    """
    key = next(iter(aim.keys.values()), "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = httpx.post(f"{aim.url}/extract", json=PROBE, headers=headers, timeout=60.0)
    except httpx.HTTPError as error:
        raise Unreachable(f"nothing answers at {aim.url}/extract: {error}") from error
    if answer.status_code != 200:
        raise Unreachable(f"{aim.url}/extract answers {answer.status_code}: {answer.text[:300]}")
    found: dict[str, Any] = answer.json()
    return found


class ActionRunner:
    """What happens at its times, in a thread; a failure ends the list and is kept in the log."""

    def __init__(
        self, actions: tuple[Action, ...], stage: TargetService, crew: GeneratorPool, watch: MetricsSampler
    ) -> None:
        self._actions = sorted(actions, key=lambda action: action.at_seconds)
        self._stage, self._crew, self._watch = stage, crew, watch
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ActionRunner:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        for action in self._actions:
            if self._over.wait(max(0.0, self._crew.start + action.at_seconds - time.monotonic())):
                return
            self._note(f"{action.do} begins")
            try:
                self._do(action)
            except Exception as error:
                self._note(f"{action.do} failed: {error}")
                return
            self._note(f"{action.do} done")

    def _do(self, action: Action) -> None:
        own = self._stage.own
        assert own is not None, "stage_for refuses actions on a URL"
        if action.do == "publish":
            own.publish()
        elif action.do == "kill_engine":
            own.instance.kill_engine()
        else:
            url = own.replace()
            self._crew.aim(url)
            self._watch.aim(url)
            own.retire()

    def _note(self, text: str) -> None:
        self._stage.log.append((time.monotonic() - self._crew.start, text))
