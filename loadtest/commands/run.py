"""`gleaner loadtest run`: a scenario on a service; results, a report, and assertions."""

from __future__ import annotations

import argparse
import os
import platform
import time
from pathlib import Path

from msgspec.structs import replace

from loadtest.errors import CheckFailed, LoadtestError, NotTrusted
from loadtest.report.findings import findings
from loadtest.report.result_folder import write_raw, write_report
from loadtest.report.trends import trends
from loadtest.results.assertions import Check, evaluate_check, parse_check
from loadtest.results.result import Result, summarise
from loadtest.runner.run import run_scenario, saturate
from loadtest.runner.target_service import TargetService, open_target
from loadtest.scenario.scenario import Phase, Scenario, at_capacity, read_scenario, stretched, with_trace_lengths
from loadtest.terminal import ProgressDisplay, log
from loadtest.workload.mix import Documents

REPORTS = Path("loadtest") / "reports"


def run(chosen: argparse.Namespace) -> None:
    """Run the chosen scenario, write its result and report, and evaluate the assertions."""
    scenario = chosen_scenario(chosen)
    checks = [parse_check(text) for text in (*scenario.checks, *chosen.checks)]
    folder = result_folder(chosen)
    with open_target(scenario, chosen.url, chosen.key) as target:
        capacity = _capacity(chosen, scenario, target)
        absolute = at_capacity(scenario, capacity or 0.0)
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        with ProgressDisplay(absolute) as display:
            found = run_scenario(absolute, target, display.show, processes=chosen.processes)
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
    result = Result(replace(summary, findings=sentences), found.records, found.samples)
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
    if chosen.rate:
        phase = Phase(f"{chosen.rate:g}/s", seconds=chosen.seconds or 60.0, rate=chosen.rate)
        scenario = replace(scenario, phases=(phase,), rates="absolute", actions=())
    if chosen.trace:
        scales = {"time_scale": chosen.time_scale, "rate_scale": chosen.rate_scale}
        phase = Phase(chosen.trace.stem, "trace", path=str(chosen.trace), **scales)
        return with_trace_lengths(replace(scenario, phases=(phase,), rates="absolute", actions=()))
    return stretched(scenario, chosen.seconds) if chosen.seconds else scenario


def result_folder(chosen: argparse.Namespace) -> Path:
    """The folder for the result: the chosen one, or one named by the time."""
    folder: Path = chosen.out or REPORTS / time.strftime("%Y%m%d-%H%M%S")
    return folder


def _capacity(chosen: argparse.Namespace, scenario: Scenario, target: TargetService) -> float | None:
    """Documents per second at full load, where the scenario's rates are shares of it."""
    if scenario.rates == "absolute":
        return None
    if chosen.capacity:
        return float(chosen.capacity)
    log("measuring the capacity, of which the rates are shares")
    return saturate(scenario, target, log)
