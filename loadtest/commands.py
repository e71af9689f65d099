"""The commands of `gleaner loadtest`: run a scenario, find the knee, compare two results, write a synthetic day."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loadtest.errors import CheckFailed, LoadtestError, NotTrusted
from loadtest.generator.generator_pool import RunProgress
from loadtest.generator.run import run_scenario, saturate
from loadtest.generator.target import TargetService, open_target
from loadtest.report.findings import findings, trends
from loadtest.report.page import read_result, write_raw, write_report
from loadtest.results.assertions import Check, evaluate_check, parse_check
from loadtest.results.capacity_file import MeasuredCapacity
from loadtest.results.compare import Difference, compare, overall_verdict
from loadtest.results.knee_search import KneeFinder
from loadtest.results.summary import Result, summarise
from loadtest.scenario.scenario import Phase, Scenario, at_capacity, read_scenario, stretched, with_trace_lengths
from loadtest.scenario.traces import lines, make_day
from loadtest.scenario.workload import Documents

LINE_SECONDS = 10.0
RECENT_REPORTS = 4
"""Reports whose latencies are shown, one each half second."""


class ProgressLog:
    """Prints the progress of a run on stderr, a line every ten seconds, with the latencies of the last two."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._latencies: list[tuple[float, ...]] = []
        self._next_line = LINE_SECONDS

    def show(self, run: RunProgress) -> None:
        """Print a line if one is due."""
        self._latencies = [*self._latencies, run.latencies_ms][-RECENT_REPORTS:]
        if run.elapsed < self._next_line:
            return
        self._next_line += LINE_SECONDS
        recent = [value for part in self._latencies for value in part]
        counts = f"{run.sent} sent, {run.ok} ok, {run.refused} refused, {run.failed} failed, {run.open} open"
        log(f"{run.elapsed:5.0f} s  {self._phase(run.elapsed)}: {counts}; {latencies(recent)}; lag {run.lag_ms:.1f} ms")

    def _phase(self, elapsed: float) -> str:
        if elapsed >= self._scenario.seconds:
            return "waiting for the last answers"
        starts = self._scenario.starts
        number = max((n for n in range(len(self._scenario.phases)) if starts[n] <= elapsed), default=0)
        return self._scenario.phases[number].name


def latencies(recent_ms: Sequence[float]) -> str:
    """Median and 99th percentile in words, as far as there are answers for them."""
    if not recent_ms:
        return "no answer of late"
    median = f"p50 {statistics.median(recent_ms):.0f} ms"
    return median if len(recent_ms) == 1 else f"{median}, p99 {statistics.quantiles(recent_ms, n=100)[98]:.0f} ms"


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


REPORTS = Path("loadtest") / "reports"


def run(chosen: argparse.Namespace) -> None:
    """Run the chosen scenario, write its result and report, and evaluate the assertions."""
    scenario = chosen_scenario(chosen)
    checks = [parse_check(text) for text in (*scenario.checks, *chosen.checks)]
    folder = chosen.out or REPORTS / time.strftime("%Y%m%d-%H%M%S")
    with open_target(scenario, chosen.url, chosen.key) as target:
        capacity = _capacity(chosen, scenario, target)
        absolute = at_capacity(scenario, capacity or 0.0)
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        found = run_scenario(absolute, target, ProgressLog(absolute).show, processes=chosen.processes)
    summary = summarise(
        absolute,
        found.records,
        found.generator,
        at=at,
        url="a service of its own" if target.managed else target.endpoint.url,
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        capacity_rps=capacity,
        events=target.events,
    )
    sentences = findings(summary, trends(absolute, found.records, found.samples))
    source = "given" if chosen.capacity else "measured first"
    result = Result(replace(summary, findings=sentences, capacity_source=source), found.records, found.samples)
    finish(result, folder, checks, untrusted=chosen.untrusted)


def finish(result: Result, folder: Path, checks: list[Check], *, untrusted: bool = False) -> None:
    """Write and print a result.

    Raises:
        NotTrusted: the generator was the bottleneck, and `untrusted` is not set.
        CheckFailed: an assertion does not hold.
        LoadtestError: an action on the service failed.
    """
    write_raw(result, folder)
    problems = result.summary.generator.problems
    if problems and not untrusted:
        raise NotTrusted(f"no report: the generator was the bottleneck: {'; '.join(problems)} (raw results: {folder})")
    report = write_report(result, folder)
    for sentence in result.summary.findings:
        print(f"- {sentence}")
    print(f"report: {report}")
    outcomes = [evaluate_check(check, result.summary.whole, result.summary.phases) for check in checks]
    for outcome in outcomes:
        print(outcome)
    failing = [outcome for outcome in outcomes if not outcome.holds]
    if failing:
        raise CheckFailed("; ".join(map(str, failing)))
    failed = [text for _, text in result.summary.events if " failed" in text]
    if failed:
        raise LoadtestError("; ".join(failed))


def chosen_scenario(chosen: argparse.Namespace) -> Scenario:
    """The scenario, as changed by the arguments."""
    scenario = read_scenario(chosen.scenario)
    if chosen.seed is not None:
        scenario = replace(scenario, seed=chosen.seed, mix=replace(scenario.mix, seed=chosen.seed))
    if chosen.slo_ms:
        scenario = replace(scenario, slo_ms=chosen.slo_ms)
    if chosen.documents:
        folder = Documents("folder", path=str(chosen.documents))
        scenario = replace(scenario, mix=replace(scenario.mix, documents=(folder,)))
    if chosen.labels:
        scenario = replace(scenario, mix=replace(scenario.mix, labels=chosen.labels))
    if chosen.rate:
        phase = Phase(f"{chosen.rate:g}/s", seconds=chosen.seconds or 60.0, rate=chosen.rate)
        title = f"{chosen.rate:g} documents a second for {phase.seconds:g} s"
        scenario = replace(scenario, title=title, phases=(phase,), rates="absolute", actions=())
    if chosen.trace:
        scales = {"time_scale": chosen.time_scale, "rate_scale": chosen.rate_scale}
        phase = Phase(chosen.trace.stem, "trace", path=str(chosen.trace), **scales)
        title = f"The trace {chosen.trace.name}"
        return with_trace_lengths(replace(scenario, title=title, phases=(phase,), rates="absolute", actions=()))
    return stretched(scenario, chosen.seconds) if chosen.seconds else scenario


def _capacity(chosen: argparse.Namespace, scenario: Scenario, target: TargetService) -> float | None:
    """Documents per second at full load, where the scenario's rates are shares of it."""
    if scenario.rates == "absolute":
        return None
    if chosen.capacity:
        return float(chosen.capacity)
    log("measuring the capacity, of which the rates are shares")
    return saturate(scenario, target, log)


TRIAL_SECONDS = 15.0


def find_knee(chosen: argparse.Namespace) -> None:
    """Find the knee, write capacity.json, and print it."""
    scenario = chosen_scenario(chosen)
    folder = chosen.out or REPORTS / time.strftime("%Y%m%d-%H%M%S")
    if scenario.mix.deadline_ms:  # Otherwise the scenario's own deadline would refuse what the service level allows.
        scenario = replace(scenario, mix=replace(scenario.mix, deadline_ms=round(scenario.slo_ms)))
    with open_target(scenario, chosen.url, chosen.key) as target:
        seconds = chosen.seconds or TRIAL_SECONDS
        capacity = KneeFinder(scenario, target, scenario.slo_ms, seconds, log, chosen.untrusted).run()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "capacity.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(capacity), indent=1) + b"\n")
    for line in capacity_lines(capacity):
        print(line)
    print(f"written: {path}")


def capacity_lines(capacity: MeasuredCapacity) -> list[str]:
    """The capacity in words."""
    rates = f"{capacity.documents_per_second:.1f} documents a second, {capacity.tokens_per_second:,.0f} tokens a second"
    latency = f"p50 {capacity.p50_ms:.0f} ms, p99 {capacity.p99_ms:.0f} ms"
    full = (
        f"{capacity.saturated_documents_per_second:.1f} documents, {capacity.saturated_tokens_per_second:,.0f} tokens"
    )
    found = [f"capacity at a p99 of {capacity.slo_ms:g} ms: {rates} ({latency})", f"at full load: {full} a second"]
    fit = capacity.service_time
    if fit is not None:
        batch = f"{fit.base_seconds * 1000:.2f} ms + {fit.seconds_per_token * 1e6:.1f} µs × tokens"
        found.append(f"a batch takes S(tokens) = {batch} (from {fit.source}, typical error {fit.typical_error:.0%})")
    return [*found, *(f"  {each.name} = {each.value:g}: {each.reason}" for each in capacity.recommended)]


def compare_results(chosen: argparse.Namespace) -> None:
    """Print each difference in a phase that both results have, and the verdict."""
    before, after = read_result(chosen.before), read_result(chosen.after)
    starts = {phase.name: (begin, phase.seconds) for phase, begin in after.scenario.reported}
    differences: list[Difference] = []
    for phase, begin in before.scenario.reported:
        if phase.name in starts:
            other, seconds = starts[phase.name]
            a = before.records.between(begin, begin + phase.seconds)
            b = after.records.between(other, other + seconds)
            differences += compare(phase.name, a, b, before.scenario.slo_ms)
    print(f"{'phase':20} {'figure':12} {'A':>10} {'B':>10} {'change':>8}  95 % interval of B / A   verdict")
    for each in differences:
        numbers = f"{each.before:10.4g} {each.after:10.4g} {each.change:+8.1%}  {each.low:9.3f} to {each.high:.3f}"
        print(f"{each.phase:20} {each.figure:12} {numbers}        {each.verdict}")
    print(overall_verdict(differences))


def write_day(chosen: argparse.Namespace) -> None:
    chosen.file.write_text("\n".join(lines(make_day(chosen.kind, chosen.seed))) + "\n")
    print(f"written: {chosen.file}")


COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "run": run,
    "find_knee": find_knee,
    "compare": compare_results,
    "day": write_day,
}
