"""`gleaner loadtest compare A B`: which figures of the result in folder B differ from those in folder A."""

from __future__ import annotations

import argparse

from loadtest.report.result_folder import read_result
from loadtest.results.compare import Difference, compare, overall_verdict
from loadtest.results.result import Result
from loadtest.results.summary import reported


def run(chosen: argparse.Namespace) -> None:
    """Print each difference and the verdict."""
    differences = differences_between(read_result(chosen.before), read_result(chosen.after))
    print(f"{'phase':20} {'figure':12} {'A':>10} {'B':>10} {'change':>8}  95 % interval of B / A   verdict")
    for each in differences:
        numbers = f"{each.before:10.4g} {each.after:10.4g} {each.change:+8.1%}  {each.low:9.3f} to {each.high:.3f}"
        print(f"{each.phase:20} {each.figure:12} {numbers}        {each.verdict}")
    print(overall_verdict(differences))


def differences_between(before: Result, after: Result) -> list[Difference]:
    """The differences in every phase that both results have."""
    starts = {phase.name: (begin, phase.seconds) for phase, begin in reported(after.scenario)}
    differences = []
    for phase, begin in reported(before.scenario):
        if phase.name in starts:
            other, seconds = starts[phase.name]
            a = before.records.between(begin, begin + phase.seconds)
            b = after.records.between(other, other + seconds)
            differences += compare(phase.name, a, b, before.scenario.slo_ms)
    return differences
