"""`python -m loadtest.bench.peers`: prints the peers' tables of BENCHMARKS.md. It takes minutes on an idle machine."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from loadtest.bench.peers.client import ContestResult, LatencyRun, ThroughputRun
from loadtest.bench.peers.contest import PER_REQUEST, SAMPLE_SIZES, Contest, GleanerVariant, Setup
from loadtest.bench.throughput import DIFFERENCES, compare
from loadtest.errors import end_on_sigterm

FULL_LOAD = ("model", "software", "set-up", "documents per second")
LATENCY = ("model", "offered a second", "which is", "software", "answered a second meanwhile", "requests", "p50 ms",
           "p99 ms", "unanswered", "client's lag p99 ms")  # fmt: skip


def full_load(outcomes: list[ContestResult], ours: list[str]) -> Iterator[str]:
    """Documents per second; for each variant of ours a column with its ratio to each peer."""
    yield from _head((*FULL_LOAD, *(f"{name} ÷ it" for name in ours), *DIFFERENCES))
    blanks = [""] * len(ours)
    for outcome in outcomes:
        for peer in outcome.peers:
            ratios = [f"{peer.ratio(name):.2f}" for name in ours]
            yield _full_load_row(outcome, peer.name, peer.setup, peer.run, ratios)
        for name in ours:
            yield _full_load_row(outcome, name, "one document a request", outcome.ours(name), blanks)
            many = f"{PER_REQUEST} documents a request"
            yield _full_load_row(outcome, name, many, outcome.grouped[name], blanks)


def latency(outcomes: list[ContestResult]) -> Iterator[str]:
    """Latencies of ours and of the best server at the same offered rates."""
    yield from _head(LATENCY)
    for outcome in outcomes:
        for run in outcome.latencies:
            yield _latency_row(outcome.model, run)


def _full_load_row(outcome: ContestResult, name: str, setup: str, run: ThroughputRun, ratios: list[str]) -> str:
    difference, differing = compare(outcome.reference, run.entities)
    rate = f"{run.per_second:.1f}"
    return _row(outcome.model, name, setup, rate, *ratios, f"{difference:.4f}", f"{differing:.2%}")


def _latency_row(model: str, run: LatencyRun) -> str:
    found = run.figures
    times = (f"{found.p50_ms:.0f}", f"{found.p99_ms:.0f}", str(found.unanswered), f"{found.lag_p99_ms:.1f}")
    rates = (f"{found.offered:.1f}", run.share, run.name, f"{found.sustained:.1f}")
    return _row(model, *rates, str(found.requests), *times)


def _head(heads: tuple[str, ...]) -> Iterator[str]:
    yield _row(*heads)
    yield "|" + "---|" * len(heads)


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


OURS = (GleanerVariant("ours"), GleanerVariant("ours, int8", {"DTYPE": "int8"}))
"""The first is compared in latency too."""


def main() -> None:
    """Run a contest for each model, then print the tables; progress goes to stderr."""
    parser = argparse.ArgumentParser(prog="python -m loadtest.bench.peers", description=__doc__)
    parser.add_argument("--model", choices=SAMPLE_SIZES, action="append", help="this one only (may be repeated)")
    chosen = parser.parse_args()
    end_on_sigterm()
    setups: dict[str, Setup] = {}
    began = time.monotonic()

    def log(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="gleaner-bench-") as home:
        results = [Contest(Path(home), model, OURS, setups, log).run() for model in chosen.model or SAMPLE_SIZES]
    names = [each.name for each in OURS]
    print("\n## Peers at full load, CPU\n", *full_load(results, names), sep="\n")
    print("\n## Peers' latency, Poisson arrivals\n", *latency(results), "", sep="\n")


if __name__ == "__main__":
    main()
