"""`gleaner loadtest`: a scenario, the knee, two results compared, or a made-up day; from arguments to exit code."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import msgspec
from msgspec.structs import replace

from loadtest.arrivals.synthetic_days import DAYS, make_day
from loadtest.arrivals.traces import lines
from loadtest.errors import BadInput, CheckFailed, LoadtestError, NotTrusted
from loadtest.knee.capacity_file import MeasuredCapacity
from loadtest.knee.finder import KneeFinder
from loadtest.report.findings import findings
from loadtest.report.result_folder import read_result, write_raw, write_report
from loadtest.report.trends import trends
from loadtest.results.assertions import Check, evaluate_check, parse_check
from loadtest.results.compare import compare, verdict
from loadtest.results.result import Result, summarise
from loadtest.results.summary import reported
from loadtest.runner.run import run_scenario, saturate
from loadtest.runner.target_service import TargetService, open_target
from loadtest.scenario.scenario import Phase, Scenario, at_capacity, named, read_scenario, stretched, whole
from loadtest.service_process.sigterm import end_on_sigterm
from loadtest.terminal import Display, say
from loadtest.workload.mix import Documents

REPORTS = Path("loadtest") / "reports"
KNEE_SECONDS = 15.0
EPILOG = """Also: `compare A B` says whether the result in folder B is worse than that in A; `day KIND FILE` writes a
made-up day of arrivals (diurnal, bursty, spiky) as a trace. Rates of a scenario are shares of the capacity that is
measured first, unless it says otherwise."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be asked for."""
    parser.epilog = EPILOG
    parser.add_argument(
        "what", nargs="*", default=["default"], metavar="SCENARIO", help=f"{', '.join(named())}, or a TOML file"
    )
    parser.add_argument("--url", help="load this running service; anything that answers POST /extract will do")
    parser.add_argument("--key", action="append", default=[], help="API key, one for each tenant of the scenario")
    parser.add_argument("--out", type=Path, help=f"folder for the result (default: {REPORTS}/<time>)")
    parser.add_argument("--seconds", type=float, help="stretch or squeeze the scenario to this length")
    parser.add_argument("--rate", type=float, help="one phase at this many requests per second")
    parser.add_argument("--trace", type=Path, help="replay this file of `t_s,count`")
    parser.add_argument("--time-scale", type=float, default=1.0, help="… so many times as fast")
    parser.add_argument("--rate-scale", type=float, default=1.0, help="… with so many times the arrivals")
    parser.add_argument("--documents", type=Path, help="send the files of this folder")
    parser.add_argument("--capacity", type=float, help="documents per second at full load, instead of measuring it")
    parser.add_argument("--processes", type=int, default=0, help="generator processes; 0: as many as the rate needs")
    parser.add_argument("--seed", type=int, help="instead of the scenario's")
    parser.add_argument("--assert", action="append", default=[], dest="checks", help="p99_ms<500, error_rate<0.001, …")
    parser.add_argument(
        "--untrusted", action="store_true", help="report even if the generator was the bottleneck (the report says so)"
    )
    parser.add_argument("--find-knee", action="store_true", help="search the highest rate whose p99 holds --slo-ms")
    parser.add_argument("--slo-ms", type=float, help="the service level; default: the scenario's")


def run(chosen: argparse.Namespace) -> int:
    """Do what was asked for; the exit code. Failures are said on stderr."""
    try:
        _run(chosen)
    except LoadtestError as error:
        say(f"gleaner loadtest: {error}")
        return error.exit_code
    return 0


def _run(chosen: argparse.Namespace) -> None:
    first, *rest = chosen.what
    if first == "compare":
        _compare(*_paths(rest, 2, "compare A B"))
    elif first == "day":
        _write_day(*_exactly(rest, 2, "day KIND FILE"), seed=chosen.seed or 1)
    elif rest:
        raise BadInput(f"one scenario at a time, not {' '.join(chosen.what)!r}")
    elif chosen.find_knee:
        _find_knee(chosen, _scenario(chosen, first))
    else:
        _load(chosen, _scenario(chosen, first))


def _scenario(chosen: argparse.Namespace, name: str) -> Scenario:
    """The scenario with what the arguments change in it."""
    scenario = read_scenario(name)
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
        return whole(replace(scenario, phases=(phase,), rates="absolute", actions=()))
    return stretched(scenario, chosen.seconds) if chosen.seconds else scenario


def _load(chosen: argparse.Namespace, scenario: Scenario) -> None:
    checks = [parse_check(text) for text in (*scenario.checks, *chosen.checks)]
    folder = _folder(chosen)
    with open_target(scenario, chosen.url, chosen.key) as stage:
        capacity = _capacity(chosen, scenario, stage)
        absolute = at_capacity(scenario, capacity or 0.0)
        at = time.strftime("%Y-%m-%d %H:%M:%S")
        with Display(absolute) as display:
            performance = run_scenario(absolute, stage, display.tick, processes=chosen.processes)
    summary = summarise(
        absolute,
        performance.records,
        performance.trust,
        at=at,
        url="a service of its own" if stage.own else stage.aim.url,
        machine=f"{os.cpu_count()} cores, {platform.machine()}",
        capacity_rps=capacity,
        events=stage.log,
    )
    happened = trends(absolute, performance.records, performance.moments)
    summary = replace(summary, findings=findings(summary, happened))
    result = Result(summary, performance.records, performance.moments)
    finish(result, folder, checks, untrusted=chosen.untrusted)


def finish(result: Result, folder: Path, checks: list[Check], *, untrusted: bool = False) -> None:
    """Write and print; raise what is wrong with the run."""
    write_raw(result, folder)
    problems = result.summary.generator.problems
    if problems and not untrusted:
        raise NotTrusted(f"no report: the generator was the bottleneck: {'; '.join(problems)} (raw results: {folder})")
    report = write_report(result, folder)
    for sentence in result.summary.findings:
        print(f"- {sentence}")
    print(f"report: {report}")
    found = [evaluate_check(check, result.summary.whole, result.summary.phases) for check in checks]
    for finding in found:
        print(finding)
    failing = [finding for finding in found if not finding.holds]
    if failing:
        raise CheckFailed("; ".join(map(str, failing)))
    failed = [words for _, words in result.summary.events if " failed" in words]
    if failed:
        raise LoadtestError("; ".join(failed))


def _capacity(chosen: argparse.Namespace, scenario: Scenario, stage: TargetService) -> float | None:
    """Documents per second at full load, where the scenario's rates are shares of it."""
    if scenario.rates == "absolute":
        return None
    if chosen.capacity:
        return float(chosen.capacity)
    say("measuring the capacity, of which the rates are shares")
    return saturate(scenario, stage, say)


def _find_knee(chosen: argparse.Namespace, scenario: Scenario) -> None:
    folder = _folder(chosen)
    with open_target(scenario, chosen.url, chosen.key) as stage:
        finder = KneeFinder(scenario, stage, scenario.slo_ms, chosen.seconds or KNEE_SECONDS, say, chosen.untrusted)
        capacity = finder.run()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "capacity.json"
    path.write_bytes(msgspec.json.format(msgspec.json.encode(capacity), indent=1) + b"\n")
    _print_capacity(capacity)
    print(f"written: {path}")


def _print_capacity(capacity: MeasuredCapacity) -> None:
    rates = f"{capacity.documents_per_second:.1f} documents a second, {capacity.tokens_per_second:,.0f} tokens a second"
    there = f"p50 {capacity.p50_ms:.0f} ms, p99 {capacity.p99_ms:.0f} ms"
    print(f"capacity at a p99 of {capacity.slo_ms:g} ms: {rates} ({there})")
    full = (
        f"{capacity.saturated_documents_per_second:.1f} documents, {capacity.saturated_tokens_per_second:,.0f} tokens"
    )
    print(f"at full load: {full} a second")
    law = capacity.service_time
    if law is not None:
        batch = f"{law.base_seconds * 1000:.2f} ms + {law.seconds_per_token * 1e6:.1f} µs × tokens"
        print(f"a batch takes S(tokens) = {batch} (from {law.source}, typically off by {law.typical_error:.0%})")
    for advice in capacity.recommended:
        print(f"  {advice.name} = {advice.value:g}: {advice.reason}")


def _compare(before: Path, after: Path) -> None:
    a, b = read_result(before), read_result(after)
    starts = {phase.name: (begin, phase.seconds) for phase, begin in reported(b.scenario)}
    differences = []
    for phase, begin in reported(a.scenario):
        if phase.name in starts:
            other, seconds = starts[phase.name]
            rows = a.records.between(begin, begin + phase.seconds), b.records.between(other, other + seconds)
            differences += compare(phase.name, *rows, a.scenario.slo_ms)
    print(f"{'phase':20} {'figure':12} {'A':>10} {'B':>10} {'change':>8}  95 % interval of B / A   verdict")
    for each in differences:
        numbers = f"{each.before:10.4g} {each.after:10.4g} {each.change:+8.1%}  {each.low:9.3f} to {each.high:.3f}"
        print(f"{each.phase:20} {each.figure:12} {numbers}        {each.verdict}")
    print(verdict(differences))


def _write_day(kind: str, file: str, *, seed: int) -> None:
    if kind not in DAYS:
        raise BadInput(f"{kind!r} is no kind of day; there are {', '.join(DAYS)}")
    Path(file).write_text("\n".join(lines(make_day(kind, seed))) + "\n")
    print(f"written: {file}")


def _folder(chosen: argparse.Namespace) -> Path:
    folder: Path = chosen.out or REPORTS / time.strftime("%Y%m%d-%H%M%S")
    return folder


def _paths(words: list[str], count: int, usage: str) -> list[Path]:
    return [Path(word) for word in _exactly(words, count, usage)]


def _exactly(words: list[str], count: int, usage: str) -> list[str]:
    if len(words) != count:
        raise BadInput(f"usage: gleaner loadtest {usage}")
    return words


def main() -> None:
    """`python -m loadtest.cli`: the same without the rest of the project's commands."""
    parser = argparse.ArgumentParser(prog="gleaner loadtest", description=__doc__)
    add_arguments(parser)
    end_on_sigterm()
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
