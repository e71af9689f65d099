"""A scenario: phases of load, a mix of requests, actions on the service, and assertions; read from TOML.

Rates are requests per second or, with `rates = "capacity"`, shares of the capacity, which is measured first, so that a
file suits a laptop and a GPU.
"""

from __future__ import annotations

import tomllib
from itertools import accumulate
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from loadtest.arrivals.traces import read_trace
from loadtest.errors import BadInput
from loadtest.workload.mix import Mix

FOLDER = Path(__file__).parent / "builtin"


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One phase of load.

    constant: `rate` · ramp: `rate` to `last_rate` · sine: `rate` ± `amplitude`, one wave in `period_seconds` ·
    trace: the file `path`, its time divided by `time_scale` and its counts multiplied by `rate_scale` · day: a
    synthetic day of `kind` compressed into `seconds`, with `rate` on average. `warm_up`: sent, but not reported.
    """

    name: str
    shape: Literal["constant", "ramp", "sine", "trace", "day"] = "constant"
    seconds: float = 0.0
    rate: float = 0.0
    last_rate: float = 0.0
    amplitude: float = 0.0
    period_seconds: float = 0.0
    path: str = ""
    time_scale: float = 1.0
    rate_scale: float = 1.0
    kind: str = "diurnal"
    warm_up: bool = False


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action at this second on a service that the load test started itself.

    publish: a new revision of the served model into its store · kill_engine: SIGKILL to the engine · restart: another
    instance starts and takes over the traffic, as behind a load balancer, and then the first one is stopped · crowd:
    so many `connections` at once, a request on each · slow_clients: so many `connections` held slowly for `seconds`.
    """

    at_seconds: float
    do: Literal["publish", "kill_engine", "restart", "crowd", "slow_clients"]
    connections: int = 0
    seconds: float = 0.0


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole load test. `slo_ms`: the service level; an answer within it counts for goodput."""

    title: str
    phases: tuple[Phase, ...]
    rates: Literal["capacity", "absolute"] = "capacity"
    arrivals: Literal["even", "poisson", "bursty"] = "poisson"
    index_of_dispersion: float = 13.2
    slo_ms: float = 1000.0
    timeout_seconds: float = 60.0
    seed: int = 1
    mix: Mix = Mix()
    actions: tuple[Action, ...] = ()
    checks: tuple[str, ...] = ()
    service: dict[str, str | int | float] = {}
    instances: int = 1

    @property
    def seconds(self) -> float:
        return sum(phase.seconds for phase in self.phases)

    @property
    def starts(self) -> tuple[float, ...]:
        """The start of each phase, and the end of the last one."""
        return tuple(accumulate((phase.seconds for phase in self.phases), initial=0.0))


def builtin_scenarios() -> list[str]:
    """The names of the built-in scenarios."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_scenario(name: str) -> Scenario:
    """The built-in scenario of this name, or the one in this file.

    Raises:
        BadInput: there is none, or the file is invalid.
    """
    path = FOLDER / f"{name}.toml" if name in builtin_scenarios() else Path(name)
    try:
        return with_trace_lengths(msgspec.convert(tomllib.loads(path.read_text()), Scenario))
    except FileNotFoundError:
        raise BadInput(
            f"there is no scenario {name!r}; there are {', '.join(builtin_scenarios())}, or name a file"
        ) from None
    except (OSError, ValueError) as error:
        raise BadInput(f"the scenario {path} cannot be used: {error}") from error


def with_trace_lengths(scenario: Scenario) -> Scenario:
    """The scenario with the lengths of recorded traces filled in.

    Raises:
        BadInput: it has no phase, or a phase has no length.
    """
    if not scenario.phases:
        raise BadInput("a scenario needs a phase")
    phases = tuple(_with_length(phase) for phase in scenario.phases)
    for phase in phases:
        if phase.seconds <= 0:
            raise BadInput(f"phase {phase.name!r} needs `seconds`")
    return replace(scenario, phases=phases)


def at_capacity(scenario: Scenario, capacity: float) -> Scenario:
    """The scenario with rates in requests per second, where they were shares of the capacity."""
    if scenario.rates == "absolute":
        return scenario
    phases = (
        replace(
            phase,
            rate=phase.rate * capacity,
            last_rate=phase.last_rate * capacity,
            amplitude=phase.amplitude * capacity,
        )
        for phase in scenario.phases
    )
    return replace(scenario, phases=tuple(phases), rates="absolute")


def stretched(scenario: Scenario, seconds: float) -> Scenario:
    """The scenario with this length, its phases and actions in proportion."""
    factor = seconds / scenario.seconds
    phases = (
        replace(phase, seconds=phase.seconds * factor, period_seconds=phase.period_seconds * factor)
        for phase in scenario.phases
    )
    actions = (replace(action, at_seconds=action.at_seconds * factor) for action in scenario.actions)
    return replace(scenario, phases=tuple(phases), actions=tuple(actions))


def _with_length(phase: Phase) -> Phase:
    if phase.shape != "trace" or phase.seconds:
        return phase
    return replace(phase, seconds=read_trace(Path(phase.path)).faster(phase.time_scale).seconds)
