"""The schedule of a scenario: the rate of each phase over time, and the times at which requests are due."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from loadtest.arrivals.processes import bursty, evenly, poisson, replay
from loadtest.arrivals.rates import Chain, Constant, Ramp, Rate, Sine
from loadtest.arrivals.synthetic_days import make_day
from loadtest.arrivals.traces import Trace, read_trace
from loadtest.scenario.scenario import Phase, Scenario


def rate_of(phase: Phase) -> Rate:
    """A phase's rate over time."""
    match phase.shape:
        case "constant":
            return Constant(phase.rate, phase.seconds)
        case "ramp":
            return Ramp(phase.rate, phase.last_rate, phase.seconds)
        case "sine":
            return Sine(phase.rate, phase.amplitude, phase.period_seconds or phase.seconds, phase.seconds)
        case _:
            trace = trace_of(phase, seed=0)
            return Chain(tuple(Constant(count / trace.bin_seconds, trace.bin_seconds) for count in trace.counts))


def trace_of(phase: Phase, seed: int) -> Trace:
    """The trace that a phase replays."""
    if phase.shape == "day":
        day = make_day(phase.kind, seed, mean_rate=1.0)
        return day.faster(day.seconds / phase.seconds).scaled(phase.rate * phase.seconds / max(sum(day.counts), 1))
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
    if phase.shape in ("trace", "day"):
        return replay(trace_of(phase, scenario.seed), draw)
    if scenario.arrivals == "even":
        return evenly(rate_of(phase))
    if scenario.arrivals == "bursty":
        return bursty(rate_of(phase), scenario.index_of_dispersion, draw)
    return poisson(rate_of(phase), draw)
