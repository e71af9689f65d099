"""A scenario: phases of load, a mix of requests, actions on the service, and assertions; read from TOML.

Rates are requests per second or, with `rates = "capacity"`, shares of the capacity, which is measured first, so that a
file suits a laptop and a GPU.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
from msgspec.structs import replace

from loadtest.errors import BadInput
from loadtest.scenario.arrivals import Chain, Constant, Rate, Sine, bursty, evenly, poisson, replay
from loadtest.scenario.traces import Trace, read_trace
from loadtest.scenario.workload import Mix

FOLDER = Path(__file__).parent / "builtin"


class Phase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One phase of load.

    constant: `rate` · sine: `rate` ± `amplitude`, one wave in `period_seconds` · trace: the file `path`, its time
    divided by `time_scale` and its counts multiplied by `rate_scale`. `warm_up`: sent, but not reported.
    """

    name: str
    shape: Literal["constant", "sine", "trace"] = "constant"
    seconds: float = 0.0
    rate: float = 0.0
    amplitude: float = 0.0
    period_seconds: float = 0.0
    path: str = ""
    time_scale: float = 1.0
    rate_scale: float = 1.0
    warm_up: bool = False


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An action at this second on a service that the load test started itself.

    publish: a new revision of the served model into its store · kill_engine: SIGKILL to the engine · restart: another
    instance starts and takes over the traffic, as behind a load balancer, and then the first one is stopped ·
    connection_burst: `connections` opened at once, a request on each · slow_clients: `connections` held slowly for
    `seconds`.
    """

    at_seconds: float
    do: Literal["publish", "kill_engine", "restart", "connection_burst", "slow_clients"]
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
        return tuple(accumulate((phase.seconds for phase in self.phases), initial=0.0))

    @property
    def reported(self) -> list[tuple[Phase, float]]:
        """The phases other than warm-ups, each with its start."""
        return [(phase, begin) for phase, begin in zip(self.phases, self.starts, strict=False) if not phase.warm_up]

    @property
    def windows(self) -> list[tuple[float, float]]:
        """The begin and the length of each reported phase, in seconds."""
        return [(begin, phase.seconds) for phase, begin in self.reported]


def builtin_scenarios() -> list[str]:
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
        replace(phase, rate=phase.rate * capacity, amplitude=phase.amplitude * capacity) for phase in scenario.phases
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


def rate_of(phase: Phase) -> Rate:
    """A phase's rate over time."""
    match phase.shape:
        case "constant":
            return Constant(phase.rate, phase.seconds)
        case "sine":
            return Sine(phase.rate, phase.amplitude, phase.period_seconds or phase.seconds, phase.seconds)
        case _:
            trace = trace_of(phase)
            return Chain(tuple(Constant(count / trace.bin_seconds, trace.bin_seconds) for count in trace.counts))


def trace_of(phase: Phase) -> Trace:
    """The trace that a phase replays."""
    trace = read_trace(Path(phase.path)).faster(phase.time_scale).scaled(phase.rate_scale)
    return trace.first(phase.seconds) if phase.seconds else trace


def most_per_second(scenario: Scenario) -> float:
    """The highest rate of a scenario, which determines the number of generator processes."""
    return max(max(rate_of(each).at(each.seconds * part / 50) for part in range(51)) for each in scenario.phases)


def schedule(scenario: Scenario) -> Iterator[float]:
    """The times at which requests are due in all phases, in seconds from the start."""
    for number, (phase, begin) in enumerate(zip(scenario.phases, scenario.starts, strict=False)):
        for moment in _arrivals(scenario, phase, Random(f"arrivals {scenario.seed} {number}")):
            yield begin + moment


def _arrivals(scenario: Scenario, phase: Phase, draw: Random) -> Iterator[float]:
    if phase.shape == "trace":
        return replay(trace_of(phase), draw)
    if scenario.arrivals == "even":
        return evenly(rate_of(phase))
    if scenario.arrivals == "bursty":
        return bursty(rate_of(phase), scenario.index_of_dispersion, draw)
    return poisson(rate_of(phase), draw)
